//! The programs of the README and the guide, compiled and run by `cargo test --doc`.

macro_rules! documents {
    ($($name:ident = $path:literal;)*) => {
        $(
            #[doc = include_str!($path)]
            struct $name;
        )*
    };
}

documents! {
    Readme = "../README.md";
    FirstProgram = "../docs/guide/first-program.md";
    Factorizations = "../docs/guide/factorizations.md";
    Batches = "../docs/guide/batches.md";
    Devices = "../docs/guide/devices.md";
    Traces = "../docs/guide/traces.md";
    Tuning = "../docs/guide/tuning.md";
    ComingFrom = "../docs/guide/coming-from.md";
    DropIn = "../docs/drop-in.md";
}
