//! Every combination of format, field and symmetry: the expected matrix, or an error.

use superscalar_matrix_market::{self as matrix_market, Field, Format, Header, Market, Shape, Symmetry};

use crate::assertions::{assert_fill_is_sound, assert_round_trip, assert_same, cases};

const FORMATS: [Format; 2] = [Format::Coordinate, Format::Array];
const FIELDS: [Field; 4] = [Field::Real, Field::Integer, Field::Complex, Field::Pattern];
const SYMMETRIES: [Symmetry; 4] =
    [Symmetry::General, Symmetry::Symmetric, Symmetry::Hermitian, Symmetry::SkewSymmetric];
const THREE: Shape = Shape { m: 3, n: 3 };

type Dense = [[(f64, f64); 3]; 3];

/// The matrix of all cases before the field and symmetry are applied. Rows of (re, im).
const BASE: Dense = [
    [(2.0, 0.0), (11.0, -2.0), (0.0, 0.0)],
    [(-3.0, 1.0), (5.0, 6.0), (13.0, 3.0)],
    [(0.0, 0.0), (7.0, -4.0), (0.0, 0.0)],
];

/// Returns the dense matrix of the case of `field` and `symmetry`.
fn expected(field: Field, symmetry: Symmetry) -> Dense {
    let mut dense = [[(0.0, 0.0); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let (re, im) = match symmetry {
                Symmetry::General => BASE[i][j],
                _ if i > j => BASE[i][j],
                Symmetry::Hermitian if i == j => (BASE[i][i].0, 0.0),
                Symmetry::SkewSymmetric if i == j => (0.0, 0.0),
                Symmetry::Symmetric => BASE[i.max(j)][i.min(j)],
                Symmetry::Hermitian => (BASE[j][i].0, -BASE[j][i].1),
                Symmetry::SkewSymmetric => (-BASE[j][i].0, -BASE[j][i].1),
            };
            dense[i][j] = match field {
                Field::Real => (re / 4.0, 0.0),
                Field::Integer => (re, 0.0),
                Field::Complex => (re / 4.0, im),
                Field::Pattern => (f64::from(re != 0.0), 0.0),
            };
        }
    }
    dense
}

fn dense_of(market: &Market) -> Dense {
    let mut dense = [[(0.0, 0.0); 3]; 3];
    market.fill(|i, j, re, im| dense[i][j] = (re, im));
    dense
}

/// Returns why a combination is refused, or `None` if it is valid.
fn refusal(header: Header) -> Option<&'static str> {
    if header.format == Format::Array && header.field == Field::Pattern {
        Some("an array has no positions for a pattern to list")
    } else if header.symmetry == Symmetry::Hermitian && header.field != Field::Complex {
        Some("only a complex matrix can be hermitian")
    } else if header.symmetry == Symmetry::SkewSymmetric && header.field == Field::Pattern {
        Some("a pattern has no values to negate")
    } else {
        None
    }
}

fn each_header(mut visit: impl FnMut(Header)) {
    for format in FORMATS {
        for field in FIELDS {
            for symmetry in SYMMETRIES {
                visit(Header { format, field, symmetry });
            }
        }
    }
}

