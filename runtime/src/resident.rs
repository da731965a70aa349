//! Data that stay where devices left them, from scope to scope.
//!
//! What is lent to a scope comes home when the scope ends. A [`Resident`] does not: its entry in the directory belongs to it, and each scope
//! that it is lent to uses that entry (`memory/mod.rs`, *What stays*). In host memory it has a place of its own, to which it is brought
//! when it must make room, or when a host task reads it, and which otherwise nobody touches.
//!
//! A scope gets a datum of its own, with hazards of its own, over the same entry. So the exclusive borrow for the length of the scope is all
//! that keeps two scopes from changing it at once, and readers may share it.

use crate::{
    device::{HostRegion, Portable},
    handle::Handle,
    placement::Places,
    runtime::Runtime,
    schedule::Resource,
    scope::{Lent, Scope},
    task::TaskSpec,
};
use std::panic::Location;

/// A value that can be a [`Resident`]: it has a place in host memory, and makes views of it for the scopes that it is lent to.
///
/// # Safety
/// The bytes of the region are copied to and from devices at any time, whoever has the value:
/// - the region belongs to the value alone, is the same when the value is moved, and is there until it is dropped;
/// - any bytes in it are valid, and those of one value are valid in another of the type;
/// - no method of this trait, nor any other way to the value but its views, reads or writes the region, or makes a reference to it;
/// - the views' [`residence`](Portable::residence) is this region, and they make its bytes accessible only through themselves. Tasks have
///   the right to that; nobody else sees a view;
/// - dropping a view uses nothing that it borrows (as for [`View`](crate::View)).
pub unsafe trait Lend: Send + Sync + 'static {
    /// What the views are made with, besides the value.
    type With;
    /// What tasks get that may change it.
    type Mut<'s>: Portable + Send + Sync + 's;
    /// What tasks get that only read it.
    type Ref<'s>: Portable + Send + Sync + 's;

    /// Its place in host memory; none if it has no bytes.
    fn region(&self) -> Option<HostRegion>;

    /// A view for tasks that may change it.
    fn lend_mut<'s>(&'s mut self, with: &Self::With) -> Self::Mut<'s>;

    /// A view for tasks that only read it.
    fn lend_ref<'s>(&'s self, with: &Self::With) -> Self::Ref<'s>;
}

/// A value whose replicas stay where they are between scopes: what devices have of it is still there for the next one.
///
/// Dropping it drops the value, without bringing it home first. It may be dropped after its runtime.
pub struct Resident<T: Lend> {
    /// Tasks name what was lent; this datum holds the entry, and ends the value when nothing is copied to or from it any more.
    handle: Handle<T>,
}

impl<T: Lend> Resident<T> {
    /// Gives a value to a runtime. It is in host memory so far.
    pub fn new(rt: &Runtime, value: T) -> Self {
        let host = value.region();
        let handle = rt.register(value);
        let places = Places::of(&rt.shared).filter(|places| places.devices.any_memory());
        if let (Some(host), Some(places)) = (host, places) {
            handle.datum().first_execution().elsewhere.stay(&places.memory, host);
        }
        Self { handle }
    }

    /// Lends it to a scope, whose tasks may change it. Devices keep what they have of it: neither now nor when the scope ends is anything
    /// moved.
    ///
    /// [`Lent::renaming`] has no effect on it.
    ///
    /// If the scope is another runtime's, it is refused, and the scope is cancelled with that error, as for a task that can not
    /// be right ([`Scope::spawn`]).
    #[track_caller]
    pub fn lend<'s>(&'s mut self, s: &'s Scope<'s, '_>, with: &T::With) -> Lent<'s, T::Mut<'s>> {
        let is_own = self.check(s, Location::caller());
        // SAFETY: the place is valid until the handle is dropped. No task names the handle's own datum, and this value is borrowed
        // exclusively, so no other reference is there.
        let view = unsafe { self.handle.datum().home().as_mut() }.lend_mut(with);
        // SAFETY: the promise of `Lend`: the view's destructor uses nothing that it borrows.
        self.share(unsafe { s.own_unchecked(view) }, is_own)
    }

    /// Lends it to a scope, whose tasks only read it; it may be lent so to several scopes at a time. It is refused as
    /// [`lend`](Self::lend) refuses it.
    #[track_caller]
    pub fn lend_ref<'s>(&'s self, s: &'s Scope<'s, '_>, with: &T::With) -> Lent<'s, T::Ref<'s>> {
        let is_own = self.check(s, Location::caller());
        // SAFETY: as above, but the value is borrowed, so whoever else has a reference only reads.
        let view = unsafe { self.handle.datum().home().as_ref() }.lend_ref(with);
        // SAFETY: the promise of `Lend`: the view's destructor uses nothing that it borrows.
        self.share(unsafe { s.own_unchecked(view) }, is_own)
    }

    /// What was lent uses the entry of this value, unless it was refused: then no task of the scope runs any more.
    fn share<'s, V: 's>(&self, lent: Lent<'s, V>, is_own: bool) -> Lent<'s, V> {
        if is_own {
            self.handle.datum().first_execution().elsewhere.share_with(&lent.datum().first_execution().elsewhere);
        }
        lent
    }

    /// Whether the scope is the runtime's own. Another one is cancelled.
    fn check(&self, s: &Scope<'_, '_>, site: &'static Location<'static>) -> bool {
        let is_own = std::ptr::eq(self.handle.shared(), s.inserter().shared);
        if !is_own {
            s.refuse(&s.inserter().refusal(&TaskSpec::new("lend"), site, "a resident value of another runtime"));
        }
        is_own
    }

    /// Whether it was made for this runtime, to whose scopes it can be lent.
    #[must_use]
    pub fn is_of(&self, rt: &Runtime) -> bool {
        std::ptr::eq(self.handle.shared(), &raw const *rt.shared)
    }

    /// Who has the value, or will have it when all that was issued is done: the host, devices, or both. Nobody, if it was lost: with the only
    /// device that had it, or because a device failed that was to write it. It is there again when it has been written anew.
    #[must_use]
    pub fn holders(&self) -> Vec<Resource> {
        let entry = self.handle.datum().first_execution().elsewhere.entry();
        match entry.zip(Places::of(self.handle.shared())) {
            None => vec![Resource::HOST],
            Some((entry, places)) => places.memory.lock().holders(entry),
        }
    }
}
