//! Routines other than gemm on several equal accelerators: the result's tiles are dealt to the devices, and each tile
//! of a factor is copied from the host once, to one device after the other.

use super::in_triangle;
use crate::{
    Scalar,
    options::Distribution,
    product_plan::{UNEVEN_MAX, devices_with_room},
    tiled::Tiled,
};
use std::collections::BTreeMap;
use superscalar_kernels::{MatMut, MatRef, Side, Uplo};
use superscalar_runtime::{Resource, Scope};

/// How the result of a routine is dealt.
#[derive(Clone, Copy)]
pub(super) enum Dealt {
    /// Tile by tile: they do not depend on each other.
    Tiles,
    /// The tiles of one triangle.
    Triangle(Uplo),
    /// By block columns (left) or block rows (right), in which tiles depend on each other.
    BySide(Side),
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
    if !deal(devices, dealt, &c) {
        return c;
    }
    for (at, tile) in factors.iter().flat_map(|factor| factor.tiles()).enumerate() {
        let others = (0..devices).map(|device| Resource::device(((at + device) % devices) as u16));
        let route: Vec<Resource> = [Resource::HOST].into_iter().chain(others).collect();
        tile.send_along(&route);
    }
    c
}

/// Gives each tile, or each group of tiles that depend on each other, to the device with the least work. Returns
/// whether the devices' shares are about equal; otherwise no tile is dealt.
fn deal<T: Scalar>(devices: usize, dealt: Dealt, c: &Tiled<'_, MatMut<'_, T>>) -> bool {
    let group_of = |&(i, j): &(usize, usize)| match dealt {
        Dealt::BySide(Side::Left) => j,
        Dealt::BySide(Side::Right) => i,
        _ => i + j * c.mt(),
    };
    let is_of_result = |&(i, j): &(usize, usize)| match dealt {
        Dealt::Triangle(uplo) => in_triangle(uplo, i, j),
        _ => true,
    };
    let tiles: Vec<(usize, usize)> = c.tile_indices().filter(is_of_result).collect();
    let mut groups: BTreeMap<usize, usize> = BTreeMap::new();
    for tile @ &(i, j) in &tiles {
        let elements = c.rows_of(i) * c.cols_of(j);
        let is_halved = matches!(dealt, Dealt::Triangle(_)) && i == j;
        *groups.entry(group_of(tile)).or_default() += if is_halved { elements.div_ceil(2) } else { elements };
    }
    let mut work = vec![0; devices];
    let homes: BTreeMap<usize, Resource> = groups
        .into_iter()
        .map(|(group, elements)| {
            let device = (0..devices).min_by_key(|&device| work[device]).unwrap_or(0);
            work[device] += elements;
            (group, Resource::device(device as u16))
        })
        .collect();
    let (most, all) = (work.iter().copied().max().unwrap_or(0), work.iter().sum::<usize>());
    let is_even = most as f64 <= UNEVEN_MAX * all as f64 / devices as f64;
    for tile in tiles.iter().filter(|_| is_even) {
        c.at(tile.0, tile.1).deal_to(homes.get(&group_of(tile)).copied());
    }
    is_even
}
