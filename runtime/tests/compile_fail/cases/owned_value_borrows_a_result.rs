//! A scope drops its values one by one: the destructor of an owned value could read a dropped result.

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
        s.own(Peek(s.get(text)?));
        Ok::<(), Error>(())
    })?
}
