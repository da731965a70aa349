fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let _five = rt.scope(|s| s.get(s.compute("five", (), |()| 5)).unwrap()).unwrap();
}
