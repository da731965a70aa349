//! The local memory of kernels: the sums of what their texts declare. A test for NVIDIA's compiler compares them.

use super::{
    Parameters, ProductForm, Program,
    panel::{CONCURRENT_ITEMS, GROUPS_MAX, OWN_PANEL_BYTES, PANEL_WIDTH},
    parameters::{DIRECT_STEPS, TRIANGLE_GAP},
    program::{
        BATCH_BLOCK, BATCH_DOT_COLUMNS, BATCH_PANEL_BYTES, BATCH_PANEL_COLUMNS, TRANSPOSED_BLOCK, batch_tile,
        batch_vectors, interchanges,
    },
};

impl Program {
    /// Returns the bytes of local memory that the kernels of this family take at most.
    #[must_use]
    pub fn local_bytes(self, parameters: &Parameters) -> usize {
        let element = parameters.element();
        let (bytes, part) = (element.bytes(), element.bytes() / element.parts());
        let int = size_of::<i32>();
        let items = parameters.work_items;
        // Single work-items have private memory instead, except where a block is transposed.
        let transposed = TRANSPOSED_BLOCK * (TRANSPOSED_BLOCK + 1) * bytes;
        let is_single = items == 1 && !matches!(self, Self::PanelLuTogether | Self::PanelQrTogether);
        match self {
            Self::Product => match &parameters.product {
                ProductForm::Looping(_) => 0,
                ProductForm::Grouped(tile) => tile.local_bytes(element),
                ProductForm::Matrix(tile) => tile.local_bytes(element),
            },
            Self::Pack => parameters.packing.iter().map(|packing| packing.local_bytes(element)).fold(0, usize::max),
            Self::Direct => match &parameters.product {
                ProductForm::Looping(_) => 0,
                ProductForm::Grouped(_) => 2 * DIRECT_STEPS * (parameters.direct_tile() + 1) * bytes,
                ProductForm::Matrix(tile) => tile.local_bytes(element),
            },
            Self::DirectSmall => match &parameters.product {
                ProductForm::Looping(_) | ProductForm::Grouped(_) => 0,
                ProductForm::Matrix(tile) => tile.small(element).local_bytes(element),
            },
            Self::Elements if is_single => transposed,
            _ if is_single => 0,
            Self::Triangle => {
                let (order, columns) = (parameters.triangle_order, parameters.triangle_columns());
                order * (order + columns + 2 * TRIANGLE_GAP) * bytes + int
            }
            Self::Factor => parameters.factor_span() * (parameters.factor_order + 4) * bytes,
            Self::Elements => transposed.max(interchanges(parameters) * int),
            // A candidate is aligned like its size.
            Self::PanelLu => 2 * part * items + PANEL_WIDTH * bytes,
            Self::PanelLuTogether => OWN_PANEL_BYTES + 2 * part * (CONCURRENT_ITEMS / PANEL_WIDTH),
            Self::PanelQr => qr_panel_bytes(items, part, bytes),
            Self::PanelQrTogether => OWN_PANEL_BYTES + CONCURRENT_ITEMS * bytes + PANEL_WIDTH * part,
            Self::Tall => 0,
            Self::BatchGemm => {
                let depth = if element.is_double && element.is_complex { 8 } else { 16 };
                let (tiles, dots) = (2 * depth * (batch_tile(parameters) + 1), BATCH_DOT_COLUMNS * (items + 1));
                tiles.max(dots) * bytes
            }
            Self::BatchSolve => {
                let blocks = 2 * batch_vectors(parameters) * (BATCH_BLOCK + 1) + BATCH_BLOCK * BATCH_BLOCK;
                blocks.max(items) * bytes
            }
            Self::BatchCholesky => BATCH_PANEL_BYTES,
            Self::BatchLu => BATCH_PANEL_BYTES + items * (part + int) + BATCH_PANEL_COLUMNS * int,
            Self::BatchQr => {
                let (columns, across) = (BATCH_PANEL_COLUMNS, items / items.min(8));
                let block = columns * (columns + 1 + items + across) * bytes;
                BATCH_PANEL_BYTES + block + 3 * part * items
            }
            Self::BatchBidiagonal => BATCH_PANEL_BYTES + (bytes + 3 * part) * items,
        }
    }
}

/// Returns the bytes of local memory for a step of a QR factorization: see the macros of `text/panel_qr.cl`.
fn qr_panel_bytes(items: usize, part: usize, bytes: usize) -> usize {
    let (rows, strands) = (items.min(16), (items / PANEL_WIDTH).max(1));
    (GROUPS_MAX + items) * part + PANEL_WIDTH * (1 + rows.max(strands)) * bytes
}
