//! Codelets: named operations with a cost and one implementation per kind of device.

use super::{
    DevicePlacement,
    body::{CallVtable, VisitResidence},
    table::{Kinds, Takers},
};
use crate::{
    datum::{Exclusion, Execution},
    device::{Cost, DeviceError, DeviceKind, DeviceRegion, IssueContext, Portable, Residence},
    error::{BoxError, Cause, Error, Failure},
    hazard::Mode,
    insert::{Accesses, Bound, Item, discard_bound, modes, run_bound, sealed},
    panics::drop_guarded,
    recording::TaskId,
    scope::Scope,
    task::{DeviceTable, Fail, Runnable, TaskResult, TaskSpec},
};
use std::{mem::needs_drop, panic::Location, ptr::NonNull, sync::Arc};

/// A read of a `T`, in a codelet's signature.
pub type Reads<T> = modes::BoundTo<T, { modes::READ }>;
/// A write of a `T`, in a codelet's signature.
pub type Writes<T> = modes::BoundTo<T, { modes::WRITE }>;
/// A read and write of a `T`, in a codelet's signature.
pub type Updates<T> = modes::BoundTo<T, { modes::READ_WRITE }>;

/// A datum as an implementation for a device sees it: its location, without the right to access it now.
///
/// Work in a queue may access the datum, in the access's mode, from when the queue reaches the work until the work is
/// finished. The author of such work is responsible for this.
pub struct Operand<T: ?Sized> {
    place: NonNull<T>,
    region: Option<DeviceRegion>,
}

impl<T: ?Sized> Clone for Operand<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Operand<T> {}

// SAFETY: it is an address. Only unsafe code can access the datum through it, ordered by the task's hazards, and data
// are `Send + Sync`.
unsafe impl<T: ?Sized> Send for Operand<T> {}

impl<T: ?Sized> Operand<T> {
    /// Returns the datum's address in host memory, for devices that work there.
    #[must_use]
    pub fn as_ptr(self) -> *mut T {
        self.place.as_ptr()
    }

    /// Returns the datum's region in the device's own memory.
    ///
    /// # Errors
    /// If the device has no memory of its own.
    pub fn region(self) -> Result<DeviceRegion, DeviceError> {
        self.region.ok_or_else(|| DeviceError::new("the operands are in host memory, not in the device's memory"))
    }
}

/// Accesses that a device can take: reads, writes and updates, and groups of them.
pub trait Operands: Bound {
    /// [`Operand`]s, in the shape of the accesses.
    type Of;

    /// Returns the operands, given the regions of those in the device's memory, in the order of the accesses.
    fn operands(&self, regions: &mut dyn Iterator<Item = DeviceRegion>) -> Self::Of;

