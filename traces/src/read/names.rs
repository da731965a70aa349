//! String interning: each name is stored once and identified by its index.

use super::ReadOptions;
use super::error::{Repr, Stop};
use std::{collections::HashMap, hash::Hash};

/// Names in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Names {
    places: HashMap<Box<str>, u32>,
    bytes: u64,
}

/// Returns the index in `list` of the value with this key. A new key gets the value that `new` returns.
///
/// # Errors
/// If the key is new and `list` already has `max` values.
pub(super) fn index_or_insert<K: Eq + Hash, T>(
    places: &mut HashMap<K, u32>,
    list: &mut Vec<T>,
    key: K,
    (what, max): (&'static str, u32),
    new: impl FnOnce() -> T,
) -> Result<u32, Stop> {
    let next = list.len() as u32;
    if next == max && !places.contains_key(&key) {
        return Err(Stop::fault(0, Repr::Limit { what, max: max.into() }));
    }
    let place = *places.entry(key).or_insert(next);
    if place == next {
        list.push(new());
    }
    Ok(place)
}

impl Names {
    /// Returns the index of a name, which may be new.
    pub(super) fn intern(&mut self, name: &str, max: ReadOptions) -> Result<u32, Stop> {
        if let Some(&place) = self.places.get(name) {
            return Ok(place);
        }
        self.bytes += name.len() as u64;
        let place = self.places.len() as u32;
        if place >= max.names_max {
            return Err(Stop::fault(0, Repr::Limit { what: "different names", max: max.names_max.into() }));
        }
        if self.bytes > max.name_bytes_max {
            return Err(Stop::fault(0, Repr::Limit { what: "bytes in names", max: max.name_bytes_max }));
        }
        self.places.insert(name.into(), place);
        Ok(place)
    }

    pub(super) fn into_list(self) -> Vec<String> {
        let mut list = vec![String::new(); self.places.len()];
        for (name, place) in self.places {
            list[place as usize] = name.into();
        }
        list
    }
}
