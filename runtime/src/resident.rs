//! Values that stay in device memory between scopes.
//!
//! Data lent to a scope return to the host when the scope ends. A [`Resident`] does not: it owns an entry in the
//! directory, and every scope that it is lent to uses that entry (`memory/mod.rs`, *Resident values*). It also has its
//! own host memory. The value is copied there when it is evicted or when a host task reads it; otherwise that memory is
//! unused.
//!
//! Each scope gets its own datum with its own hazards for the same entry. So only the exclusive borrow for the length
//! of the scope prevents two scopes from changing the value at the same time. Scopes that only read may share it.

use crate::{
    device::{HostRegion, Portable},
    handle::Handle,
    placement::DevicePlacement,
    runtime::Runtime,
    schedule::Resource,
    scope::{Lent, Scope},
    task::TaskSpec,
};
use std::panic::Location;

/// A value that can be a [`Resident`]: it has host memory, and makes the views that tasks of a scope use.
///
/// # Safety
/// The bytes of the region are copied to and from devices at any time, regardless of who owns or borrows the value:
/// - The region belongs to the value alone, does not change when the value is moved, and is valid until the value is
///   dropped.
/// - Any bytes in it are valid, and the bytes of one value are valid in another value of the type.
/// - Only the views access the region: no method of this trait, and no other use of the value, reads or writes the
///   region or makes a reference to it.
/// - The views' [`residence`](Portable::residence) is this region, and its bytes are accessible only through the views.
///   Only tasks see the views.
/// - Dropping a view uses nothing that it borrows (as for [`View`](crate::View)).
pub unsafe trait Lendable: Send + Sync + 'static {
    /// The data needed to make a view, besides the value.
    type With;
    /// The view for tasks that may change the value.
    type Mut<'s>: Portable + Send + Sync + 's;
    /// The view for tasks that only read the value.
    type Ref<'s>: Portable + Send + Sync + 's;

    /// Returns the value's host memory; `None` if the value has no bytes.
    fn region(&self) -> Option<HostRegion>;

    /// Returns a view for tasks that may change the value.
    fn lend_mut<'s>(&'s mut self, with: &Self::With) -> Self::Mut<'s>;

    /// Returns a view for tasks that only read the value.
    fn lend_ref<'s>(&'s self, with: &Self::With) -> Self::Ref<'s>;
}

/// A value whose replicas stay on the devices between scopes, where the next scope can use them.
///
/// Dropping it drops the value without copying it to the host. It may outlive its runtime.
pub struct Resident<T: Lendable> {
    /// Holds the entry, and drops the value when no copy to or from it is in progress. Tasks name the lent views
    /// instead.
    handle: Handle<T>,
}

impl<T: Lendable> Resident<T> {
    /// Registers a value, which is in host memory, with a runtime.
    pub fn new(rt: &Runtime, value: T) -> Self {
        let host = value.region();
        let handle = rt.register(value);
        let places = DevicePlacement::of(&rt.shared).filter(|places| places.devices.any_memory());
        if let (Some(host), Some(places)) = (host, places) {
            handle.datum().first_execution().elsewhere.open_resident(&places.memory, host);
        }
        Self { handle }
    }

    /// Lends the value to a scope whose tasks may change it. Nothing is copied, neither now nor when the scope ends.
    ///
    /// [`Lent::renaming`] has no effect on it.
    ///
    /// If the scope belongs to another runtime, the call is refused and the scope is cancelled with that error, as for
    /// an invalid task ([`Scope::spawn`]).
    #[track_caller]
    pub fn lend<'s>(&'s mut self, s: &'s Scope<'s, '_>, with: &T::With) -> Lent<'s, T::Mut<'s>> {
        let is_own = self.check(s, Location::caller());
        // SAFETY: the handle owns the value and keeps its address valid. No task names the handle's own datum, and
        // `self` is borrowed exclusively, so no other reference to the value exists.
        let view = unsafe { self.handle.datum().home().as_mut() }.lend_mut(with);
        // SAFETY: `T: Lendable` guarantees that the view's destructor uses nothing that it borrows.
        self.share(unsafe { s.own_unchecked(view) }, is_own)
    }

    /// Lends the value to a scope whose tasks only read it. It can be lent to several scopes at a time. A scope of
    /// another runtime is refused as in [`lend`](Self::lend).
    #[track_caller]
    pub fn lend_ref<'s>(&'s self, s: &'s Scope<'s, '_>, with: &T::With) -> Lent<'s, T::Ref<'s>> {
        let is_own = self.check(s, Location::caller());
        // SAFETY: the handle owns the value and keeps its address valid. `self` is borrowed, so all other references
        // only read.
        let view = unsafe { self.handle.datum().home().as_ref() }.lend_ref(with);
        // SAFETY: `T: Lendable` guarantees that the view's destructor uses nothing that it borrows.
        self.share(unsafe { s.own_unchecked(view) }, is_own)
    }

    /// Lets the lent datum use the entry of this value. A refused one does not get it, and no task of its scope will
    /// run.
    fn share<'s, V: 's>(&self, lent: Lent<'s, V>, is_own: bool) -> Lent<'s, V> {
        if is_own {
            self.handle.datum().first_execution().elsewhere.share_with(&lent.datum().first_execution().elsewhere);
        }
        lent
    }

    /// Returns whether the scope belongs to this value's runtime, and cancels the scope otherwise.
    fn check(&self, s: &Scope<'_, '_>, site: &'static Location<'static>) -> bool {
        let is_own = std::ptr::eq(self.handle.shared(), s.inserter().shared);
        if !is_own {
            s.refuse(&s.inserter().refusal(&TaskSpec::new("lend"), site, "a resident value of another runtime"));
        }
        is_own
    }

    /// Returns whether the value belongs to this runtime and can be lent to its scopes.
    #[must_use]
    pub fn is_of(&self, rt: &Runtime) -> bool {
        std::ptr::eq(self.handle.shared(), &raw const *rt.shared)
    }

    /// Returns the resources that have the value, or will have it when all issued work is done: the host, devices, or
    /// both. The list is empty if the value was lost: its only device was lost, or a device failed to write it. A new
    /// write makes the value valid again.
    #[must_use]
    pub fn holders(&self) -> Vec<Resource> {
        let entry = self.handle.datum().first_execution().elsewhere.entry();
        match entry.zip(DevicePlacement::of(self.handle.shared())) {
            None => vec![Resource::HOST],
            Some((entry, places)) => places.memory.lock().holders(entry),
        }
    }
}
