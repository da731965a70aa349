//! Steps of a full register tile in AVX-512, in the processor's own words.
//!
//! A core has two units for multiply-adds of 512 bits, which on many processors share their ports with the arithmetic
//! of loops and addresses. So four steps are written out one behind the other, all distances are constants, and nothing
//! but loads and multiply-adds is left. A compiler does that for real types; of the 32 registers that a tile of a
//! complex type takes it moves some to memory and back.
//!
//! Accumulators come in registers and stay there. Registers 24 and up hold vectors of x and what is broadcast of b.

use std::arch::asm;
use std::arch::x86_64::{__m512, __m512d};

/// Accumulators of a full tile: `[row][vector][plane]`; of a real type the second plane is not touched.
pub(super) type Full<V, const ROWS: usize> = [[[V; 2]; 3]; ROWS];

/// Where x and b begin.
type Operands<R> = (*const R, *const R);

/// Asks for x of eight steps later (of complex types, four), which comes from the second-level cache.
macro_rules! ahead {
    ($bytes:literal, $step:literal, $($at:literal)*) => {
        concat!($("prefetcht0 [{x} + 1536 + ", $step, " * ", $bytes, " + ", $at, "]\n",)*)
    };
}

/// A broadcast element of b, and its multiply-adds in a tile of a real type.
macro_rules! real_row {
    ($splat:literal, $sub:literal, $at:expr, $($acc:literal $x:literal),*) => {
        concat!($splat, " zmm27, [{b} + ", $at, "]\n", $($sub, " zmm", $acc, ", zmm", $x, ", zmm27\n",)*)
    };
}

/// One of four steps of a tile of a real type: three vectors of x, eight elements of b of `$bytes` bytes.
macro_rules! real_step {
    ($load:literal, $splat:literal, $sub:literal, $bytes:literal, $step:literal) => {
        concat!(
            $load, " zmm24, [{x} + ", $step, " * 192]\n",
            $load, " zmm25, [{x} + ", $step, " * 192 + 64]\n",
            $load, " zmm26, [{x} + ", $step, " * 192 + 128]\n",
            ahead!(192, $step, 0 64 128),
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

/// The parts of a broadcast element of b, and their multiply-adds in a tile of a complex type: `$re` and `$im` are
/// accumulators of the two planes.
macro_rules! complex_row {
    ($splat:literal, $sub:literal, $re_im:literal, $im_re:literal, $at:expr, $plane:expr, $($re:literal $im:literal $x:literal $y:literal),*) => {
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

/// One of four steps of a tile of a complex type: three vectors of each plane of x, four elements of b with parts of
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
            ahead!(384, $step, 0 64 128 192 256 320),
            complex_row!($splat, $sub, $re_im, $im_re, concat!("(8 * ", $step, " + 0) * ", $bytes), concat!("4 * ", $bytes),
                0 1 24 27, 2 3 25 28, 4 5 26 29),
            complex_row!($splat, $sub, $re_im, $im_re, concat!("(8 * ", $step, " + 1) * ", $bytes), concat!("4 * ", $bytes),
                6 7 24 27, 8 9 25 28, 10 11 26 29),
            complex_row!($splat, $sub, $re_im, $im_re, concat!("(8 * ", $step, " + 2) * ", $bytes), concat!("4 * ", $bytes),
                12 13 24 27, 14 15 25 28, 16 17 26 29),
            complex_row!($splat, $sub, $re_im, $im_re, concat!("(8 * ", $step, " + 3) * ", $bytes), concat!("4 * ", $bytes),
                18 19 24 27, 20 21 25 28, 22 23 26 29),
        )
    };
}

/// A loop of four steps each, over accumulators that are given in the order of their registers; each time a line of
/// `next` is asked for.
macro_rules! four_steps {
    ($step:ident!($($word:literal),*), $times:ident, ($x:ident, $b:ident), $next:ident, $x_bytes:literal, $b_bytes:literal, $($register:tt $acc:expr),*) => {
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

/// The four steps of both kinds of tile, for one register type.
macro_rules! tiles {
    ($real:ident, $complex:ident, $v:ty, $part:ty, $load:literal, $splat:literal, $add:literal, $sub:literal, $bytes:literal, $b_bytes:literal) => {
        /// acc -= b x over 4 `times` steps: three vectors of x and eight elements of b each, one behind the other.
        /// `times` lines of `next` are asked for.
        ///
        /// # Safety
        /// The processor has AVX-512; x and b hold 4 `times` steps, and `times` is not zero.
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) unsafe fn $real(acc: &mut Full<$v, 8>, times: usize, (x, b): Operands<$part>, next: *const u8) {
            // SAFETY: this function enables the instructions, which read 4 `times` steps of x and b; only registers
            // are written.
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

        /// The same for a complex type, or with the conjugate of b: three vectors of each plane of x, and four elements
        /// of each of b.
        ///
        /// # Safety
        /// As for the real one: a step of x is six vectors, one of b eight reals, the real parts first.
        #[inline]
        #[target_feature(enable = "avx512f")]
        pub(super) unsafe fn $complex(
            acc: &mut Full<$v, 4>,
            times: usize,
            (x, b): Operands<$part>,
            next: *const u8,
            conj: bool,
        ) {
            macro_rules! steps {
                ($re_im:literal, $im_re:literal) => {
                    four_steps!(complex_step!($load, $splat, $sub, $re_im, $im_re, $bytes), times, (x, b), next, "4 * 384", $b_bytes,
                        "zmm0" acc[0][0][0], "zmm1" acc[0][0][1], "zmm2" acc[0][1][0], "zmm3" acc[0][1][1],
                        "zmm4" acc[0][2][0], "zmm5" acc[0][2][1], "zmm6" acc[1][0][0], "zmm7" acc[1][0][1],
                        "zmm8" acc[1][1][0], "zmm9" acc[1][1][1], "zmm10" acc[1][2][0], "zmm11" acc[1][2][1],
                        "zmm12" acc[2][0][0], "zmm13" acc[2][0][1], "zmm14" acc[2][1][0], "zmm15" acc[2][1][1],
                        "zmm16" acc[2][2][0], "zmm17" acc[2][2][1], "zmm18" acc[3][0][0], "zmm19" acc[3][0][1],
                        "zmm20" acc[3][1][0], "zmm21" acc[3][1][1], "zmm22" acc[3][2][0], "zmm23" acc[3][2][1])
                };
            }
            // SAFETY: this function enables the instructions, which read 4 `times` steps of x and b; only registers
            // are written.
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
