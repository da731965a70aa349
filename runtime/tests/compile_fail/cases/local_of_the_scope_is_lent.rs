fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let _ = rt.scope(|s| {
        let mut local = 1;
        let local = s.lend(&mut local);
        s.spawn("adds", local.read_write(), |x| *x += 1);
    });
}
