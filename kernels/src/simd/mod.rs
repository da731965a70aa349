//! Vectors of reals, and the choice of instructions at run time.
//!
//! Stable Rust compiles for the oldest x86-64, which has neither AVX-512 nor a fused multiply-add. So there is a type
//! for the registers of each instruction set, all of them a [`Vector`], and kernels are written over that. Which set
//! the processor has is found out at run time ([`InstructionSet`]); `vector::dispatch` compiles kernels once for each
//! and enters the best.

mod isa;
mod portable;
mod sets;
#[cfg(target_arch = "x86_64")]
mod squares;
#[cfg(target_arch = "x86_64")]
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(crate) use isa::{Avx2, Avx512};
pub(crate) use isa::{Baseline, Isa};
pub(crate) use portable::Portable;
pub use sets::{InstructionSet, UnknownInstructionSet};

/// A register full of reals. A vector can exist only where the processor has the instructions for it, because whoever
/// makes one from nothing shows an [`Isa`]: so arithmetic is safe. What follows an address is not: loads and stores
/// take any alignment and touch `LANES` reals.
pub(crate) trait Vector: Copy {
    type Real: Copy;
    type Isa: Isa;
    const LANES: usize;
    /// Rows and columns of the squares that [`Vector::transpose`] moves.
    const SQUARE: usize;

    fn splat(isa: Self::Isa, x: Self::Real) -> Self;
    /// The vector is proof that the processor has its instructions.
    fn isa(self) -> Self::Isa;
    /// # Safety
    /// `LANES` reals are there.
    unsafe fn load(isa: Self::Isa, from: *const Self::Real) -> Self;
    /// # Safety
    /// There is room for `LANES` reals.
    unsafe fn store(self, to: *mut Self::Real);
    /// Lanes first .. end, zeros in the others, whose memory is not touched and need not exist.
    ///
    /// # Safety
    /// Reals first .. end are there, and `end` is at most LANES.
    unsafe fn load_lanes(isa: Self::Isa, from: *const Self::Real, first: usize, end: usize) -> Self;
    /// The counterpart of [`Vector::load_lanes`].
    ///
    /// # Safety
    /// There is room for reals first .. end, and `end` is at most LANES.
    unsafe fn store_lanes(self, to: *mut Self::Real, first: usize, end: usize);
    fn mul(self, by: Self) -> Self;
    /// self + a b.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// self - a b.
    fn mul_sub(self, a: Self, b: Self) -> Self;
    /// Its modulus, lane by lane.
    fn abs(self) -> Self;
    /// Lane by lane the pair whose first number is larger: `x` if that is so, and `best` otherwise, NaN in `x`
    /// included.
    fn larger(best: (Self, Self), x: (Self, Self)) -> (Self, Self);
    /// Lanes first .. end of `other`, the others of itself; `end` is at most LANES.
    fn blend(self, other: Self, first: usize, end: usize) -> Self;
    /// The sum of all lanes.
    fn sum(self) -> Self::Real;
    /// Lane i, which must be less than LANES.
    fn lane(self, i: usize) -> Self::Real;
    /// The parts of complex numbers, in turn: re[0] im[0] re[1] and so on, the first half of the lanes and the second.
    fn interleave(re: Self, im: Self) -> (Self, Self);
    /// The numbers of each pair of adjacent lanes, exchanged.
    fn swap_pairs(self) -> Self;
    /// Runs a part of a kernel, compiled for these vectors: a function of its own, whose address a table can have.
    ///
    /// # Safety
    /// The processor has the instructions of these vectors, and what the part asks for holds.
    unsafe fn enter<P: Part<Self>>(part: P) -> P::Output;
    /// The same where the instructions are known to be there.
    ///
    /// # Safety
    /// What the part asks for holds.
    #[inline(always)]
    unsafe fn call<P: Part<Self>>(_isa: Self::Isa, part: P) -> P::Output {
        // SAFETY: the witness stands for the instructions; what the part asks for holds by this function's contract.
        unsafe { Self::enter(part) }
    }
    /// Copies a square: row i of `to` becomes column i of `from`, each with its distance between rows.
    ///
    /// # Safety
    /// SQUARE rows of SQUARE reals are at `from`, there is room for as many at `to`, and the two do not overlap.
    unsafe fn transpose(isa: Self::Isa, from: *const Self::Real, from_step: usize, to: *mut Self::Real, to_step: usize);
    /// The same for the first four rows of `from`, which has SQUARE columns.
    ///
    /// # Safety
    /// Four rows of SQUARE reals are at `from`, there is room for SQUARE rows of four at `to`, and the two do not
    /// overlap.
    unsafe fn transpose_four(
        isa: Self::Isa,
        from: *const Self::Real,
        from_step: usize,
        to: *mut Self::Real,
        to_step: usize,
    );
    /// acc -= b x over some of `depth` steps of a register tile, or with the conjugate of b, where there is code for
    /// its size: `[row][vector][plane]`. A complex type (`is_complex`) has two planes, a real one only the first. With
    /// every four steps a cache line of `next` is asked for, into the second-level cache. Returns how many steps were
    /// taken; 0 if there is no such code.
    ///
    /// # Safety
    /// x and b hold `depth` steps, one directly behind the other: of x NV vectors of each plane, of b ROWS reals of
    /// each plane. `next` may be any address.
    #[inline(always)]
    unsafe fn eliminate<const NV: usize, const ROWS: usize>(
        _acc: &mut [[[Self; 2]; NV]; ROWS],
        _depth: usize,
        (_x, _b): (*const Self::Real, *const Self::Real),
        _next: *const u8,
        (_is_complex, _conj): (bool, bool),
    ) -> usize {
        0
    }
}

