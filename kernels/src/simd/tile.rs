//! Steps of a full register tile with AVX-512, in assembly.
//!
//! A core has two units for multiply-adds of 512 bits, which on many processors share their ports with the arithmetic
//! of loops and addresses. So four steps are unrolled with constant distances, and only loads and multiply-adds remain.
//! A compiler generates that for real types. A complex tile takes all 32 registers, and the compiler spills some of
//! them.
//!
//! Accumulators are passed in registers and stay there. Registers 24 and up hold vectors of x and broadcast elements of
//! b.

use std::arch::asm;
use std::arch::x86_64::{__m512, __m512d};

/// Accumulators of a full tile: `[row][vector][plane]`. The second plane of a real type is not accessed.
pub(super) type FullTile<V, const ROWS: usize> = [[[V; 2]; 3]; ROWS];

/// The start addresses of x and b.
type OperandStarts<R> = (*const R, *const R);

/// Prefetches the x of eight steps later (four for complex types) from the second-level cache.
macro_rules! prefetch_x {
    ($bytes:literal, $step:literal, $($at:literal)*) => {
        concat!($("prefetcht0 [{x} + 1536 + ", $step, " * ", $bytes, " + ", $at, "]\n",)*)
    };
}

/// Broadcasts an element of b, and computes its multiply-adds in a tile of a real type.
macro_rules! real_row {
    ($splat:literal, $sub:literal, $at:expr, $($acc:literal $x:literal),*) => {
        concat!($splat, " zmm27, [{b} + ", $at, "]\n", $($sub, " zmm", $acc, ", zmm", $x, ", zmm27\n",)*)
    };
}

/// Computes one of four steps of a real tile: three vectors of x, eight elements of b of `$bytes` bytes.
macro_rules! real_step {
    ($load:literal, $splat:literal, $sub:literal, $bytes:literal, $step:literal) => {
        concat!(
            $load, " zmm24, [{x} + ", $step, " * 192]\n",
            $load, " zmm25, [{x} + ", $step, " * 192 + 64]\n",
            $load, " zmm26, [{x} + ", $step, " * 192 + 128]\n",
            prefetch_x!(192, $step, 0 64 128),
            real_row!($splat, $sub, concat!("(8 * ", $step, " + 0) * ", $bytes), 0 24, 1 25, 2 26),
            real_row!($splat, $sub, concat!("(8 * ", $step, " + 1) * ", $bytes), 3 24, 4 25, 5 26),
            real_row!($splat, $sub, concat!("(8 * ", $step, " + 2) * ", $bytes), 6 24, 7 25, 8 26),
            real_row!($splat, $sub, concat!("(8 * ", $step, " + 3) * ", $bytes), 9 24, 10 25, 11 26),
            real_row!($splat, $sub, concat!("(8 * ", $step, " + 4) * ", $bytes), 12 24, 13 25, 14 26),
            real_row!($splat, $sub, concat!("(8 * ", $step, " + 5) * ", $bytes), 15 24, 16 25, 17 26),
            real_row!($splat, $sub, concat!("(8 * ", $step, " + 6) * ", $bytes), 18 24, 19 25, 20 26),
            real_row!($splat, $sub, concat!("(8 * ", $step, " + 7) * ", $bytes), 21 24, 22 25, 23 26),
        )
    };
}

/// Broadcasts the parts of an element of b, and computes their multiply-adds in a tile of a complex type. `$re` and
/// `$im` are the accumulators of the two planes.
macro_rules! complex_row {
    ($splat:literal, $sub:literal, $re_im:literal, $im_re:literal, $at:expr, $plane:expr,
        $($re:literal $im:literal $x:literal $y:literal),*) => {
        concat!(
            $splat, " zmm30, [{b} + ", $at, "]\n",
            $splat, " zmm31, [{b} + ", $at, " + ", $plane, "]\n",
            $($sub, " zmm", $re, ", zmm", $x, ", zmm30\n",)*
            $($sub, " zmm", $im, ", zmm", $y, ", zmm30\n",)*
            $($re_im, " zmm", $re, ", zmm", $y, ", zmm31\n",)*
            $($im_re, " zmm", $im, ", zmm", $x, ", zmm31\n",)*
        )
    };
}

/// Computes one of four steps of a complex tile: three vectors of each plane of x, four elements of b with parts of
/// `$bytes` bytes.
macro_rules! complex_step {
    ($load:literal, $splat:literal, $sub:literal, $re_im:literal, $im_re:literal, $bytes:literal, $step:literal) => {
        concat!(
            $load, " zmm24, [{x} + ", $step, " * 384]\n",
            $load, " zmm25, [{x} + ", $step, " * 384 + 64]\n",
            $load, " zmm26, [{x} + ", $step, " * 384 + 128]\n",
            $load, " zmm27, [{x} + ", $step, " * 384 + 192]\n",
            $load, " zmm28, [{x} + ", $step, " * 384 + 256]\n",
            $load, " zmm29, [{x} + ", $step, " * 384 + 320]\n",
            prefetch_x!(384, $step, 0 64 128 192 256 320),
            complex_row!($splat, $sub, $re_im, $im_re, concat!("(8 * ", $step, " + 0) * ", $bytes),
                concat!("4 * ", $bytes),
                0 1 24 27, 2 3 25 28, 4 5 26 29),
            complex_row!($splat, $sub, $re_im, $im_re, concat!("(8 * ", $step, " + 1) * ", $bytes),
                concat!("4 * ", $bytes),
                6 7 24 27, 8 9 25 28, 10 11 26 29),
            complex_row!($splat, $sub, $re_im, $im_re, concat!("(8 * ", $step, " + 2) * ", $bytes),
                concat!("4 * ", $bytes),
                12 13 24 27, 14 15 25 28, 16 17 26 29),
            complex_row!($splat, $sub, $re_im, $im_re, concat!("(8 * ", $step, " + 3) * ", $bytes),
                concat!("4 * ", $bytes),
                18 19 24 27, 20 21 25 28, 22 23 26 29),
        )
    };
}

