use superscalar_runtime::{Reduction, Runtime};

struct Plus;

impl Reduction<i32> for Plus {
    fn identity() -> i32 {
        0
    }
    fn combine(into: &mut i32, part: i32) {
        *into += part;
    }
}

fn main() {
    let rt = Runtime::new().unwrap();
    let mut x = 1;
    let _ = rt.scope(|s| {
        let x = s.lend(&mut x);
        s.spawn("adds", x.reduce(Plus), |x| *x += 1);
    });
}
