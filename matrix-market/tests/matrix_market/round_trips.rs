//! A matrix that is written and read back is the same matrix, bit for bit.

use std::io::BufReader;

use num_complex::Complex;
use proptest::prelude::*;
use superscalar_matrix_market::{
    self as matrix_market, Field, Format, Header, Market, Position, Shape, Symmetry, Values,
};

use crate::assertions::{assert_fill_is_sound, assert_round_trip, assert_same, text_of};

/// Generates floats of any bit pattern, with special values more often.
fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        prop::sample::select(vec![0.0, -0.0, 1.0, 0.1, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NAN]),
    ]
}

fn header() -> impl Strategy<Value = Header> {
    let formats = prop::sample::select(vec![Format::Coordinate, Format::Array]);
    let fields = prop::sample::select(vec![Field::Real, Field::Integer, Field::Complex, Field::Pattern]);
    let symmetries = prop::sample::select(vec![
        Symmetry::General,
        Symmetry::Symmetric,
        Symmetry::Hermitian,
        Symmetry::SkewSymmetric,
    ]);
    let any = (formats, fields, symmetries).prop_map(|(format, field, symmetry)| Header { format, field, symmetry });
    any.prop_filter("a defined combination", |header| {
        let empty = Shape { m: 0, n: 0 };
        Market::from_dense(*header, empty, |_, _| (0.0, 0.0)).is_ok()
    })
}

/// A position and a value, before they are adapted to a header.
#[derive(Clone, Debug)]
struct RawEntry {
    position: (usize, usize),
    parts: (f64, f64),
    integer: i64,
}

/// Makes a matrix with `header` from raw entries, whose positions and values are adapted to the header.
fn market(header: Header, shape: Shape, raw: &[RawEntry]) -> Market {
    let Header { format, field, symmetry } = header;
    let shape = if symmetry == Symmetry::General { shape } else { Shape { n: shape.m, ..shape } };
    let positions: Vec<Position> = match format {
        Format::Array => {
            let zeros = Market::from_dense(header, shape, |_, _| (0.0, 0.0)).expect("zeros fit everywhere");
            zeros.entries().map(|entry| Position { i: entry.i, j: entry.j }).collect()
        }
        Format::Coordinate if shape.m == 0 || shape.n == 0 => Vec::new(),
        Format::Coordinate => {
            let place =
                |&RawEntry { position: (i, j), .. }: &RawEntry| into_triangle(symmetry, i % shape.m, j % shape.n);
            raw.iter().map(place).collect()
        }
    };
    let on_diagonal = |k: usize| positions[k].i == positions[k].j;
    let parts = |k: usize| {
        let (re, im) = raw[k % raw.len()].parts;
        match symmetry {
            Symmetry::SkewSymmetric if on_diagonal(k) => (-0.0, 0.0),
            Symmetry::Hermitian if on_diagonal(k) => (re, -0.0),
            _ => (re, im),
        }
    };
    let integer = |k: usize| {
        if symmetry == Symmetry::SkewSymmetric && on_diagonal(k) { 0 } else { raw[k % raw.len()].integer }
    };
    let all = 0..positions.len();
    let values = match field {
        Field::Pattern => Values::Pattern,
        Field::Integer => Values::Integer(all.map(integer).collect()),
        Field::Real => Values::Real(all.map(|k| parts(k).0).collect()),
        Field::Complex => Values::Complex(all.map(|k| Complex::new(parts(k).0, parts(k).1)).collect()),
    };
    match format {
        Format::Coordinate => Market::coordinate(symmetry, shape, positions, values),
        Format::Array => Market::array(symmetry, shape, values),
    }
    .expect("the entries are adapted to the header")
}

fn into_triangle(symmetry: Symmetry, i: usize, j: usize) -> Position {
    match symmetry {
        Symmetry::General => Position { i, j },
        _ => Position { i: i.max(j), j: i.min(j) },
    }
}

fn any_market() -> impl Strategy<Value = Market> {
    let shape = (0..7usize, 0..7usize).prop_map(|(m, n)| Shape { m, n });
    let raw_entry = ((0..7usize, 0..7usize), (float(), float()), any::<i64>())
        .prop_map(|(position, parts, integer)| RawEntry { position, parts, integer });
    let raw = prop::collection::vec(raw_entry, 1..20);
    let comments = "(\\PC{0,8}\n?){0,4}";
    (header(), shape, raw, comments)
        .prop_map(|(header, shape, raw, comments)| market(header, shape, &raw).with_comments(&comments))
}

/// Returns the dense matrix by rows as bit patterns, with one pattern for every NaN.
fn dense_bits(market: &Market) -> Vec<(u64, u64)> {
    let shape = market.shape();
    let of = |x: f64| {
        if x.is_nan() { f64::NAN.to_bits() } else { (x + 0.0).to_bits() }
    };
    let mut dense = vec![(0, 0); shape.m * shape.n];
    market.fill(|i, j, re, im| dense[i * shape.n + j] = (of(re), of(im)));
    dense
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matrices_round_trip(market in any_market()) {
        assert_round_trip(&market);
        assert_fill_is_sound(&market);
    }

    #[test]
    fn line_endings_blanks_and_small_buffers(market in any_market(), bytes in 1..9usize) {
        let text = String::from_utf8(text_of(&market)).expect("written text is UTF-8");
        let respaced: String = text.lines().flat_map(|line| match line.strip_prefix('%') {
            Some(_) => [line.to_string(), " \t\r\n".into()],
            None => [format!("\t{}  ", line.replace(' ', " \t")), "\r\n\r\n".into()],
        }).collect();
        let read = matrix_market::read(BufReader::with_capacity(bytes, respaced.as_bytes()));
        assert_same(&market, &read.expect("the same file with other blanks"));
    }

    #[test]
    fn formats_hold_equal_dense_matrices(market in any_market()) {
        let shape = market.shape();
        let mut dense = vec![(0.0, 0.0); shape.m * shape.n];
        market.fill(|i, j, re, im| dense[i * shape.n + j] = (re, im));
        // Sums of integers may exceed 64 bits, so they are stored as floats.
        let field = match market.header().field {
            Field::Integer => Field::Real,
            field => field,
        };
        for format in [Format::Coordinate, Format::Array] {
            if (format, field) == (Format::Array, Field::Pattern) {
                continue;
            }
            let header = Header { format, field, ..market.header() };
            let made = Market::from_dense(header, shape, |i, j| dense[i * shape.n + j]).expect("the same symmetry");
            prop_assert_eq!(dense_bits(&made), dense_bits(&market));
            assert_round_trip(&made);
        }
    }
}
