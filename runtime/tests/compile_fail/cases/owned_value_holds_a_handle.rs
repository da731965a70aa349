//! The destructor of an owned value could use a handle whose datum is gone.

use superscalar_runtime::{Lent, Runtime};

struct Deals<'a>(Lent<'a, i32>);

impl Drop for Deals<'_> {
    fn drop(&mut self) {
        self.0.deal_to(None);
    }
}

// SAFETY: unsound on purpose, so that the bounds `Send` and `Sync` of `own` do not cause the error.
unsafe impl Send for Deals<'_> {}
unsafe impl Sync for Deals<'_> {}

fn main() -> Result<(), superscalar_runtime::Error> {
    let rt = Runtime::new()?;
    let mut x = 0;
    rt.scope(|s| {
        let x = s.lend(&mut x);
        s.own(Deals(x));
    })
}
