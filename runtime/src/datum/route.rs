//! The planned route of a datum's copies.

use crate::schedule::Resource;
use std::sync::atomic::{AtomicU32, Ordering};

/// The memories through which a value is copied: from the first to the second, from there to the third, and so on. It
/// is a hint; the empty route leaves each source to the directory.
///
/// Four bits hold the number of a memory plus one: the host, or one of the first 14 devices. Zero ends the route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Route(u32);

const NODE_BITS: u32 = 4;
const NODE_MASK: u32 = (1 << NODE_BITS) - 1;
/// The most memories of a route; more are left to the directory.
const NODES_MAX: usize = (u32::BITS / NODE_BITS) as usize;

impl Route {
    /// Creates the route through these memories. Repeated ones count once, and a route needs two.
    pub(crate) fn through(nodes: &[Resource]) -> Self {
        let (mut word, mut count) = (0, 0);
        for node in nodes.iter().map(|node| u32::from(node.0) + 1) {
            let is_new = (0..count).all(|at| word >> (NODE_BITS * at) & NODE_MASK != node);
            if node <= NODE_MASK && is_new && count < NODES_MAX as u32 {
                word |= node << (NODE_BITS * count);
                count += 1;
            }
        }
        if count < 2 { Self::default() } else { Self(word) }
    }

    /// Iterates over the memories: zero for the host, otherwise a device's index plus one.
    pub(crate) fn nodes(self) -> impl Iterator<Item = u16> {
        let all = (0..NODES_MAX as u32).map(move |at| self.0 >> (NODE_BITS * at) & NODE_MASK);
        all.map_while(|node| node.checked_sub(1)).map(|node| node as u16)
    }
}

/// The route of a version's copies, which any thread may change at any time.
#[derive(Default)]
pub(crate) struct RouteCell(AtomicU32);

impl RouteCell {
    pub(crate) fn set(&self, route: Route) {
        self.0.store(route.0, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Route {
        Route(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_keep_distinct_memories_in_order() {
        let through = |nodes: &[u16]| {
            let nodes: Vec<Resource> = nodes.iter().map(|&node| Resource(node)).collect();
            Route::through(&nodes).nodes().collect::<Vec<u16>>()
        };
        assert_eq!(through(&[0, 14, 2]), [0, 14, 2]);
        assert_eq!(through(&[3, 1, 3, 1, 5]), [3, 1, 5]);
        assert_eq!(through(&[7, 7]), [0; 0], "a route needs a target");
        assert_eq!(through(&[1, 15, u16::MAX, 2]), [1, 2], "too large a number");
        assert_eq!(through(&[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]), [9, 8, 7, 6, 5, 4, 3, 2]);
        assert_eq!(Route::default().nodes().count(), 0);
    }
}
