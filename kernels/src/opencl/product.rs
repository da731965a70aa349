//! gemm and the products that packing reduces to it: symm, hemm, syrk, herk, syr2k, her2k.
//!
//! A product packs both operands into scratch, then multiplies. The packing kernels implement all options: they
//! transpose, conjugate, and complete matrices of which a triangle is stored. If the product is small or packing gains
//! nothing, one kernel reads the operands where they are.

use super::{
    Parameters, ProductForm, Program,
    elements::scale,
    stream::{Argument, Launch, Stream},
    view::{Structure, View, part_code},
};
use crate::{Scalar, Symmetry, Uplo};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// C := alpha A B + beta C, or one triangle of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product<T> {
    /// The triangle of C that is updated; `None` for the whole matrix. The diagonal of a Hermitian C is made real.
    pub part: Option<(Symmetry, Uplo)>,
    pub alpha: T,
    pub a: View,
    pub b: View,
    pub beta: T,
    pub c: View,
}

/// How often the parts of a product are done: more than once to time them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeats {
    /// Packing of A and of B.
    pub packing: [usize; 2],
    /// The multiplication of the packed factors.
    pub multiplication: usize,
}

impl Repeats {
    /// Each part once, which computes the product.
    pub const ONCE: Self = Self { packing: [1, 1], multiplication: 1 };
}

/// Slices of the inner dimension of a product: their steps, and the elements from one result to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slices {
    pub steps: usize,
    pub apart: usize,
}

impl<T: Scalar> Product<T> {
    /// Makes the product C := C + alpha A B.
    pub fn adding(alpha: T, a: View, b: View, c: View) -> Self {
        Self { part: None, alpha, a, b, beta: T::ONE, c }
    }

    /// Puts the product into the stream.
    pub fn run(self, stream: &mut Stream<'_>) -> Result<(), DeviceError> {
        self.repeated(stream, Repeats::ONCE)
    }

    /// Puts the product into the stream, its parts repeated.
    pub fn repeated(self, stream: &mut Stream<'_>, repeats: Repeats) -> Result<(), DeviceError> {
        let Self { part, alpha, a, b, beta, c } = self;
        debug_assert!((a.m, a.n, b.n) == (c.m, b.m, c.n) && !c.conj, "{a:?} {b:?} {c:?}");
        if c.rs != 1 {
            // Compute Cᵀ = Bᵀ Aᵀ instead, whose columns have adjacent elements.
            let part = part.map(|(symmetry, uplo)| (symmetry, uplo.flip()));
            let packing = [repeats.packing[1], repeats.packing[0]];
            let transposed = Self { part, a: b.transpose(), b: a.transpose(), c: c.transpose(), ..self };
            return transposed.repeated(stream, Repeats { packing, ..repeats });
        }
        let k = a.n;
        if alpha == T::ZERO || k == 0 {
            return scale(stream, part, beta, c);
        }
        let are_readable = self.forms().is_some();
        if are_readable && repeats == Repeats::ONCE && stream.parameters.is_direct([c.m, c.n]) {
            return self.multiply_direct(stream, Slices { steps: k, apart: 0 });
        }
        let before = stream.scratch.mark();
        let (most, [m, n, multiple]) = (stream.parameters.packed_steps, stream.parameters.product.multiples());
        let (width_a, width_b) = (c.m.next_multiple_of(m), c.n.next_multiple_of(n));
        let pass = k.min(most).next_multiple_of(multiple);
        let a_at = stream.scratch.take::<T>(width_a * pass)?;
        let b_at = stream.scratch.take::<T>(width_b * pass)?;
        for first in (0..k).step_by(most) {
            let steps = first..k.min(first + most);
            let depth = steps.len().next_multiple_of(multiple);
            let (packed_a, packed_b) =
                (Packed { at: a_at, width: width_a, depth }, Packed { at: b_at, width: width_b, depth });
            for _ in 0..repeats.packing[0] {
                FACTOR_A.pack(stream, a, steps.clone(), packed_a)?;
            }
            for _ in 0..repeats.packing[1] {
                FACTOR_B.pack(stream, b.transpose(), steps.clone(), packed_b)?;
            }
            let beta = if first == 0 { beta } else { T::ONE };
            for _ in 0..repeats.multiplication {
                Self { beta, ..self }.multiply(stream, (a_at, b_at), depth)?;
            }
        }
        stream.scratch.release(before);
        Ok(())
    }

    /// Returns the codes of the forms of both factors for kernels that read them where they are, or `None` if these
    /// cannot.
    fn forms(&self) -> Option<[Argument; 2]> {
        // The rows of B are steps.
        let [a, b] = [self.a, self.b.transpose()].map(|factor| {
            let structure = match factor.structure {
                Structure::General => 0,
                Structure::UnitTriangle(Uplo::Lower) => 2,
                Structure::UnitTriangle(Uplo::Upper) => 4,
                Structure::Symmetric(_) | Structure::Hermitian(_) => return None,
            };
            Some(Argument::Code(i32::from(factor.conj && T::COMPLEX) + structure))
        });
        Some([a?, b?])
    }

