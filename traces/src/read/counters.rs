//! The counters of a file, separated by process, name and series.

use super::ReadOptions;
use super::error::Stop;
use super::event::{Event, Field};
use super::lanes::Threads;
use super::names::{Names, index_or_insert};
use super::oddities::{Oddities, OddityKind};
use crate::Counter;
use std::collections::HashMap;

/// The samples read so far.
#[derive(Debug, Default)]
pub(super) struct Counters {
    names: Names,
    /// Indices into `counters` by process and name.
    places: HashMap<(u32, u32), u32>,
    counters: Vec<Samples>,
}

#[derive(Debug)]
struct Samples {
    process: u32,
    name: u32,
    samples: Vec<(u64, f64)>,
    /// The number of samples that are earlier than the one before them.
    back: u64,
}

impl Counters {
    /// Adds one sample of each series of an event. The series `value` takes the name of its counter.
    pub(super) fn sample(&mut self, event: &Event<'_>, process: u32, max: ReadOptions) -> Result<(), Stop> {
        let at_ns = event.time_ns(Field::Moment, "a counter's sample")?;
        let name = event.text_of(Field::Name)?;
        for (key, token) in event.members() {
            let value = match token.0.parse::<f64>() {
                _ if token.is_null() => continue,
                Ok(value) if value.is_finite() => value,
                _ => return Err(event.wrong(token, "value", "a number")),
            };
            let name = match &*key.string().unwrap_or_default() {
                "value" => self.names.intern(&name, max)?,
                series => self.names.intern(&format!("{name} {series}"), max)?,
            };
            self.push(process, name, (at_ns, value), max)?;
        }
        Ok(())
    }

    fn push(&mut self, process: u32, name: u32, sample: (u64, f64), max: ReadOptions) -> Result<(), Stop> {
        let new = || Samples { process, name, samples: Vec::new(), back: 0 };
        let limit = ("counters", max.names_max);
        let place = index_or_insert(&mut self.places, &mut self.counters, (process, name), limit, new)?;
        let counter = &mut self.counters[place as usize];
        counter.back += u64::from(counter.samples.last().is_some_and(|last| last.0 > sample.0));
        counter.samples.push(sample);
        Ok(())
    }

    /// Returns the counters in order of appearance. If several processes have a counter of the same name, the name of
    /// the process is put in front.
    pub(super) fn finish(self, threads: &Threads, oddities: &mut Oddities) -> Vec<Counter> {
        let mut processes = HashMap::new();
        for counter in &self.counters {
            *processes.entry(counter.name).or_insert(0) += 1;
        }
        let names = self.names.into_list();
        let counters = self.counters.into_iter().map(|counter| {
            let Samples { process, name, mut samples, back } = counter;
            let is_alone = processes[&name] == 1;
            let name = &names[name as usize];
            let name = if is_alone { name.clone() } else { format!("{}: {name}", threads.process_name(process)) };
            for _ in 0..back {
                oddities.note(OddityKind::CounterGoesBack, (None, None), || {
                    format!("the counter `{name}` has samples that are earlier than the one before them")
                });
            }
            if back > 0 {
                samples.sort_by_key(|&(at_ns, _)| at_ns);
            }
            Counter { name, samples }
        });
        counters.collect()
    }
}
