//! Tasks that a policy of the user's gave to the wrong thread, until one that may run them looks.
//!
//! Running a task on a thread that may not have it breaks what the runtime relies on: a guest would run a task of a scope that
//! it is not in, a host worker one whose predecessors are still at work on a device, one runtime the task of another. The
//! policies that come with the runtime heed what a thread [wants](crate::Want). Those that were handed in are checked here, and a
//! task that went astray is kept for whoever may run it.
//!
//! The policy may be shared by several runtimes. A task of another one goes back to it, and fails its scope: which of them
//! runs a task would otherwise be chance.

use crate::{
    error::{Cause, Failure},
    schedule::{Policy, ReadyTask, Want},
    seat::Strays,
    shared::Shared,
    sync::held,
};
use std::{
    ptr::NonNull,
    sync::{Arc, Mutex, Weak, atomic::AtomicU64},
};

/// The runtimes with policies of the user's.
static CHECKED: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// How many tasks were numbered in them so far.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

impl Shared {
    /// From here on other runtimes can give its tasks back.
    pub(crate) fn enlist(self: &Arc<Self>) {
        if self.strays.is_some() {
            let mut all = held(CHECKED.lock());
            all.retain(|shared| shared.strong_count() > 0);
            all.push(Arc::downgrade(self));
        }
    }

    /// What the policy answers to a thread that wants such a task.
    #[inline]
    pub(crate) fn ask_policy(
        &self,
        want: &Want<'_>,
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
        want: &Want<'_>,
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

    /// Whether the task is one of this runtime's.
    ///
    /// Only runtimes with policies of the user's meet others' tasks, and each others' only. They number their tasks together, and a
    /// policy can not change a task's number; so a slot has it only where the task is.
    #[inline]
    pub(crate) fn is_own(&self, task: &ReadyTask) -> bool {
        self.strays.is_none()
            || !task.is_simulated() && self.slab.find(task.slot()).is_some_and(|slot| slot.id() == task.id())
    }

    /// The count from which tasks get their numbers.
    pub(crate) fn numbers(&self) -> &AtomicU64 {
        if self.strays.is_some() { &NUMBERS } else { &self.own_numbers }
    }

    /// Keeps a task for whoever may run it, and wakes them.
    fn keep_stray(&self, strays: &Strays, task: ReadyTask) {
        // Looked up before: from then on another thread may run the task and free its slot.
        let scope = NonNull::from(self.slab.slot(task.slot()).scope());
        strays.put(task);
        self.placement.iter().for_each(|placement| placement.notify());
        self.wake_all_for(scope);
    }

    /// Takes back a task that the policy has given to another runtime, and fails its scope.
    fn take_back(&self, task: ReadyTask) {
        let Some(strays) = &self.strays else { unreachable!("only such runtimes are enlisted") };
        let slot = self.slab.slot(task.slot());
        // SAFETY: the task is ready, and this thread has it, so nobody else changes it.
        let label = unsafe { slot.exec_shared() }.label;
        let why =
            format!("the policy `{}` gave it to another runtime; each needs a policy of its own", self.policy.name());
        let (name, site, cause) = (label.name, label.site, Cause::Refused(why));
        slot.scope().cancel(&Arc::new(Failure { task: task.id(), name, site, cause }));
        self.keep_stray(strays, task);
    }
}

/// Gives a task back to its runtime. One that is gone has no tasks.
#[cold]
fn give_back(task: ReadyTask) {
    // Dropped without the lock: a runtime's last owner runs what is left.
    let all: Vec<_> = held(CHECKED.lock()).iter().filter_map(Weak::upgrade).collect();
    if let Some(owner) = all.iter().find(|shared| shared.is_own(&task)) {
        owner.take_back(task);
    }
}
