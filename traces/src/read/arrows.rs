//! The hazards of a file: as pairs of arrow ends that name their tasks or point at them, and as hazards without an
//! arrow.
//!
//! In old files, arrow ends do not name their tasks, but only have a time and a thread. The slices that they point at
//! are found when all slices are known, see [`nesting`](super::nesting).

use super::error::{Repr, Stop};
use super::event::{Argument, Event, Field};
use super::nesting::Anchor;
use super::number;
use super::oddities::{Oddities, OddityKind};
use crate::{Hazard, HazardEdge, Task};
use std::collections::HashMap;

/// The maximum number of arrows whose second end has not been read yet.
const OPEN_MAX: usize = 1 << 24;

/// The maximum number of arrows that point at slices: each has two anchors, whose indices have 32 bits.
const POINTING_MAX: usize = 1 << 31;

/// The identifier that the two ends of an arrow share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ArrowId {
    Number(u64),
    Word(Box<str>),
}

/// A hazard between tasks given by their ids.
#[derive(Debug, Clone, Copy)]
struct NamedHazard {
    from: u64,
    to: u64,
    kind: Hazard,
    datum: u32,
}

/// An arrow end whose other end has not been read yet.
#[derive(Debug)]
struct PendingEnd {
    is_start: bool,
    /// Whether it named its tasks, so that the hazard has been recorded.
    is_named: bool,
    datum: u32,
    anchor: Anchor,
}

/// The hazards read so far.
#[derive(Debug, Default)]
pub(super) struct Arrows {
    named: Vec<NamedHazard>,
    pending: HashMap<ArrowId, PendingEnd>,
    /// Arrows that point at slices. Arrow `i` has its start anchor at `anchors[2 * i]` and its finish anchor at
    /// `anchors[2 * i + 1]`.
    pointing: Vec<(Hazard, u32)>,
    anchors: Vec<Anchor>,
    /// The number of first ends that were followed by another first end with the same id.
    lone: u64,
    /// How many of these named no tasks.
    lost: u64,
}

impl Arrows {
    /// Adds a hazard without an arrow.
    pub(super) fn hidden(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        const EVENT: &str = "a hazard without an arrow";
        let (kind, datum) = described(event)?;
        let (from, to) = (event.needed(Argument::From, EVENT)?, event.needed(Argument::To, EVENT)?);
        self.named.push(NamedHazard { from, to, kind, datum });
        Ok(())
    }

    /// Adds one end of an arrow.
    pub(super) fn end(&mut self, event: &Event<'_>, is_start: bool, thread: u32) -> Result<(), Stop> {
        const EVENT: &str = "an end of an arrow";
        let (kind, datum) = described(event)?;
        let at_ns = event.time_ns(Field::Moment, EVENT)?;
        let encloses = is_start || event.text_of(Field::Bind)? == "e";
        let anchor = Anchor { at_ns, thread, place: 0, encloses };
        let named = match (event.count(Argument::From)?, event.count(Argument::To)?) {
            (Some(from), Some(to)) => Some(NamedHazard { from, to, kind, datum }),
            _ => None,
        };
        let id = id_of(event)?;
        match self.pending.remove(&id) {
            Some(other) if other.is_start != is_start => {
                if other.is_named {
                    return Ok(());
                }
                if named.is_none() {
                    let ends = if is_start { (anchor, other.anchor) } else { (other.anchor, anchor) };
                    return self.point(kind, datum.max(other.datum), ends);
                }
            }
            other => {
                self.lone += u64::from(other.is_some());
                self.lost += u64::from(other.is_some_and(|other| !other.is_named));
                if self.pending.len() == OPEN_MAX {
                    return Err(Stop::fault(0, Repr::Limit { what: "arrows pending", max: OPEN_MAX as u64 }));
                }
                self.pending.insert(id, PendingEnd { is_start, is_named: named.is_some(), datum, anchor });
            }
        }
        self.named.extend(named);
        Ok(())
    }

    fn point(&mut self, kind: Hazard, datum: u32, (start, finish): (Anchor, Anchor)) -> Result<(), Stop> {
        let place = self.anchors.len();
        if self.pointing.len() == POINTING_MAX {
            return Err(Stop::fault(0, Repr::Limit { what: "arrows without tasks", max: POINTING_MAX as u64 }));
        }
        self.pointing.push((kind, datum));
        self.anchors.push(Anchor { place: place as u32, ..start });
        self.anchors.push(Anchor { place: place as u32 + 1, ..finish });
        Ok(())
    }

    /// Returns the anchors of arrows that name no tasks, to be found among the slices.
    pub(super) fn take_anchors(&mut self) -> Vec<Anchor> {
        std::mem::take(&mut self.anchors)
    }

