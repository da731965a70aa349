//! [`Explorer`]: proposes rows of a space to measure.
//!
//! Rows that the model expects to be fast are tried first, mixed with random ones that it expects to be slower. When
//! some rows are measured, most proposals are neighbours of the fastest ones, which differ in one or two parameters.

use super::{
    random::Seeded,
    space::{Point, Space},
};
use crate::opencl::Parameters;
use std::collections::BTreeSet;

/// Points that are ranked by the model: all of a small space, or so many random ones.
const DRAWS: usize = 300_000;
/// Measured rows before neighbours are proposed, and the number of rows whose neighbours are.
const MEASURED_MIN: usize = 8;
const CENTRES: usize = 3;

/// A row to measure, and its point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub point: Option<Point>,
    pub row: Parameters,
}

/// Proposes rows of a space, each once.
pub(super) struct Explorer {
    space: Space,
    /// Valid points, the one that is expected to be the fastest first.
    ranked: Vec<(f64, Point)>,
    proposed: BTreeSet<Parameters>,
    random: Seeded,
    turns: usize,
}

impl Explorer {
    pub fn new(space: Space, seed: u64) -> Self {
        let mut random = Seeded(seed);
        let choices = space.choices();
        let all: usize = choices.iter().product();
        let ranked = (0..all.min(DRAWS)).filter_map(|number| {
            // The choices are the digits of a number, or random.
            let mut rest = number;
            let point = choices.map(|choices| {
                let choice = if all <= DRAWS { rest % choices } else { random.below(choices) };
                rest /= choices;
                choice
            });
            space.row(&point).map(|row| (space.cost(&row), point))
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Self { space, ranked, proposed: BTreeSet::new(), random, turns: 0 }
    }

    /// Marks a row as proposed.
    pub fn know(&mut self, row: Parameters) {
        self.proposed.insert(row);
    }

    /// Returns another row, or `None` if all were proposed. `fastest` are the points of measured rows, the fastest
    /// first.
    pub fn propose(&mut self, fastest: &[Point]) -> Option<Proposal> {
        self.turns += 1;
        let is_local = fastest.len() >= MEASURED_MIN && !self.turns.is_multiple_of(4);
        let centre = fastest.get(self.turns % CENTRES).filter(|_| is_local);
        let proposal = centre.and_then(|centre| self.neighbour(centre)).or_else(|| self.ranked_one())?;
        self.proposed.insert(proposal.row);
        Some(proposal)
    }

    /// Returns the best ranked point, or by turns one of the others, rather a good one.
    fn ranked_one(&mut self) -> Option<Proposal> {
        let start = if self.turns.is_multiple_of(2) {
            (self.random.unit().powi(4) * self.ranked.len() as f64) as usize
        } else {
            0
        };
        let points = self.ranked.iter().skip(start).chain(self.ranked.iter().take(start));
        let mut rows =
            points.filter_map(|(_, point)| Some(Proposal { point: Some(*point), row: self.space.row(point)? }));
        rows.find(|proposal| !self.proposed.contains(&proposal.row))
    }

    /// Returns the neighbour that is expected to be the fastest.
    fn neighbour(&self, centre: &Point) -> Option<Proposal> {
        let choices = self.space.choices();
        let changes = |at: usize| (0..choices[at]).map(move |choice| (at, choice));
        let single = (0..choices.len()).flat_map(changes);
        let pairs = single.clone().flat_map(|one| (one.0..choices.len()).flat_map(changes).map(move |two| [one, two]));
        let rows = pairs.filter_map(|pair| {
            let mut point = *centre;
            pair.into_iter().for_each(|(at, choice)| point[at] = choice);
            let row = self.space.row(&point)?;
            let is_new = !self.proposed.contains(&row);
            is_new.then(|| (self.space.cost(&row), Proposal { point: Some(point), row }))
        });
        rows.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, proposal)| proposal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::{Class, GroupLimits};

    fn proposals(class: Class, seed: u64, count: usize) -> Vec<Proposal> {
        let space = Space::of_products(Parameters::of(class, 'd'), GroupLimits::USUAL, 16, 1024);
        let mut explorer = Explorer::new(space, seed);
        let mut points = Vec::new();
        let mut proposals = Vec::new();
        while proposals.len() < count {
            let Some(proposal) = explorer.propose(&points) else { break };
            points.extend(proposal.point);
            proposals.push(proposal);
        }
        proposals
    }

    #[test]
    fn proposals_are_valid_distinct_and_repeatable() {
        for class in [Class::Gpu, Class::WideCpu] {
            let found = proposals(class, 7, 60);
            let rows: BTreeSet<Parameters> = found.iter().map(|proposal| proposal.row).collect();
            assert_eq!(rows.len(), 60);
            assert!(rows.iter().all(|row| row.check(&GroupLimits::USUAL).is_ok()));
            let again = proposals(class, 7, 60);
            assert!(found.iter().map(|one| one.row).eq(again.iter().map(|one| one.row)), "same seed");
            let other = proposals(class, 8, 60);
            assert!(!found.iter().map(|one| one.row).eq(other.iter().map(|one| one.row)), "other seed");
        }
    }

    #[test]
    fn small_space_ends() {
        let space = Space::of_packing(Parameters::of(Class::Cpu, 'd'), 0, GroupLimits::USUAL);
        let mut explorer = Explorer::new(space, 1);
        let count = std::iter::from_fn(|| explorer.propose(&[])).count();
        assert!(count > 50 && explorer.propose(&[]).is_none(), "{count} rows");
    }
}
