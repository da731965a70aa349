//! Physical cores as the hwloc library reports them.

use hwlocality::{Topology, object::types::ObjectType};

/// Returns one of `processors` for each physical core, or `None` if the library has no information.
pub(super) fn one_per_core(processors: &[usize]) -> Option<Vec<usize>> {
    let topology = Topology::new().ok()?;
    let first_allowed = |core: &hwlocality::object::TopologyObject| {
        core.cpuset()?.iter_set().map(usize::from).find(|processor| processors.contains(processor))
    };
    let first: Vec<usize> = topology.objects_with_type(ObjectType::Core).filter_map(first_allowed).collect();
    (!first.is_empty()).then_some(first)
}
