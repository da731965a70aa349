//! When tiles are in each memory, as planned so far.

use super::fabric::{HOST, Hop, Place};

/// When the tiles of one matrix arrive in each memory; infinite if no copy is planned.
pub(super) struct Arrivals {
    rows: usize,
    places: usize,
    at: Vec<f64>,
}

impl Arrivals {
    pub(super) fn new((rows, columns): (usize, usize), places: usize, home: impl Fn((usize, usize)) -> Place) -> Self {
        let mut all = Self { rows, places, at: vec![f64::INFINITY; rows * columns * places] };
        for (i, j) in (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))) {
            let first = all.first(i, j);
            all.at[first + home((i, j))] = 0.0;
        }
        all
    }

    fn first(&self, i: usize, j: usize) -> usize {
        (i + j * self.rows) * self.places
    }

    /// Returns the arrivals of a tile, by place.
    pub(super) fn of(&self, (i, j): (usize, usize)) -> &[f64] {
        &self.at[self.first(i, j)..][..self.places]
    }

    pub(super) fn set(&mut self, (i, j): (usize, usize), place: Place, arrival: f64) {
        let first = self.first(i, j);
        self.at[first + place] = arrival;
    }
}

/// When a tile would arrive, and for how long it would occupy the device's link to the host.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub(super) end: f64,
    host_ns: f64,
}

impl Arrival {
    pub(super) const HERE: Self = Self { end: 0.0, host_ns: 0.0 };
    pub(super) const NEVER: Self = Self { end: f64::INFINITY, host_ns: 0.0 };

    /// The tile is there at this time.
    pub(super) fn at(end: f64) -> Self {
        Self { end, host_ns: 0.0 }
    }

    pub(super) fn by(hop: Hop) -> Self {
        Self { end: hop.end, host_ns: if hop.from == HOST { hop.end - hop.begin } else { 0.0 } }
    }

    /// Returns when all of these tiles would have arrived: over the link to the host, one after the other.
    pub(super) fn of_all(tiles: [Self; 3]) -> f64 {
        let end = tiles.iter().map(|it| it.end).fold(0.0, f64::max);
        let (sum, longest) =
            tiles.iter().fold((0.0, 0.0_f64), |(sum, most), it| (sum + it.host_ns, most.max(it.host_ns)));
        end + sum - longest
    }
}
