//! Calls a peer, in one of its ways, with the operands of a store.

use super::problems::Problems;
use super::roles::{PivotRole, Role, pivot_role};
use super::store::Store;
use crate::case::Location;
use crate::methods::Methods;
use crate::peer::{BatchCall, Peer, SizeClass, Span, Unavailable, Way};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::time::Duration;
use superscalar_dla::Scalar;
use superscalar_runtime::Runtime;

/// A peer, and how it computes a batch.
pub struct Contender<'a> {
    pub peer: &'a Peer,
    pub way: Way,
}

impl Contender<'_> {
    /// Returns the name for rows.
    pub fn name(&self) -> String {
        format!("{}{}", self.peer.name(), self.way.suffix())
    }
}

/// Returns each way of each peer.
pub fn contenders<'a, T: Scalar>(
    peers: &'a [Peer],
    routine: &Methods<T>,
    problems: &Problems<'_, T>,
) -> Option<Vec<Contender<'a>>> {
    // The name in the argument list: orgqr, for example, is the routine ungqr for real matrices.
    let name = match problems.len() {
        0 => routine.name,
        _ => (routine.peer)(problems.case(0), &mut problems.make(0)?.into_operands()).name(),
    };
    let ways = |peer: &'a Peer| peer.ways::<T>(name).into_iter().map(move |way| Contender { peer, way });
    Some(peers.iter().flat_map(ways).collect())
}

/// Makes the call of a peer on the operands of the store, and returns its duration.
pub fn call<T: Scalar>(
    contender: &Contender<'_>,
    (routine, problems): (&Methods<T>, &Problems<'_, T>),
    store: &mut Store<T>,
    (rt, location): (&Runtime, Location),
) -> Result<Duration, Unavailable> {
    let little_memory = || Unavailable("not enough memory".to_owned());
    let mut classes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for p in 0..problems.len() {
        let dim = problems.case(p).dim;
        classes.entry((dim.m, dim.n, dim.k)).or_default().push(p);
    }
    let spans: Vec<Span> = spans(store);
    let (mut of_sizes, mut order) = (Vec::with_capacity(classes.len()), Vec::new());
    for of_size in classes.into_values() {
        let mut operands = problems.make(of_size[0]).ok_or_else(little_memory)?.into_operands();
        let mut places: Vec<*mut c_void> =
            operands.matrices.iter_mut().map(|matrix| matrix.view_mut().as_mut_ptr().cast()).collect();
        places.push(operands.pivots.as_mut_ptr().cast());
        let call = (routine.peer)(problems.case(of_size[0]), &mut operands);
        if let Some(why) = call.absence() {
            return Err(Unavailable(why.to_owned()));
        }
        // The operand of each array of the list.
        let arrays = call.grouped_arguments().arrays;
        order = arrays.iter().filter_map(|array| places.iter().position(|place| place == array)).collect();
        assert_eq!(order.len(), arrays.len(), "each array is an operand of the routine");
        let call = call.without_arrays();
        let arrays = order.iter().map(|&operand| addresses(store, operand, &of_size)).collect();
        of_sizes.push(SizeClass { call, problems: of_size, arrays });
    }
    let spans = order.iter().map(|&operand| spans[operand]).collect();
    let mut batch = BatchCall { classes: of_sizes, spans, info: &mut store.info, borrow: PhantomData };
    contender.peer.call_batch(contender.way, &mut batch, rt, location)
}

/// Returns the memory of each matrix of all problems, and of the interchanges.
fn spans<T: Scalar>(store: &mut Store<T>) -> Vec<Span> {
    let has_pivots_before = pivot_role(&store.operation) == PivotRole::Read;
    let matrices = store.matrices.iter_mut().map(|stored| Span {
        bytes: size_of_val(stored.all.elements()),
        is_read: matches!(stored.role, Role::Read | Role::Updated) || stored.all.has_padding(),
        is_written: stored.role != Role::Read,
        start: stored.all.addresses()(0).cast(),
    });
    let bytes = size_of_val(store.pivots.elements());
    let start = store.pivots.addresses()(0).cast();
    matrices.chain([Span { start, bytes, is_read: has_pivots_before, is_written: false }]).collect()
}

/// Returns the address of an operand of each of the problems.
fn addresses<T: Scalar>(store: &mut Store<T>, operand: usize, problems: &[usize]) -> Vec<*mut c_void> {
    match store.matrices.get_mut(operand) {
        Some(stored) => {
            let address = stored.all.addresses();
            problems.iter().map(|&p| address(p).cast()).collect()
        }
        None => {
            let address = store.pivots.addresses();
            problems.iter().map(|&p| address(p).cast()).collect()
        }
    }
}