/// Loops over four steps at a time, with accumulators in the order of their registers. Each pass prefetches a line of
/// `next`.
macro_rules! four_steps {
    ($step:ident!($($word:literal),*), $times:ident, ($x:ident, $b:ident), $next:ident, $x_bytes:literal,
        $b_bytes:literal, $($register:tt $acc:expr),*) => {
        asm!(
            "2:",
            $step!($($word,)* 0),
            "prefetcht1 [{next}]",
            "add {next}, 64",
            $step!($($word,)* 1),
            $step!($($word,)* 2),
            $step!($($word,)* 3),
            concat!("add {x}, ", $x_bytes),
            concat!("add {b}, ", $b_bytes),
            "dec {times}",
            "jnz 2b",
            x = inout(reg) $x => _,
            b = inout(reg) $b => _,
            next = inout(reg) $next => _,
            times = inout(reg) $times => _,
            $(inout($register) $acc,)*
            out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
            out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
            options(nostack, readonly),
        )
    };
}

/// Defines the four steps of both kinds of tile for one register type.
macro_rules! tiles {
    ($real:ident, $complex:ident, $v:ty, $part:ty, $load:literal, $splat:literal, $add:literal, $sub:literal,
        $bytes:literal, $b_bytes:literal) => {
        /// Computes acc -= b x over 4 `times` adjacent steps of three vectors of x and eight elements of b. Prefetches
        /// `times` lines of `next`.
        ///
        /// # Safety
        /// The processor has AVX-512; x and b hold 4 `times` steps, and `times` is not zero.
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) unsafe fn $real(
            acc: &mut FullTile<$v, 8>,
            times: usize,
            (x, b): OperandStarts<$part>,
            next: *const u8,
        ) {
            // SAFETY: the caller guarantees 4 `times` steps of x and b, which are all that is read; only registers are
            // written.
            unsafe {
                four_steps!(real_step!($load, $splat, $sub, $bytes), times, (x, b), next, "4 * 192", $b_bytes,
                    "zmm0" acc[0][0][0], "zmm1" acc[0][1][0], "zmm2" acc[0][2][0],
                    "zmm3" acc[1][0][0], "zmm4" acc[1][1][0], "zmm5" acc[1][2][0],
                    "zmm6" acc[2][0][0], "zmm7" acc[2][1][0], "zmm8" acc[2][2][0],
                    "zmm9" acc[3][0][0], "zmm10" acc[3][1][0], "zmm11" acc[3][2][0],
                    "zmm12" acc[4][0][0], "zmm13" acc[4][1][0], "zmm14" acc[4][2][0],
                    "zmm15" acc[5][0][0], "zmm16" acc[5][1][0], "zmm17" acc[5][2][0],
                    "zmm18" acc[6][0][0], "zmm19" acc[6][1][0], "zmm20" acc[6][2][0],
                    "zmm21" acc[7][0][0], "zmm22" acc[7][1][0], "zmm23" acc[7][2][0]);
            }
        }

        /// Computes acc -= b x for a complex type, or uses the conjugate of b, over 4 `times` adjacent steps of three
        /// vectors of each plane of x and four elements of each plane of b.
        ///
        /// # Safety
        /// The processor has AVX-512; x and b hold 4 `times` steps, and `times` is not zero. A step of x is six vectors
        /// and one of b eight reals, the real parts first.
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) unsafe fn $complex(
            acc: &mut FullTile<$v, 4>,
            times: usize,
            (x, b): OperandStarts<$part>,
            next: *const u8,
            conj: bool,
        ) {
            macro_rules! steps {
                ($re_im:literal, $im_re:literal) => {
                    four_steps!(complex_step!($load, $splat, $sub, $re_im, $im_re, $bytes), times, (x, b), next,
                        "4 * 384", $b_bytes,
                        "zmm0" acc[0][0][0], "zmm1" acc[0][0][1], "zmm2" acc[0][1][0], "zmm3" acc[0][1][1],
                        "zmm4" acc[0][2][0], "zmm5" acc[0][2][1], "zmm6" acc[1][0][0], "zmm7" acc[1][0][1],
                        "zmm8" acc[1][1][0], "zmm9" acc[1][1][1], "zmm10" acc[1][2][0], "zmm11" acc[1][2][1],
                        "zmm12" acc[2][0][0], "zmm13" acc[2][0][1], "zmm14" acc[2][1][0], "zmm15" acc[2][1][1],
                        "zmm16" acc[2][2][0], "zmm17" acc[2][2][1], "zmm18" acc[3][0][0], "zmm19" acc[3][0][1],
                        "zmm20" acc[3][1][0], "zmm21" acc[3][1][1], "zmm22" acc[3][2][0], "zmm23" acc[3][2][1])
                };
            }
            // SAFETY: the caller guarantees 4 `times` steps of x and b, which are all that is read; only registers are
            // written.
            unsafe {
                if conj {
                    steps!($sub, $add);
                } else {
                    steps!($add, $sub);
                }
            }
        }
    };
}

tiles!(real_f64, complex_f64, __m512d, f64, "vmovupd", "vbroadcastsd", "vfmadd231pd", "vfnmadd231pd", "8", "4 * 64");
tiles!(real_f32, complex_f32, __m512, f32, "vmovups", "vbroadcastss", "vfmadd231ps", "vfnmadd231ps", "4", "4 * 32");
