//! [`ParameterConstraint`]: why a device cannot run the kernels of a row of parameters.

use std::fmt;

/// Why a row of parameters, or a part of it, cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ParameterConstraint {
    /// There is no row for the device and the type.
    NoRow,
    /// A number is zero or too large.
    Range,
    /// OpenCL has no vectors of this length.
    VectorLength,
    /// The group's tile is not a whole number of work-items' tiles.
    ItemTile,
    /// A work-item's tile is not a whole number of vectors.
    Vector,
    /// The unrolled steps do not divide the steps that are read at a time.
    Unroll,
    /// The work-items do not have equal parts of a factor to read.
    EqualReads,
    /// A parameter would have no effect: another kernel of the space is the same.
    NoEffect,
    /// The sums and factors of a work-item exceed its registers.
    Registers,
    /// The kernel's text would be too long to compile in a reasonable time.
    Length,
    /// More work-items than a group can have.
    GroupItems,
    /// More work-items than a group can have in one direction.
    DimItems,
    /// The device has no matrix instructions for the type, or its driver does not compile them.
    MatrixInstructions,
    /// The steps that are packed at a time are no multiple of those that a group reads at a time.
    PackedSteps,
    /// There is no kernel for factors that are not packed: a group has one work-item.
    DirectOrder,
    /// The work-items of a group are no power of four.
    SquareGroup,
    /// The groups of some kernels have one work-item, and those of others have several.
    SingleItems,
    /// The order of a triangle is no multiple of four or, if a group has several work-items, no power of two from 16.
    TriangleOrder,
    /// The order of a block that is factored is no multiple of four, or a group's work-items do not have equal parts.
    FactorOrder,
    /// What a work-item has of a triangle, of its right-hand sides and of their product exceeds its registers.
    TriangleRegisters,
    /// What a work-item has of a block that is factored exceeds its registers.
    FactorRegisters,
    /// The parts of the factors of a product exceed local memory.
    ProductMemory,
    /// What a group packs exceeds local memory.
    PackingMemory,
    /// The parts of factors that are not packed exceed local memory.
    DirectMemory,
    /// The blocks of a triangle and of its right-hand sides exceed local memory.
    TriangleMemory,
    /// The blocks of a matrix that is factored exceed local memory.
    FactorMemory,
    /// What a group transposes or interchanges exceeds local memory.
    ElementMemory,
    /// The sums of a panel exceed local memory.
    PanelMemory,
    /// What a group has of a problem of a batch exceeds local memory.
    BatchMemory,
}

/// Formats the constraint's name.
impl fmt::Display for ParameterConstraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NoRow => "there is no row",
            Self::Range => "a number is zero or too large",
            Self::VectorLength => "length of a vector",
            Self::ItemTile => "tiles of work-items",
            Self::Vector => "vectors of a tile",
            Self::Unroll => "unrolled steps",
            Self::EqualReads => "equal reads",
            Self::NoEffect => "parameter without effect",
            Self::Registers => "registers of a work-item",
            Self::Length => "length of the kernel",
            Self::GroupItems => "work-items of a group",
            Self::DimItems => "work-items in one direction",
            Self::MatrixInstructions => "matrix instructions",
            Self::PackedSteps => "steps that are packed at a time",
            Self::DirectOrder => "products without packing",
            Self::SquareGroup => "work-items that are no power of four",
            Self::SingleItems => "groups of one work-item and groups of several",
            Self::TriangleOrder => "order of a triangle",
            Self::FactorOrder => "order of a factored block",
            Self::TriangleRegisters => "registers of a work-item for triangles",
            Self::FactorRegisters => "registers of a work-item for factored blocks",
            Self::ProductMemory => "local memory of products",
            Self::PackingMemory => "local memory of packing",
            Self::DirectMemory => "local memory of products without packing",
            Self::TriangleMemory => "local memory of triangles",
            Self::FactorMemory => "local memory of factored blocks",
            Self::ElementMemory => "local memory of interchanges",
            Self::PanelMemory => "local memory of panels",
            Self::BatchMemory => "local memory of batches",
        })
    }
}

impl std::error::Error for ParameterConstraint {}

pub(super) fn meets(is_met: bool, constraint: ParameterConstraint) -> Result<(), ParameterConstraint> {
    if is_met { Ok(()) } else { Err(constraint) }
}
