//! The instruction sets that kernels are compiled for.

use std::{
    fmt, io,
    str::FromStr,
    sync::atomic::{AtomicU8, Ordering},
};
use superscalar_runtime::environment;

/// An instruction set that kernels are compiled for; later ones are better.
///
/// Kernels use the best set that the processor has. `SUPERSCALAR_INSTRUCTIONS` (`portable`, `avx2` or `avx512`)
/// excludes better ones: to get the same rounding on different machines, or to compare the sets.
///
/// # Example
/// ```
/// use superscalar::kernels::cpu::InstructionSet;
/// assert!(InstructionSet::in_use() <= InstructionSet::Avx512);
/// assert_eq!("avx2".parse(), Ok(InstructionSet::Avx2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum InstructionSet {
    /// The instructions of every processor of the architecture.
    Portable = 1,
    /// AVX2 with FMA, of x86-64.
    Avx2 = 2,
    /// AVX-512F, of x86-64.
    Avx512 = 3,
}

const VARIABLE: &str = "SUPERSCALAR_INSTRUCTIONS";

/// The set in use as a number, or 0 before the first call.
static IN_USE: AtomicU8 = AtomicU8::new(0);

impl InstructionSet {
    /// All sets, the best last.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// Returns the set that the kernels of this process use.
    #[inline(always)]
    pub fn in_use() -> Self {
        match IN_USE.load(Ordering::Relaxed) {
            3 => Self::Avx512,
            2 => Self::Avx2,
            1 => Self::Portable,
            _ => Self::choose(),
        }
    }

    /// Returns the best set that the processor has, even if the environment excludes it.
    pub fn of_processor() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                return if has!("avx512f") { Self::Avx512 } else { Self::Avx2 };
            }
        }
        Self::Portable
    }

    #[cold]
    fn choose() -> Self {
        let allowed = environment::variable(VARIABLE).map_or(Ok(Self::Avx512), |text| text.to_string_lossy().parse());
        let allowed = allowed.unwrap_or_else(|why| {
            // A failing standard error must not prevent the computation.
            let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("{VARIABLE} is ignored: {why}\n"));
            Self::Avx512
        });
        let set = allowed.min(Self::of_processor());
        IN_USE.store(set as u8, Ordering::Relaxed);
        set
    }
}

/// Formats as `portable`, `avx2` or `avx512`.
impl fmt::Display for InstructionSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

/// The error for text that names no instruction set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown instruction set `{0}`, expected `portable`, `avx2` or `avx512`")]
pub struct UnknownInstructionSet(String);

impl FromStr for InstructionSet {
    type Err = UnknownInstructionSet;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|set| set.to_string() == text);
        named.ok_or_else(|| UnknownInstructionSet(text.to_owned()))
    }
}
