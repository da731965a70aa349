use superscalar::Runtime;

fn main() -> Result<(), superscalar::Error> {
    let rt = Runtime::new()?; // a worker per physical core
    let (mut x, mut y) = (vec![1.0; 1000], vec![1.0; 1000]);
    rt.scope(|s| {
        let (x, y) = (s.lend(&mut x), s.lend(&mut y));
        s.spawn("scale", x.read_write(), |x| x.iter_mut().for_each(|v| *v *= 2.0));
        // Reads what `scale` writes, so it waits: a RaW hazard.
        s.spawn("axpy", (x.read(), y.read_write()), |(x, y)| y.iter_mut().zip(x).for_each(|(y, x)| *y += x));
    })?; // every task is done; the first error or panic comes back here
    assert_eq!(y, vec![3.0; 1000]);
    Ok(())
}