    /// Visits the host region of each datum in the order of the accesses; returns whether all are columns.
    ///
    /// # Safety
    /// No host task has one of the data by `&mut`.
    #[doc(hidden)]
    unsafe fn residences(&self, visit: &mut dyn FnMut(Residence<'_>)) -> bool;
}

impl<T: ?Sized + Portable, const MODE: u8> Operands for modes::BoundTo<T, MODE>
where
    modes::BoundTo<T, MODE>: Bound,
{
    type Of = Operand<T>;

    fn operands(&self, regions: &mut dyn Iterator<Item = DeviceRegion>) -> Operand<T> {
        Operand { place: self.place(), region: regions.next() }
    }

    unsafe fn residences(&self, visit: &mut dyn FnMut(Residence<'_>)) -> bool {
        // SAFETY: the datum lives until its tasks are done, and no host task has it by `&mut`, as the caller ensures.
        unsafe { self.place().as_ref() }.residence().map(visit).is_some()
    }
}

impl<B: Operands, const N: usize> Operands for [B; N] {
    type Of = [B::Of; N];

    fn operands(&self, regions: &mut dyn Iterator<Item = DeviceRegion>) -> Self::Of {
        self.each_ref().map(|one| one.operands(regions))
    }

    unsafe fn residences(&self, visit: &mut dyn FnMut(Residence<'_>)) -> bool {
        // Each element is visited in any case. SAFETY: no host task has one of these data by `&mut`, as the caller
        // ensures.
        self.iter().fold(true, |all, one| all & unsafe { one.residences(visit) })
    }
}

impl<B: Operands> Operands for Vec<B> {
    type Of = Vec<B::Of>;

    fn operands(&self, regions: &mut dyn Iterator<Item = DeviceRegion>) -> Self::Of {
        self.iter().map(|one| one.operands(regions)).collect()
    }

    unsafe fn residences(&self, visit: &mut dyn FnMut(Residence<'_>)) -> bool {
        // Each element is visited in any case. SAFETY: no host task has one of these data by `&mut`, as the caller
        // ensures.
        self.iter().fold(true, |all, one| all & unsafe { one.residences(visit) })
    }
}

macro_rules! tuple {
    ($($name:ident $at:tt),*) => {
        impl<$($name: Operands),*> Operands for ($($name,)*) {
            type Of = ($($name::Of,)*);

            fn operands(&self, regions: &mut dyn Iterator<Item = DeviceRegion>) -> Self::Of {
                ($(self.$at.operands(regions),)*)
            }

            unsafe fn residences(&self, visit: &mut dyn FnMut(Residence<'_>)) -> bool {
                // SAFETY: no host task has one of these data by `&mut`, as the caller ensures.
                let each = [$(unsafe { self.$at.residences(visit) }),*];
                each.iter().all(|&is_resident| is_resident)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);

type HostFn<B, P> = dyn for<'t> Fn(Item<'t, B>, &P) -> Result<(), BoxError> + Send + Sync;
type IssueFn<B, P> = dyn Fn(&mut IssueContext<'_>, <B as Operands>::Of, &P) -> Result<(), DeviceError> + Send + Sync;
type ScratchBytesFn<B, P> = dyn Fn(<B as Operands>::Of, &P) -> usize + Send + Sync;

/// The implementation for one kind of device.
struct DeviceImplementation<B: Operands, P> {
    kind: DeviceKind,
    scratch_bytes: Option<Arc<ScratchBytesFn<B, P>>>,
    issue: Arc<IssueFn<B, P>>,
}

impl<B: Operands, P> Clone for DeviceImplementation<B, P> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, scratch_bytes: self.scratch_bytes.clone(), issue: self.issue.clone() }
    }
}

/// A named operation on data of the shape `B`, with parameters `P` and one implementation per kind of device.
///
/// The shape is written with [`Reads`], [`Writes`] and [`Updates`]. A codelet is a value: implementations can be added
/// where it is created or later.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::{Codelet, Cost, Reads, Runtime, Updates};
/// # fn main() -> Result<(), superscalar::Error> {
/// let axpy = Codelet::<(Reads<Vec<f64>>, Updates<Vec<f64>>), f64>::new("axpy")
///     .cost(|_| Cost { flops: 2.0 * 100.0, bytes: 24.0 * 100.0, level: None })
///     .on_host(|(x, y), alpha| {
///         y.iter_mut().zip(x).for_each(|(y, x)| *y += alpha * x);
///         Ok(())
///     });
/// let rt = Runtime::builder().workers(2).build()?;
/// let (mut x, mut y) = (vec![1.0; 100], vec![1.0; 100]);
/// rt.scope(|s| {
///     let (x, y) = (s.lend(&mut x), s.lend(&mut y));
///     axpy.spawn(s, (x.read(), y.read_write()), 2.0);
/// })?;
/// assert_eq!(y[99], 3.0);
/// # Ok(())
/// # }
/// ```
pub struct Codelet<B: Operands, P>(Arc<Implementations<B, P>>);

struct Implementations<B: Operands, P> {
    name: &'static str,
    cost: fn(&P) -> Cost,
    host: Option<Arc<HostFn<B, P>>>,
    devices: Vec<DeviceImplementation<B, P>>,
}

impl<B: Operands, P> Clone for Implementations<B, P> {
    fn clone(&self) -> Self {
        Self { name: self.name, cost: self.cost, host: self.host.clone(), devices: self.devices.clone() }
    }
}

impl<B: Operands, P> Clone for Codelet<B, P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Operands + Send, P: Send> Codelet<B, P> {
    /// Creates a codelet without implementations.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self(Arc::new(Implementations { name, cost: |_| Cost::default(), host: None, devices: Vec::new() }))
    }

    /// Sets the cost of a call.
    #[must_use]
    pub fn cost(mut self, cost: fn(&P) -> Cost) -> Self {
        Arc::make_mut(&mut self.0).cost = cost;
        self
    }

    /// Sets the implementation for host workers.
    #[must_use]
    pub fn on_host(
        mut self,
        run: impl for<'t> Fn(Item<'t, B>, &P) -> Result<(), BoxError> + Send + Sync + 'static,
    ) -> Self {
        Arc::make_mut(&mut self.0).host = Some(Arc::new(run));
        self
    }

    /// Sets the implementation for a kind of device: it puts the work into the queue and returns. It replaces an
    /// earlier one.
    #[must_use]
    pub fn on_device(
        self,
        kind: DeviceKind,
        issue: impl Fn(&mut IssueContext<'_>, B::Of, &P) -> Result<(), DeviceError> + Send + Sync + 'static,
    ) -> Self {
        self.implemented(DeviceImplementation { kind, scratch_bytes: None, issue: Arc::new(issue) })
    }

    /// Like [`on_device`](Self::on_device), for an implementation that needs working memory in the device's heap.
    /// `scratch_bytes` computes its size from the shapes of the operands (whose offsets are not known yet) and the
    /// parameters. The implementation finds the memory at [`IssueContext::scratch`].
    #[must_use]
    pub fn on_device_with_scratch(
        self,
        kind: DeviceKind,
        scratch_bytes: impl Fn(B::Of, &P) -> usize + Send + Sync + 'static,
        issue: impl Fn(&mut IssueContext<'_>, B::Of, &P) -> Result<(), DeviceError> + Send + Sync + 'static,
    ) -> Self {
        self.implemented(DeviceImplementation {
            kind,
            scratch_bytes: Some(Arc::new(scratch_bytes)),
            issue: Arc::new(issue),
        })
    }

    fn implemented(mut self, implementation: DeviceImplementation<B, P>) -> Self {
        let devices = &mut Arc::make_mut(&mut self.0).devices;
        devices.retain(|known| known.kind != implementation.kind);
        devices.push(implementation);
        self
    }

    /// Spawns a call. An invalid call is refused and cancels the scope, as in [`Scope::spawn`].
    #[track_caller]
    pub fn spawn<'scope, A>(&self, scope: &'scope Scope<'scope, '_>, accesses: A, parameters: P)
    where
        A: Accesses<'scope> + sealed::Accesses<Bound = B>,
        P: 'scope,
    {
        self.spawn_as(scope, self.0.name, accesses, parameters);
    }

    /// Spawns a call with this name, priority, lock and index; otherwise like [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_as<'scope, A>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        spec: impl Into<TaskSpec>,
        accesses: A,
        parameters: P,
    ) where
        A: Accesses<'scope> + sealed::Accesses<Bound = B>,
        P: 'scope,
    {
        if let Err(refusal) = self.try_spawn_as(scope, spec, accesses, parameters) {
            scope.refuse(&refusal);
        }
    }

    /// Spawns a call with this name, priority, lock and index, and returns its serial number. The codelet's cost
    /// replaces what the spec leaves out.
    ///
    /// # Errors
    /// As for [`Scope::try_spawn`], and if no worker or device of this runtime can run it.
    #[track_caller]
    pub fn try_spawn_as<'scope, A>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        spec: impl Into<TaskSpec>,
        accesses: A,
        parameters: P,
    ) -> Result<TaskId, Error>
    where
        A: Accesses<'scope> + sealed::Accesses<Bound = B>,
        P: 'scope,
    {
        let (spec, site, inserter) = (spec.into(), Location::caller(), scope.inserter());
        let Cost { flops, bytes, level } = (self.0.cost)(&parameters);
        let spec = TaskSpec {
            flops: if spec.flops > 0.0 { spec.flops } else { flops },
            bytes: if spec.bytes > 0.0 { spec.bytes } else { bytes },
            level: spec.level.or(level),
            ..spec
        };
        let takers = DevicePlacement::of(inserter.shared)
            .map_or_else(|| self.0.takers(&Kinds::default()), |places| self.0.takers(&places.devices.kinds));
        if !takers.can_run(spec.lock) {
            return Err(inserter.refusal(&spec, site, "no worker or device of this runtime can run it with its lock"));
        }
        let implementations = self.0.clone();
        let can_travel = takers.devices() != 0;
        inserter.insert(&spec, site, accesses, |bound| {
            if can_travel {
                bound.uses(&mut |execution, _| execution.set_has_device_tasks());
            }
            CodeletCall { implementations, bound, parameters }
        })
    }
}

impl<B: Operands, P> Implementations<B, P> {
    fn takers(&self, kinds: &Kinds) -> Takers {
        let host = if self.host.is_some() { Takers::HOST } else { Takers::NOBODY };
        self.devices.iter().fold(host, |takers, one| takers.or(kinds.bit(one.kind)))
    }
}

/// One call of a codelet.
struct CodeletCall<B: Operands, P> {
    implementations: Arc<Implementations<B, P>>,
    bound: B,
    parameters: P,
}

impl<B: Operands, P> CodeletCall<B, P> {
    const VTABLE: &'static CallVtable = &CallVtable {
        // SAFETY: the table is used with pointers to this type only; the call is valid and only read here.
        takers: |at, kinds| unsafe { &*at.cast::<Self>() }.takers(kinds),
        // SAFETY: the pointer is to a valid call of this type. The caller ensures that every predecessor is done or
        // issued.
        residences: |at, visit| unsafe { (*at.cast::<Self>()).residences(visit) },
        // SAFETY: the table is used with pointers to this type only; the call is valid and only read here.
        scratch_bytes: |at, kind, shapes| unsafe { &*at.cast::<Self>() }.scratch_bytes(kind, shapes),
        // SAFETY: the pointer is to a valid call of this type, and only the issuer that has taken the task uses the
        // call.
        issue: |at, context, regions| unsafe { &mut *at.cast::<Self>() }.issue(context, regions),
    };

    fn takers(&self, kinds: &Kinds) -> Takers {
        // A running host body holds the mutual exclusion of commuting accesses; queues cannot hold it.
        if B::COMMUTES { Takers::HOST } else { self.implementations.takers(kinds) }
    }

    /// # Safety
    /// Every predecessor is done, or issued to a device.
    unsafe fn residences(&self, visit: VisitResidence<'_>) -> bool {
        // A commuting task runs on the host, and may be ready while another one has the data by `&mut`.
        // SAFETY: for other tasks, every predecessor is done, or issued to a device, which has no references. So nobody
        // has the data by `&mut`.
        !B::COMMUTES && unsafe { self.bound.residences(visit) }
    }

    fn scratch_bytes(&self, kind: DeviceKind, shapes: &mut dyn Iterator<Item = DeviceRegion>) -> usize {
        let found = self.implementations.devices.iter().find(|one| one.kind == kind);
        let Some(scratch_bytes) = found.and_then(|one| one.scratch_bytes.as_ref()) else { return 0 };
        scratch_bytes(self.bound.operands(shapes), &self.parameters)
    }

    fn issue(&mut self, context: &mut IssueContext<'_>, regions: &[DeviceRegion]) -> Result<(), DeviceError> {
        let kind = context.kind;
        let Some(found) = self.implementations.devices.iter().find(|one| one.kind == kind) else {
            return Err(DeviceError::new(format!("no implementation for devices of kind `{}`", kind.0)));
        };
        let operands = self.bound.operands(&mut regions.iter().copied());
        (found.issue)(context, operands, &self.parameters)
    }
}

impl<B: Operands, P> Runnable for CodeletCall<B, P> {
    const DEVICE_TABLE: Option<DeviceTable> = Some(DeviceTable(std::ptr::from_ref(Self::VTABLE).cast()));

    fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
        self.bound.exclusions(into);
    }

    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        self.bound.uses(visit);
    }