/// The vector types of a real type.
pub trait Lanes: Copy {
    /// Sixteen (f32) or eight (f64) lanes of AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[allow(private_bounds)]
    type Avx512: Vector<Real = Self, Isa = Avx512>;
    /// Eight (f32) or four (f64) lanes of AVX2 with FMA.
    #[cfg(target_arch = "x86_64")]
    #[allow(private_bounds)]
    type Avx2: Vector<Real = Self, Isa = Avx2>;
    /// What any processor has.
    #[allow(private_bounds)]
    type Portable: Vector<Real = Self, Isa = Baseline>;
}

macro_rules! lanes {
    ($($real:ty, $avx512:ident, $avx2:ident;)*) => {$(
        impl Lanes for $real {
            #[cfg(target_arch = "x86_64")]
            type Avx512 = x86::$avx512;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = x86::$avx2;
            type Portable = Portable<$real>;
        }
    )*};
}

lanes! {
    f32, F32x16, F32x8;
    f64, F64x8, F64x4;
}

/// A part of kernels that is compiled once for each kind of vector, and not again wherever it is needed.
pub(crate) trait Part<V: Vector> {
    type Output;

    /// # Safety
    /// What the part says of the addresses that it has. Implementations are `#[inline(always)]`.
    unsafe fn run(self, isa: V::Isa) -> Self::Output;
}

/// The best instructions of this processor that `SUPERSCALAR_INSTRUCTIONS` allows. Unit tests have the portable ones
/// only: the others are tested from outside (`tests/sets`), and would be compiled twice.
#[inline(always)]
pub(crate) fn best() -> InstructionSet {
    if cfg!(test) { InstructionSet::Portable } else { InstructionSet::in_use() }
}

/// Bytes of a core's second-level cache, if the processor says so.
pub(crate) fn second_level_cache() -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        // Leaves from 0x8000_0000 on: the first tells the last one; of 0x8000_0006 the upper half of ECX is the size in
        // KiB.
        const EXTENDED: u32 = 0x8000_0000;
        const CACHES: u32 = 0x8000_0006;
        #[allow(unused_unsafe, reason = "in older compilers it is unsafe")]
        // SAFETY: every x86-64 has the instruction.
        let leaf = |leaf| unsafe { __cpuid(leaf) };
        let kib = if leaf(EXTENDED).eax >= CACHES { leaf(CACHES).ecx >> 16 } else { 0 };
        (kib > 0).then_some((kib as usize) << 10)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Asks for the cache line at `at` to be fetched for writing soon. Any address will do.
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint that never faults, and belongs to the first x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
