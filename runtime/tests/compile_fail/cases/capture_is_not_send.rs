fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let shared = std::rc::Rc::new(1);
    let _ = rt.scope(|s| s.spawn("counts", (), move |()| drop(shared.clone())));
}
