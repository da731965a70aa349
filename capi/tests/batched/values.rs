//! Numbers of the four element types and of both integer types, read and written as `f64`.

/// The letter of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementType(pub char);

impl ElementType {
    pub const ALL: [Self; 4] = [Self('s'), Self('d'), Self('c'), Self('z')];

    pub fn is_single(self) -> bool {
        matches!(self.0, 's' | 'c')
    }

    pub fn is_complex(self) -> bool {
        matches!(self.0, 'c' | 'z')
    }

    /// Returns the real numbers of an element.
    pub fn parts(self) -> usize {
        if self.is_complex() { 2 } else { 1 }
    }

    pub fn epsilon(self) -> f64 {
        if self.is_single() { f32::EPSILON.into() } else { f64::EPSILON }
    }
}

/// Numbers of one type.
#[derive(Clone, Debug)]
pub enum Values {
    Single(Vec<f32>),
    Double(Vec<f64>),
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

macro_rules! each {
    ($values:expr, $vector:ident => $result:expr) => {
        match $values {
            Values::Single($vector) => $result,
            Values::Double($vector) => $result,
            Values::Narrow($vector) => $result,
            Values::Wide($vector) => $result,
        }
    };
}

impl Values {
    pub fn reals(of: ElementType, len: usize, value: f64) -> Self {
        if of.is_single() { Self::Single(vec![value as f32; len]) } else { Self::Double(vec![value; len]) }
    }

    pub fn integers(is_wide: bool, len: usize, value: i64) -> Self {
        if is_wide { Self::Wide(vec![value; len]) } else { Self::Narrow(vec![value as i32; len]) }
    }

    pub fn len(&self) -> usize {
        each!(self, vector => vector.len())
    }

    pub fn address(&mut self) -> usize {
        each!(self, vector => vector.as_mut_ptr() as usize)
    }

    #[allow(clippy::unnecessary_cast)] // One of the types is f64.
    pub fn get(&self, at: usize) -> f64 {
        each!(self, vector => vector[at] as f64)
    }

    pub fn set(&mut self, at: usize, value: f64) {
        each!(self, vector => vector[at] = value as _);
    }

    /// Returns `count` numbers of the same type.
    pub fn with_len(&self, count: usize, value: f64) -> Self {
        match self {
            Self::Single(_) => Self::Single(vec![value as f32; count]),
            Self::Double(_) => Self::Double(vec![value; count]),
            Self::Narrow(_) => Self::Narrow(vec![value as i32; count]),
            Self::Wide(_) => Self::Wide(vec![value as i64; count]),
        }
    }

    /// Returns whether all bits are the same. NaN is the same as NaN.
    pub fn is_same(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|at| self.get(at).to_bits() == other.get(at).to_bits())
    }
}
