use superscalar::{
    Runtime,
    dla::{Matrix, Options, Tiled, posv, spawn},
    kernels::Uplo,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rt = Runtime::new()?;
    let mut a = Matrix::from_fn(500, 500, |i, j| if i == j { 500.0 } else { 1.0 });
    let mut b = Matrix::from_fn(500, 1, |_, _| 999.0);
    posv(&rt, Uplo::Lower, a.clone().as_mut(), b.clone().as_mut(), &Options::default())?;

    // The same by two calls that return before the work is done: hazards order their tiles.
    rt.scope(|s| {
        let (a, b) = (Tiled::new(s, a.as_mut(), 128, 128), Tiled::new(s, b.as_mut(), 128, 128));
        spawn::potrf(s, Uplo::Lower, &a);
        spawn::potrs(s, Uplo::Lower, &a, &b);
    })?;
    assert!((b.at(0, 0) - 1.0_f64).abs() < 1e-12);
    Ok(())
}
