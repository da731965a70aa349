fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let mut x = 1;
    let _ = rt.scope(|s| {
        let x = s.lend(&mut x);
        s.spawn("names", (), move |()| drop(x.read()));
    });
}
