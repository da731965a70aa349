//! Errors about matrices that a program builds: they name the entry and count from 0.

use num_complex::Complex;
use superscalar_matrix_market::{Error, Field, Format, Header, Market, Position, Shape, Symmetry, Values};

fn message<T>(result: Result<T, Error>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "no error".into())
}

#[test]
fn constructors_check_their_arguments() {
    let three = Shape { m: 3, n: 3 };
    let at = |i, j| vec![Position { i: 0, j: 0 }, Position { i, j }];
    let coordinate = |symmetry, positions, values| message(Market::coordinate(symmetry, three, positions, values));
    let zero_and = |x: f64| Values::Real(vec![0.0, x]);
    let (general, skew) = (Symmetry::General, Symmetry::SkewSymmetric);
    assert_eq!(coordinate(general, at(3, 0), zero_and(1.0)), "entry 1: row index 3 is out of range 0..3");
    assert_eq!(
        coordinate(skew, at(0, 1), zero_and(1.0)),
        "entry 1: entry (0, 1) lies above the diagonal, and a skew-symmetric file stores only the lower triangle"
    );
    assert_eq!(
        coordinate(skew, at(1, 1), zero_and(1.0)),
        "entry 1: diagonal entry (1, 1) of a skew-symmetric matrix must be zero"
    );
    assert_eq!(coordinate(general, at(1, 1), Values::Integer(vec![1])), "1 values for 2 entries");
    assert_eq!(
        coordinate(Symmetry::Hermitian, at(1, 1), Values::Pattern),
        "coordinate pattern hermitian is not a valid combination: only a complex matrix can be hermitian"
    );
    let array = |symmetry, shape, values| message(Market::array(symmetry, shape, values));
    assert_eq!(array(general, three, Values::Real(vec![0.0])), "1 values for 9 entries");
    let wide = Shape { m: 3, n: 4 };
    assert_eq!(array(skew, wide, Values::Real(vec![])), "a skew-symmetric matrix must be square, not 3 x 4");
    let i = Values::Complex(vec![Complex::new(0.0, 1.0)]);
    let one = Shape { m: 1, n: 1 };
    assert_eq!(array(Symmetry::Hermitian, one, i), "entry 0: diagonal entry (0, 0) of a hermitian matrix must be real");
}

#[test]
fn from_dense_checks_its_values() {
    let made = |field, shape, value: (f64, f64)| {
        let header = Header { format: Format::Array, field, symmetry: Symmetry::General };
        message(Market::from_dense(header, shape, |i, _| if i == 0 { (0.0, 0.0) } else { value }))
    };
    let two = Shape { m: 2, n: 1 };
    assert_eq!(made(Field::Real, two, (1.0, 2.0)), "entry 1: (1.0, 2.0) at (1, 0) is not real");
    assert_eq!(made(Field::Integer, two, (0.5, 0.0)), "entry 1: (0.5, 0.0) at (1, 0) is not a 64-bit integer");
    assert_eq!(
        made(Field::Integer, two, (9_223_372_036_854_775_808.0, 0.0)),
        "entry 1: (9.223372036854776e18, 0.0) at (1, 0) is not a 64-bit integer"
    );
    assert_eq!(made(Field::Integer, two, (-9_223_372_036_854_775_808.0, 0.0)), "no error");
    for value in [f64::NAN, f64::INFINITY] {
        assert!(made(Field::Integer, two, (value, 0.0)).ends_with("is not a 64-bit integer"));
    }
    let last = usize::MAX;
    assert_eq!(
        made(Field::Real, Shape { m: last, n: 2 }, (0.0, 0.0)),
        format!("a matrix of {last} x 2 has more entries than this machine can count")
    );
}
