//! A value that the scope owns is filled with a borrow of a later result.

use std::sync::Mutex;
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
        let place = s.own(Mutex::new(None));
        let text = s.compute("text", (), |()| "x".repeat(40));
        let text = s.get(text)?;
        s.spawn("fill", place.read(), move |place| *place.lock().unwrap() = Some(Peek(text)));
        Ok::<(), Error>(())
    })?
}
