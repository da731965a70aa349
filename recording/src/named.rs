//! The names of an enum's values, and the way back from a name.

/// Gives an enum the names that its values have in a trace.
macro_rules! named {
    ($kind:ident { $($value:ident = $name:literal),* }) => {
        impl $kind {
            /// All of them, in the order of their declaration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            /// The one of this [`name`](Self::name).
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }

            /// The name, as it appears in a trace.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;
