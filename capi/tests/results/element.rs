//! Element types, options and matrices as the C interface takes them.

use superscalar::kernels::{Diag, Op, Scalar, Side, Uplo, c32, c64};
use superscalar_oracle::{Layout, Random, Stored};

/// An element type. CBLAS passes real scalars by value and complex ones by address.
pub trait Element: Scalar {
    type Argument: Copy;

    fn argument(&self) -> Self::Argument;
}

macro_rules! elements {
    ($($real:ty, $complex:ty;)*) => {$(
        impl Element for $real {
            type Argument = $real;

            fn argument(&self) -> $real {
                *self
            }
        }

        impl Element for $complex {
            type Argument = *const $complex;

            fn argument(&self) -> *const $complex {
                self
            }
        }
    )*};
}

elements! {
    f32, c32;
    f64, c64;
}

/// Calls a generic function for each element type.
macro_rules! each_type {
    ($name:ident($($argument:expr),*)) => {
        $name::<f32>($($argument),*);
        $name::<f64>($($argument),*);
        $name::<superscalar::kernels::c32>($($argument),*);
        $name::<superscalar::kernels::c64>($($argument),*);
    };
}

pub(crate) use each_type;

/// An option with an enumerator of CBLAS.
pub trait Choice: Copy {
    fn code(self) -> i32;
}

macro_rules! choices {
    ($($of:ident: $($value:ident $code:literal),*;)*) => {$(
        impl Choice for $of {
            fn code(self) -> i32 {
                match self { $(Self::$value => $code),* }
            }
        }
    )*};
}

choices! {
    Op: None 111, Trans 112, ConjTrans 113;
    Uplo: Upper 121, Lower 122;
    Diag: NonUnit 131, Unit 132;
    Side: Left 141, Right 142;
}

pub const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
pub const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
pub const DIAGS: [Diag; 2] = [Diag::NonUnit, Diag::Unit];
pub const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// The storage order of the matrices of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    Rows,
    Columns,
}

pub const ORDERS: [Order; 2] = [Order::Rows, Order::Columns];

impl Order {
    pub fn code(self) -> i32 {
        if self == Self::Rows { 101 } else { 102 }
    }

    /// The layout of a matrix whose leading dimension is three more than necessary.
    pub fn layout(self) -> Layout {
        Layout { transposed: self == Self::Rows, ..Layout::PADDED }
    }

    pub fn ld(self, (m, n): (usize, usize)) -> i32 {
        int(if self == Self::Rows { n } else { m } + Layout::PADDED.padding)
    }

    pub fn integers<T: Scalar>(self, numbers: &mut Random, shape: (usize, usize)) -> Stored<T> {
        Stored::integers(numbers, shape, self.layout())
    }

    pub fn fractions<T: Scalar>(self, numbers: &mut Random, shape: (usize, usize)) -> Stored<T> {
        Stored::fractions(numbers, shape, self.layout())
    }
}

pub fn int(size: usize) -> i32 {
    i32::try_from(size).expect("a size of a test")
}

/// The address and leading dimension of a matrix that is read.
pub fn read<T: Scalar>(order: Order, a: &Stored<T>) -> (*const T, i32) {
    (a.memory().as_ptr(), order.ld(a.shape()))
}

/// The address and leading dimension of a matrix that is written.
pub fn write<T: Scalar>(order: Order, a: &mut Stored<T>) -> (*mut T, i32) {
    let ld = order.ld(a.shape());
    (a.memory_mut().as_mut_ptr(), ld)
}
