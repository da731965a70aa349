//! A result that the scope owns holds a borrow of another result.

use superscalar_runtime::{Error, Runtime};

struct Peek<'a>(&'a String);

impl Drop for Peek<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() -> Result<(), Error> {
    let rt = Runtime::new()?;
    rt.scope(|s| {
        let text = s.compute("text", (), |()| "x".repeat(40));
        let text = s.get(text)?;
        s.compute("peek", (), move |()| Peek(text));
        Ok::<(), Error>(())
    })?
}