    /// Returns all hazards, and the number of hazards left out. `found` holds for each anchor the index of its task.
    pub(super) fn finish(
        self,
        tasks: &[Task],
        found: &[Option<u32>],
        oddities: &mut Oddities,
    ) -> (Vec<HazardEdge>, u64) {
        let mut left_out = self.lost + self.pending.values().filter(|pending| !pending.is_named).count() as u64;
        for _ in 0..self.lone + self.pending.len() as u64 {
            oddities.note(OddityKind::LoneArrow, (None, None), || "an arrow has only one of its two ends".to_owned());
        }
        let mut hazards = Vec::with_capacity(self.named.len() + self.pointing.len());
        let lookup = TaskLookup::new(tasks);
        for NamedHazard { from, to, kind, datum } in self.named {
            match (lookup.of(from), lookup.of(to)) {
                (Some(from), Some(to)) => hazards.push(HazardEdge { from, to, kind, datum }),
                (place, _) => {
                    left_out += 1;
                    let unknown = if place.is_none() { from } else { to };
                    oddities.note(OddityKind::UnknownTask, (Some(unknown), None), || {
                        format!("{kind:?} from task {from} to task {to}: no slice of task {unknown}")
                    });
                }
            }
        }
        for ((kind, datum), ends) in self.pointing.into_iter().zip(found.chunks_exact(2)) {
            match (ends[0], ends[1]) {
                (Some(from), Some(to)) => hazards.push(HazardEdge { from, to, kind, datum }),
                _ => left_out += 1,
            }
        }
        hazards.sort_unstable_by_key(|hazard| (hazard.to, hazard.from, hazard.kind, hazard.datum));
        (hazards, left_out)
    }
}

/// Reads the kind of a hazard and the number of its datum.
fn described(event: &Event<'_>) -> Result<(Hazard, u32), Stop> {
    let Some(kind) = Hazard::from_name(&event.text_of(Field::Name)?) else {
        return Err(match event.field(Field::Name) {
            Some(token) => event.wrong(token, "name", "RaW, WaR or WaW"),
            None => Stop::fault(0, Repr::Missing { event: "a hazard", key: "name" }),
        });
    };
    let read = |token: super::cursor::Token<'_>| number::unsigned(token.0).and_then(|datum| datum.try_into().ok());
    let datum = event.parsed(Argument::Datum, "an integer from 0 to 2^32 - 1", read)?;
    Ok((kind, datum.unwrap_or(0)))
}

fn id_of(event: &Event<'_>) -> Result<ArrowId, Stop> {
    let Some(token) = event.field(Field::Id) else {
        return Err(Stop::fault(0, Repr::Missing { event: "an end of an arrow", key: "id" }));
    };
    match number::unsigned(token.0) {
        Some(number) => Ok(ArrowId::Number(number)),
        None if token.0.starts_with(['"', '-']) => Ok(ArrowId::Word(token.0.into())),
        None => Err(event.wrong(token, "id", "an integer or a string")),
    }
}

/// Maps the ids of tasks to their indices.
enum TaskLookup {
    /// Indexed by id, with `u32::MAX` for missing ids. Used if the ids have few gaps.
    Table(Vec<u32>),
    /// Pairs of id and index, sorted by id.
    Sorted(Vec<(u64, u32)>),
}

impl TaskLookup {
    /// Builds the map. If several tasks have the same id, the first one counts.
    fn new(tasks: &[Task]) -> Self {
        /// The maximum number of table entries per task.
        const GAPS_MAX: usize = 8;
        let numbered = || tasks.iter().enumerate().map(|(place, task)| (task.id, place as u32));
        let entries = tasks.iter().map(|task| task.id).max().map_or(0, |id| id.saturating_add(1));
        if usize::try_from(entries).is_ok_and(|entries| entries / GAPS_MAX <= tasks.len()) {
            let mut table = vec![u32::MAX; entries as usize];
            numbered().for_each(|(id, place)| table[id as usize] = table[id as usize].min(place));
            return Self::Table(table);
        }
        let mut sorted: Vec<_> = numbered().collect();
        sorted.sort_unstable();
        Self::Sorted(sorted)
    }

    fn of(&self, id: u64) -> Option<u32> {
        match self {
            Self::Table(table) => {
                let place = table.get(usize::try_from(id).ok()?).copied();
                place.filter(|&place| place != u32::MAX)
            }
            Self::Sorted(sorted) => {
                let at = sorted.partition_point(|&(known, _)| known < id);
                sorted.get(at).filter(|&&(known, _)| known == id).map(|&(_, place)| place)
            }
        }
    }
}
