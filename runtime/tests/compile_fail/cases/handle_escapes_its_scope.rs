fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let mut x = 1;
    let _lent = rt.scope(|s| s.lend(&mut x)).unwrap();
}
