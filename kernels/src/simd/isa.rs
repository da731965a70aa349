//! Instruction sets as types. A value of one is proof that the processor has it: its field is private to this file, so
//! that nobody else makes one without saying why it is true.

/// Proof that this processor has an instruction set: of no size, so it costs nothing to hand on.
pub(crate) trait Isa: Copy {}

/// What every processor of the architecture has.
#[derive(Clone, Copy)]
pub struct Baseline(());

impl Isa for Baseline {}

impl Baseline {
    /// It needs no proof.
    pub(crate) const PROOF: Self = Self(());
}

/// Sets that a processor may lack.
#[cfg(target_arch = "x86_64")]
macro_rules! instruction_sets {
    ($($(#[$attribute:meta])* $name:ident)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        pub struct $name(());

        impl Isa for $name {}

        impl $name {
            /// # Safety
            /// The processor has the instructions.
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
    /// AVX-512F, and the set before.
    Avx512
}
