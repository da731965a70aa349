fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let mut x = std::cell::Cell::new(1);
    let _ = rt.scope(|s| {
        let _lent = s.lend(&mut x);
    });
}
