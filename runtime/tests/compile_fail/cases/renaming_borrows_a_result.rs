//! A renaming function, which is dropped with the scope, holds a borrow of a result.

use superscalar_runtime::{Error, Runtime};

struct Peek<'a>(&'a String);

impl Drop for Peek<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() -> Result<(), Error> {
    let rt = Runtime::new()?;
    let mut x = 0;
    rt.scope(|s| {
        let text = s.compute("text", (), |()| "x".repeat(40));
        let peek = Peek(s.get(text)?);
        let _ = s.lend(&mut x).renaming(move || peek.0.len());
        Ok::<(), Error>(())
    })?
}
