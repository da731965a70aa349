fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let x = 1;
    let _handle = rt.register(&x);
}