    /// Multiplies operands that are not packed, in slices of the inner dimension. C has no gaps if there are several,
    /// and the products of all slices follow each other.
    pub fn multiply_direct(self, stream: &mut Stream<'_>, slices: Slices) -> Result<(), DeviceError> {
        let Self { part, alpha, a, b, beta, c } = self;
        let (program, local, [m_wg, n_wg]) = direct_kernel(&stream.parameters, [c.m, c.n], stream.units());
        let Some([a_form, b_form]) = self.forms() else {
            return Err(DeviceError::new("a product of a symmetric factor that is not packed"));
        };
        let stride = |stride: usize| Argument::Stride(stride as isize);
        let (part_c, is_hermitian) = part_codes(part);
        stream.launch(Launch {
            program,
            kernel: "gemm_direct",
            arguments: &[
                Argument::Offset(a.at),
                stride(a.rs),
                stride(a.cs),
                a_form,
                Argument::Offset(b.at),
                stride(b.rs),
                stride(b.cs),
                b_form,
                Argument::Offset(c.at),
                Argument::Offset(c.cs),
                Argument::Count(c.m),
                Argument::Count(c.n),
                Argument::Count(a.n),
                part_c,
                is_hermitian,
                Argument::element(alpha),
                Argument::element(beta),
                Argument::Count(slices.steps),
                Argument::Offset(slices.apart),
            ],
            groups: [c.m.div_ceil(m_wg), c.n.div_ceil(n_wg) * a.n.div_ceil(slices.steps)],
            local,
        })
    }

    /// Multiplies the packed operands, of k rows.
    fn multiply(self, stream: &mut Stream<'_>, (a_at, b_at): (usize, usize), k: usize) -> Result<(), DeviceError> {
        let Self { part, alpha, beta, c, .. } = self;
        let (local, [m_wg, n_wg]) = stream.parameters.product.group();
        let (part_c, is_hermitian) = part_codes(part);
        stream.launch(Launch {
            program: Program::Product,
            kernel: "gemm",
            arguments: &[
                Argument::Offset(a_at),
                Argument::Offset(b_at),
                Argument::Offset(c.at),
                Argument::Offset(c.cs),
                Argument::Count(c.m),
                Argument::Count(c.n),
                Argument::Count(k),
                part_c,
                is_hermitian,
                Argument::element(alpha),
                Argument::element(beta),
            ],
            groups: [c.m.div_ceil(m_wg), c.n.div_ceil(n_wg)],
            local,
        })
    }
}

/// Returns the family of the kernel for factors that are not packed, the work-items of its groups, and the rows and
/// columns that a group computes. With matrix instructions there are two: where large tiles would leave half of a
/// device's `units` idle, tiles are small.
fn direct_kernel(parameters: &Parameters, [m, n]: [usize; 2], units: usize) -> (Program, [usize; 2], [usize; 2]) {
    match &parameters.product {
        ProductForm::Matrix(tile) => {
            let (program, tile) = match m.div_ceil(tile.m_wg) * n.div_ceil(tile.n_wg) {
                groups if 2 * groups <= units => (Program::DirectSmall, tile.small(parameters.element())),
                _ => (Program::Direct, tile.direct(parameters.element())),
            };
            let (local, block) = ProductForm::Matrix(tile).group();
            (program, local, block)
        }
        ProductForm::Looping(_) | ProductForm::Grouped(_) => {
            (Program::Direct, [parameters.work_items, 1], [parameters.direct_tile(); 2])
        }
    }
}

/// Returns the codes of the triangle that is updated, and of whether it is Hermitian.
fn part_codes(part: Option<(Symmetry, Uplo)>) -> (Argument, Argument) {
    let is_hermitian = part.is_some_and(|(symmetry, _)| symmetry == Symmetry::Hermitian);
    (Argument::Code(part_code(part.map(|(_, uplo)| uplo))), Argument::Code(is_hermitian.into()))
}

/// The kernels that pack a factor.
struct PackingKernels {
    /// The index of the factor in the parameters.
    index: usize,
    /// The kernels for a matrix whose rows' elements are adjacent, for other matrices, and for matrices of which one
    /// triangle is stored.
    kernels: [&'static str; 3],
}

const FACTOR_A: PackingKernels = PackingKernels { index: 0, kernels: ["pack_a", "pack_transposed_a", "complete_a"] };
const FACTOR_B: PackingKernels = PackingKernels { index: 1, kernels: ["pack_b", "pack_transposed_b", "complete_b"] };

/// Where a packed factor is, and its columns and rows with the padding.
#[derive(Clone, Copy)]
struct Packed {
    at: usize,
    width: usize,
    depth: usize,
}

impl PackingKernels {
    /// Packs the columns `steps` of a view.
    fn pack(
        &self,
        stream: &mut Stream<'_>,
        view: View,
        steps: Range<usize>,
        Packed { at, width, depth }: Packed,
    ) -> Result<(), DeviceError> {
        let (structure, triangle) = match view.structure {
            Structure::General => (0, None),
            Structure::Symmetric(uplo) => (1, Some(uplo)),
            Structure::Hermitian(uplo) => (2, Some(uplo)),
            Structure::UnitTriangle(uplo) => (3, Some(uplo)),
        };
        let arguments = [
            Argument::Offset(at),
            Argument::Offset(view.at),
            Argument::Offset(view.rs),
            Argument::Offset(view.cs),
            Argument::Count(view.m),
            Argument::Count(steps.start),
            Argument::Count(steps.len()),
            Argument::Count(width),
            Argument::Count(depth),
            Argument::Code(view.conj.into()),
            Argument::Code(structure),
            Argument::Code(part_code(triangle)),
        ];
        let [pack, pack_transposed, complete] = self.kernels;
        let (kernel, arguments) = match view.structure {
            Structure::General if view.rs == 1 => (pack, &arguments[..10]),
            Structure::General => (pack_transposed, &arguments[..10]),
            _ => (complete, &arguments[..]),
        };
        let packing = stream.parameters.packing[self.index];
        let groups = [width.div_ceil(packing.m_wg), depth.div_ceil(packing.n_wg)];
        stream.launch(Launch { program: Program::Pack, kernel, arguments, groups, local: packing.dims() })
    }
}
