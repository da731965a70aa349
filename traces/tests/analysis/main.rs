//! Tests of the analyses: on hand-made runs with known values, on random runs, and on recorded runs.

mod bounds;
mod commands;
mod comparison;
mod gaps;
mod invariants;
mod kernels;
mod lanes;
mod path;
mod plans;
mod real;
mod replay;
mod run;
