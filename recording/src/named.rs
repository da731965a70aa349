//! Names of enum values, and lookup by name.

/// Gives the values of an enum their names in a trace.
macro_rules! named {
    ($kind:ident { $($value:ident = $name:literal),* }) => {
        impl $kind {
            /// All values, in the order of their declaration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            /// Returns the value with this [`name`](Self::name).
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }

            /// Returns the name in a trace.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;
