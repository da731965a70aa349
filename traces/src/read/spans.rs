//! Host spans that are written as a begin and an end event.

use super::oddities::{Oddities, OddityKind};
use crate::{Activity, ActivityKind};

/// A begin with its name, or an end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Boundary {
    pub(super) thread: u32,
    pub(super) at_ns: u64,
    /// `None` for an end.
    pub(super) name: Option<u32>,
}

/// The begins and ends read so far.
#[derive(Debug, Default)]
pub(super) struct Spans {
    boundaries: Vec<Boundary>,
}

impl Spans {
    pub(super) fn add(&mut self, boundary: Boundary) {
        self.boundaries.push(boundary);
    }

    /// Pairs begins and ends: an end closes the innermost open span of its thread. Spans without an end last until
    /// `until_ns`.
    pub(super) fn finish(mut self, until_ns: u64, activities: &mut Vec<Activity>, oddities: &mut Oddities) {
        // The sort is stable: at equal times, file order counts.
        self.boundaries.sort_by_key(|boundary| (boundary.thread, boundary.at_ns));
        let mut open: Vec<(u64, u32)> = Vec::new();
        for of_thread in self.boundaries.chunk_by(|a, b| a.thread == b.thread) {
            let lane = of_thread[0].thread;
            let mut close = |(start_ns, name), end_ns| {
                let kind = ActivityKind::Host;
                activities.push(Activity { kind, name, lane, start_ns, end_ns, bytes: 0, link: None, task: None });
            };
            for boundary in of_thread {
                match (boundary.name, open.pop()) {
                    (Some(name), outer) => {
                        open.extend(outer);
                        open.push((boundary.at_ns, name));
                    }
                    (None, Some(span)) => close(span, boundary.at_ns),
                    (None, None) => oddities.note(OddityKind::LoneSpan, (None, Some(lane)), || {
                        format!("a span ends at {} ns that never began", boundary.at_ns)
                    }),
                }
            }
            while let Some(span) = open.pop() {
                close(span, until_ns.max(span.0));
                oddities.note(OddityKind::LoneSpan, (None, Some(lane)), || {
                    format!("the span that begins at {} ns never ends", span.0)
                });
            }
        }
    }
}
