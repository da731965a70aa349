//! The analyses, on runs made by hand of which every number is known, on random ones, and on recorded ones.

mod bounds;
mod commands;
mod comparison;
mod gaps;
mod invariants;
mod kernels;
mod lanes;
mod path;
mod real;
mod replay;
mod run;
