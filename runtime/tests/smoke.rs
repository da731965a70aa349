//! Minimal uses of the runtime.
use superscalar_runtime::{Error, Runtime};

#[test]
fn axpy() -> Result<(), Error> {
    for workers in 1..4 {
        let rt = Runtime::builder().workers(workers).build()?;
        let (mut x, mut y) = (vec![1.0; 100], vec![1.0; 100]);
        for _ in 0..100 {
            y.fill(1.0);
            x.fill(1.0);
            rt.scope(|s| {
                let (x, y) = (s.lend(&mut x), s.lend(&mut y));
                s.spawn("scale", x.read_write(), |x| x.iter_mut().for_each(|v| *v *= 2.0));
                s.spawn("axpy", (x.read(), y.read_write()), |(x, y)| {
                    for (y, x) in y.iter_mut().zip(x) {
                        *y += x;
                    }
                });
            })?;
            assert_eq!(y, vec![3.0; 100]);
        }
    }
    Ok(())
}
