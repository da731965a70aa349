//! Types and shapes for the tests of panels.

/// Runs a generic check for the four types.
macro_rules! for_all_types {
    ($check:ident) => {{
        $check::<f32>();
        $check::<f64>();
        $check::<c32>();
        $check::<c64>();
    }};
}

/// Empty, one, ragged blocks and vectors of every type, wider and taller than a panel.
pub const SHAPES: [(usize, usize); 19] = [
    (0, 0),
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 5),
    (5, 1),
    (2, 2),
    (3, 7),
    (7, 3),
    (8, 8),
    (9, 9),
    (17, 16),
    (16, 17),
    (33, 25),
    (40, 64),
    (65, 65),
    (130, 70),
    (70, 130),
    (200, 33),
];
