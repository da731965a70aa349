//! Instruction sets as types. A value of such a type proves that the processor has the set. Its field is private to
//! this file, so the only way to make one is `assume`, whose callers must justify it.

/// Proof that this processor has an instruction set. It has no size, so passing it on costs nothing.
pub(crate) trait Isa: Copy {}

/// The instructions of every processor of the architecture.
#[derive(Clone, Copy)]
pub struct Baseline(());

impl Isa for Baseline {}

impl Baseline {
    /// The instructions are always available.
    pub(crate) const PROOF: Self = Self(());
}

/// Declares instruction sets that a processor may lack.
#[cfg(target_arch = "x86_64")]
macro_rules! instruction_sets {
    ($($(#[$attribute:meta])* $name:ident)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        pub struct $name(());

        impl Isa for $name {}

        impl $name {
            /// # Safety
            /// The processor has the instructions of this set.
            #[inline(always)]
            pub(crate) unsafe fn assume() -> Self {
                Self(())
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
instruction_sets! {
    /// AVX2 with FMA.
    Avx2
    /// AVX-512F, AVX2 and FMA.
    Avx512
}
