//! Routines other than gemm on several equal accelerators: the result's tiles are dealt to the devices, and each tile
//! of a factor is copied from the host once, to one device after the other.

use super::in_triangle;
use crate::{Scalar, options::Distribution, product_plan::devices_with_room, tiled::Tiled};
use superscalar_kernels::{MatMut, MatRef, Side, Uplo};
use superscalar_runtime::{Resource, Scope};

/// How the result of a routine is dealt.
#[derive(Clone, Copy)]
pub(super) enum Dealt {
    /// A side's products and solves: the block columns (left) or block rows (right) do not depend on each other.
    BySide(Side),
    /// The tiles of one triangle.
    Triangle(Uplo),
}

/// Distributes the result. If it is [planned](Distribution::Planned), deals its tiles, and sends the factors' tiles
/// along all devices, provided that these are equal, linked, and have room.
pub(super) fn spread<'s, T: Scalar, const N: usize>(
    s: &'s Scope<'s, '_>,
    distribution: Distribution,
    factors: [&Tiled<'s, MatRef<'s, T>>; N],
    dealt: Dealt,
    c: Tiled<'s, MatMut<'s, T>>,
) -> Tiled<'s, MatMut<'s, T>> {
    if distribution != Distribution::Planned {
        return c.distributed(s, distribution);
    }
    let bytes = |(m, n): (usize, usize)| m as f64 * n as f64 * size_of::<T>() as f64;
    let of_factors: f64 = factors.iter().map(|factor| bytes(factor.shape())).sum();
    let devices = devices_with_room(s.nesting(), |devices| of_factors + bytes(c.shape()) / devices as f64);
    let Some(devices) = devices.filter(|&devices| devices > 1) else { return c };
    deal(devices, dealt, &c);
    for (at, tile) in factors.iter().flat_map(|factor| factor.tiles()).enumerate() {
        let others = (0..devices).map(|device| Resource::device(((at + device) % devices) as u16));
        let route: Vec<Resource> = [Resource::HOST].into_iter().chain(others).collect();
        tile.send_along(&route);
    }
    c
}

/// Gives each tile, or each group of tiles that depend on each other, to the device with the least work.
fn deal<T: Scalar>(devices: usize, dealt: Dealt, c: &Tiled<'_, MatMut<'_, T>>) {
    let mut work = vec![0; devices];
    let mut next = |elements: usize| {
        let device = (0..devices).min_by_key(|&device| work[device]).unwrap_or(0);
        work[device] += elements;
        Some(Resource::device(device as u16))
    };
    match dealt {
        Dealt::BySide(Side::Left) => (0..c.nt()).for_each(|j| {
            let home = next(c.cols_of(j));
            (0..c.mt()).for_each(|i| c.at(i, j).deal_to(home));
        }),
        Dealt::BySide(Side::Right) => (0..c.mt()).for_each(|i| {
            let home = next(c.rows_of(i));
            (0..c.nt()).for_each(|j| c.at(i, j).deal_to(home));
        }),
        Dealt::Triangle(uplo) => {
            for (i, j) in c.tile_indices().filter(|&(i, j)| in_triangle(uplo, i, j)) {
                let elements = c.rows_of(i) * c.cols_of(j);
                c.at(i, j).deal_to(next(if i == j { elements.div_ceil(2) } else { elements }));
            }
        }
    }
}
