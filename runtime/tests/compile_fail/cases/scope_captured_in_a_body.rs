fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let _ = rt.scope(|s| {
        s.spawn("outer", (), move |()| s.spawn("inner", (), |()| ()));
    });
}
