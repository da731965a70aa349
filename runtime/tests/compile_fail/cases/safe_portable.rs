//! `Portable` is unsafe: devices rely on the reported location of a value.

use superscalar_runtime::{Portable, Residence};

struct Shared<'a>(&'a [f64]);

impl Portable for Shared<'_> {
    fn residence(&self) -> Option<Residence<'_>> {
        self.0.residence()
    }
}

fn main() {}
