fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let mut x = 1;
    let _ = rt.scope(|s| {
        let first = s.lend(&mut x);
        let second = s.lend(&mut x);
        s.spawn("both", (first.write(), second.write()), |(a, b)| std::mem::swap(a, b));
    });
}
