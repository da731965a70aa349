fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let (mut x, mut y) = (1, 2);
    let _ = rt.scope(|s| {
        let lent = s.lend(&mut x);
        s.spawn("adds", lent.read_write(), |x| *x += y);
        y += 1;
    });
}
