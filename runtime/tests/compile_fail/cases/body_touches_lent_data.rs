fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let mut x = 1;
    let _ = rt.scope(|s| {
        let _lent = s.lend(&mut x);
        s.spawn("looks", (), |()| assert_eq!(x, 1));
    });
}
