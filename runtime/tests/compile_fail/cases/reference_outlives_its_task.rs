fn main() {
    let rt = superscalar_runtime::Runtime::new().unwrap();
    let mut x = 1;
    let mut kept: Option<&mut i32> = None;
    let _ = rt.scope(|s| {
        let x = s.lend(&mut x);
        s.spawn("leaks", x.read_write(), |x: &mut i32| kept = Some(x));
    });
    drop(kept);
}
