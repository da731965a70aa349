//! Strays: tasks that a custom policy gave to the wrong thread. They are kept until a thread that may run them asks for
//! a task.
//!
//! Running a task on the wrong thread would break assumptions of the runtime: a guest would run a task of another
//! scope, a host worker would run a task whose predecessors are still running on a device, or one runtime would run a
//! task of another. The built-in policies respect the [`TaskFilter`] of each thread. The answers of custom
//! policies are checked here, and a wrongly given task is kept for a thread that may run it.
//!
//! Several runtimes may share a policy by mistake. A task of another runtime is returned to that runtime, and fails its
//! scope; otherwise it would be left to chance which of them runs it.

use crate::{
    error::{Cause, Failure},
    schedule::{Policy, ReadyTask, TaskFilter},
    seat::Strays,
    shared::Shared,
    sync::held,
};
use std::{
    ptr::NonNull,
    sync::{Arc, Mutex, Weak, atomic::AtomicU64},
};

/// The runtimes with custom policies.
static REGISTERED: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// The counter of task numbers, shared by these runtimes.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

impl Shared {
    /// Registers this runtime, so that other runtimes can return its tasks.
    pub(crate) fn register_for_strays(self: &Arc<Self>) {
        if self.strays.is_some() {
            let mut all = held(REGISTERED.lock());
            all.retain(|shared| shared.strong_count() > 0);
            all.push(Arc::downgrade(self));
        }
    }

    /// Asks the policy for a task, and checks the answer of a custom policy.
    #[inline]
    pub(crate) fn ask_policy(
        &self,
        want: &TaskFilter<'_>,
        ask: impl Fn(&dyn Policy) -> Option<ReadyTask>,
    ) -> Option<ReadyTask> {
        match &self.strays {
            None => ask(&*self.policy),
            Some(strays) => self.ask_and_check(strays, want, &ask),
        }
    }

    #[cold]
    fn ask_and_check(
        &self,
        strays: &Strays,
        want: &TaskFilter<'_>,
        ask: &dyn Fn(&dyn Policy) -> Option<ReadyTask>,
    ) -> Option<ReadyTask> {
        if let Some(task) = strays.take(want) {
            return Some(task);
        }
        loop {
            let task = ask(&*self.policy)?;
            if !self.is_own(&task) {
                give_back(task);
            } else if want.accepts(&task) {
                return Some(task);
            } else {
                self.keep_stray(strays, task);
            }
        }
    }

    /// Returns whether the task belongs to this runtime.
    ///
    /// Only runtimes with custom policies can receive each other's tasks. They share one counter of task numbers, and a
    /// policy cannot change a task's number. So a slot has that number only in the task's own runtime.
    #[inline]
    pub(crate) fn is_own(&self, task: &ReadyTask) -> bool {
        self.strays.is_none()
            || !task.is_simulated() && self.slab.checked_slot(task.slot()).is_some_and(|slot| slot.id() == task.id())
    }

    /// Returns the counter from which tasks get their numbers.
    pub(crate) fn numbers(&self) -> &AtomicU64 {
        if self.strays.is_some() { &NUMBERS } else { &self.own_numbers }
    }

    /// Keeps a task for a thread that may run it, and wakes such threads.
    fn keep_stray(&self, strays: &Strays, task: ReadyTask) {
        // Read before `put`: afterwards another thread may run the task and free its slot.
        let scope = NonNull::from(self.slab.slot(task.slot()).scope());
        strays.put(task);
        self.placement.iter().for_each(|placement| placement.notify());
        self.wake_all_for(scope);
    }

    /// Takes back a task that the policy has given to another runtime, and fails its scope.
    fn take_back(&self, task: ReadyTask) {
        let Some(strays) = &self.strays else { unreachable!("only such runtimes are registered") };
        let slot = self.slab.slot(task.slot());
        // SAFETY: the task is ready and this thread holds it, so no other thread changes it.
        let label = unsafe { slot.exec_shared() }.label;
        let why = format!(
            "the policy `{}` gave the task to another runtime; each runtime needs its own policy",
            self.policy.name()
        );
        let cause = Cause::Refused(why);
        slot.scope().cancel(&Arc::new(Failure { task: task.id(), name: label.name, site: label.site, cause }));
        self.keep_stray(strays, task);
    }
}

/// Returns a task to its runtime. If that runtime has ended, the task is dropped.
#[cold]
fn give_back(task: ReadyTask) {
    // Dropped after the lock is released: dropping the last reference to a runtime runs its remaining tasks.
    let all: Vec<_> = held(REGISTERED.lock()).iter().filter_map(Weak::upgrade).collect();
    if let Some(owner) = all.iter().find(|shared| shared.is_own(&task)) {
        owner.take_back(task);
    }
}