#[test]
fn valid_combinations_are_read() {
    let cases = cases();
    let mut found = 0;
    each_header(|header| {
        let name = header.to_string().replace(' ', "_");
        let case = cases.iter().find(|(case, _)| *case == name);
        assert_eq!(case.is_some(), refusal(header).is_none(), "{name}");
        let Some((_, text)) = case else { return };
        let market = matrix_market::read(&text[..]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((market.header(), market.shape()), (header, THREE), "{name}");
        assert_eq!(dense_of(&market), expected(header.field, header.symmetry), "{name}");
        assert_round_trip(&market);
        assert_fill_is_sound(&market);
        found += 1;
    });
    assert_eq!(found, cases.len());
}

#[test]
fn valid_combinations_from_dense_matrices() {
    let cases = cases();
    each_header(|header| {
        let dense = expected(header.field, header.symmetry);
        let made = Market::from_dense(header, THREE, |i, j| dense[i][j]);
        let name = header.to_string().replace(' ', "_");
        let Some((_, text)) = cases.iter().find(|(case, _)| *case == name) else {
            assert!(made.is_err(), "{name}");
            return;
        };
        let comments: String = {
            let read = matrix_market::read(&text[..]).expect("a valid case");
            read.comments().flat_map(|comment| [comment, "\n"]).collect()
        };
        let made = made.unwrap_or_else(|error| panic!("{name}: {error}")).with_comments(&comments);
        assert_same(&made, &matrix_market::read(&text[..]).expect("a valid case"));
    });
}

#[test]
fn undefined_combinations_are_refused() {
    let mut refused = 0;
    each_header(|header| {
        let Some(why) = refusal(header) else { return };
        let text = format!("%%MatrixMarket matrix {header}\n3 3 0\n");
        let error = matrix_market::read(text.as_bytes()).expect_err("no meaning");
        assert_eq!(error.to_string(), format!("line 1: {header} is not a valid combination: {why}"));
        refused += 1;
    });
    assert_eq!(refused, 10);
}

#[test]
fn symmetry_queries() {
    each_header(|header| {
        let Ok(market) = Market::from_dense(header, THREE, |_, _| (0.0, 0.0)) else {
            return;
        };
        let Header { field, symmetry, .. } = header;
        assert_eq!(market.is_symmetric(), symmetry == Symmetry::Symmetric);
        let is_real_symmetric = symmetry == Symmetry::Symmetric && field != Field::Complex;
        assert_eq!(market.is_hermitian(), symmetry == Symmetry::Hermitian || is_real_symmetric);
        assert_eq!(market.entries().len(), market.nnz());
    });
}

#[test]
fn fill_sums_repeated_positions() {
    let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n3 1 1\n1 1 5\n3 1 2\n3 1 4\n";
    let market = matrix_market::read(text.as_bytes()).expect("repetition is valid");
    assert_eq!(market.nnz(), 4);
    let mut filled = Vec::new();
    market.fill(|i, j, re, _| filled.push((i, j, re)));
    assert_eq!(filled, [(0, 0, 5.0), (2, 0, 7.0), (0, 2, 7.0)]);
    let mut visited = 0;
    market.for_each_entry(|_, _, _, _| visited += 1);
    assert_eq!(visited, 7);
    assert_round_trip(&market);
}

#[test]
fn repeated_pattern_positions_count_once() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n2 2\n1 1\n2 2\n";
    let market = matrix_market::read(text.as_bytes()).expect("repetition is valid");
    let mut filled = Vec::new();
    market.fill(|i, j, re, _| filled.push((i, j, re)));
    assert_eq!(filled, [(0, 0, 1.0), (1, 1, 1.0)]);
}

#[test]
fn empty_matrices() {
    let last = usize::MAX;
    for shape in [(0, 0), (0, 7), (7, 0), (1, 1), (last, 0), (0, last)] {
        let coordinate = format!("%%MatrixMarket matrix coordinate real general\n{} {} 0\n", shape.0, shape.1);
        let market = matrix_market::read(coordinate.as_bytes()).expect("no entries");
        assert_eq!(market.nnz(), 0);
        assert_round_trip(&market);
    }
    for text in [
        "%%MatrixMarket matrix array real general\n0 9\n",
        "%%MatrixMarket matrix array real symmetric\n0 0\n",
        "%%MatrixMarket matrix array real skew-symmetric\n0 0\n",
        "%%MatrixMarket matrix array real skew-symmetric\n1 1\n",
    ] {
        let market = matrix_market::read(text.as_bytes()).expect("no entries");
        assert_eq!(market.entries().count(), 0);
        assert_round_trip(&market);
    }
    let header = Header { format: Format::Array, field: Field::Real, symmetry: Symmetry::General };
    let none = Market::from_dense(header, Shape { m: 0, n: last }, |_, _| unreachable!());
    assert_eq!(none.expect("no entries").nnz(), 0);
}