    fn run(self, fail: Fail<'_>) -> TaskResult {
        let Self { implementations, bound, parameters } = self;
        run_bound(
            bound,
            (implementations, parameters),
            |bound, (implementations, parameters)| {
                let Some(host) = &implementations.host else { unreachable!("refused by `can_run`") };
                // SAFETY: the task is running (the contract of `Runnable::run`), and `item` is called once.
                host(unsafe { sealed::Bound::item(bound) }, &parameters)
            },
            fail,
        )
    }

    fn complete(self, result: Result<(), Cause>, fail: Fail<'_>) -> TaskResult {
        // If an input was poisoned after the work was issued, the result is invalid.
        if let Some(failure) = self.bound.poison() {
            self.discard(&failure);
            return TaskResult::Cancelled(failure);
        }
        let Self { implementations, bound, parameters } = self;
        // Their destructors may panic; this does not change the task's result. Mostly there is nothing to drop.
        let last = Arc::into_inner(implementations);
        if last.is_some() || needs_drop::<P>() {
            drop_guarded((last, parameters));
        }
        match result {
            Ok(()) => {
                bound.settle(Ok(()));
                TaskResult::Completed
            }
            Err(cause) => {
                let failure = fail(cause);
                bound.settle(Err(&failure));
                TaskResult::Failed(failure)
            }
        }
    }

    fn discard(self, failure: &Arc<Failure>) {
        discard_bound(self.bound, (self.implementations, self.parameters), failure);
    }
}
