//! Handles to data that live at least as long as a scope.

use crate::{
    datum::{Datum, Route},
    insert::{AccessTarget, Commute, Invariant, Read, ReadWrite, Reduce, Reduction, Write},
    schedule::Resource,
};
use std::{marker::PhantomData, ptr::NonNull};

/// A handle to data lent to a scope by [`Scope::lend`](crate::Scope::lend) and its siblings.
///
/// Copying the handle does not copy the data. Its methods create the accesses of tasks. It belongs to the thread that
/// opened the scope.
pub struct Lent<'d, T: ?Sized> {
    datum: NonNull<Datum<T>>,
    lifetime: Invariant<'d>,
}

impl<T: ?Sized> Clone for Lent<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Lent<'_, T> {}

impl<'d, T: ?Sized> Lent<'d, T> {
    /// # Safety
    /// The datum lives for `'d`, and until every task that names it is done.
    pub(crate) unsafe fn new(datum: NonNull<Datum<T>>) -> Self {
        Self { datum, lifetime: PhantomData }
    }

    fn target(&self) -> AccessTarget<'d, 'd, T> {
        // SAFETY: by the contract of `new`, the datum lives for `'d`, and until every task that names it is done.
        unsafe { AccessTarget::new(self.datum) }
    }

    pub(crate) fn datum(&self) -> &'d Datum<T> {
        // SAFETY: by the contract of `new`, the datum lives for `'d`.
        unsafe { self.datum.as_ref() }
    }

    /// Deals the datum to a resource. Policies that use this hint run the tasks that update the datum there. It may
    /// change at any time; `None` removes it.
    pub fn deal_to(&self, resource: Option<Resource>) {
        // SAFETY: by the contract of `new`, the datum lives for `'d`; a lent handle belongs to its scope's thread,
        // which is the inserter.
        unsafe { self.datum.as_ref().versions() }.for_each(|version| version.execution.home.set(resource));
    }

    /// Plans the copies of the value to devices: from the first of these memories to the second, from there to the
    /// third, and so on. The first device that needs the value has it copied to all of them at once, and each memory
    /// forwards the parts that have arrived. Memories count once; at most eight count, and only the first 14 devices.
    ///
    /// It is a hint, which may change at any time; the last one counts, also for tasks that were inserted before. A
    /// copy comes from elsewhere if the first memory does not have the value, if one of the others has it already, or
    /// if the device is not among them. Memories without room or without a link are left out. An empty route removes
    /// the hint.
    ///
    /// ```
    /// # extern crate superscalar_runtime as superscalar;
    /// use superscalar::{Resource, Runtime};
    /// # fn main() -> Result<(), superscalar::Error> {
    /// let rt = Runtime::builder().workers(1).build()?;
    /// let mut x = 1.0;
    /// rt.scope(|s| {
    ///     let x = s.lend(&mut x);
    ///     // Without devices it has no effect.
    ///     x.send_along(&[Resource::HOST, Resource::device(1), Resource::device(0)]);
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_along(&self, route: &[Resource]) {
        let route = Route::through(route);
        // SAFETY: by the contract of `new`, the datum lives for `'d`; a lent handle belongs to its scope's thread,
        // which is the inserter.
        unsafe { self.datum.as_ref().versions() }.for_each(|version| version.execution.route.set(route));
    }

    /// Reads the value; the body sees `&T`.
    pub fn read(&self) -> Read<'d, 'd, T> {
        Read(self.target())
    }

    /// Overwrites the value; the body sees `&mut T` and must overwrite all of it.
    pub fn write(&self) -> Write<'d, 'd, T> {
        Write(self.target())
    }

    /// Reads and changes the value; the body sees `&mut T`.
    pub fn read_write(&self) -> ReadWrite<'d, 'd, T> {
        ReadWrite(self.target())
    }

    /// Changes the value, one task at a time, in any order among neighbours that commute; the body sees `&mut T`.
    pub fn commute(&self) -> Commute<'d, 'd, T> {
        Commute(self.target())
    }
}

impl<'d, T: ?Sized + 'd> Lent<'d, T> {
    /// Returns whether the value stays on its devices when the scope ends: it was lent by a
    /// [`Resident`](crate::Resident).
    #[must_use]
    pub fn is_resident(&self) -> bool {
        self.datum().first_execution().elsewhere.stays()
    }

    /// Returns the home of the version that the next access names. A task can use it to deal the datum again.
    #[must_use]
    pub fn home(&self) -> Home<'d> {
        // SAFETY: a lent handle belongs to its scope's thread, which is the inserter. Versions live as long as the
        // datum.
        Home(&unsafe { self.datum().current() }.execution.home)
    }
}

/// The resource that a datum is dealt to. It is a hint, which any thread may change at any time. Made by
/// [`Lent::home`].
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::{Resource, Runtime};
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::builder().workers(1).build()?;
/// let mut x = 1.0;
/// rt.scope(|s| {
///     let x = s.lend(&mut x);
///     x.deal_to(Some(Resource::device(1)));
///     assert_eq!(x.home().resource(), Some(Resource::device(1)));
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Home<'d>(&'d crate::datum::HomeCell);

impl Home<'_> {
    /// Deals the datum to a resource; see [`Lent::deal_to`].
    pub fn deal_to(&self, resource: Option<Resource>) {
        self.0.set(resource);
    }

    /// Returns the resource that the datum is dealt to, if any.
    #[must_use]
    pub fn resource(&self) -> Option<Resource> {
        self.0.get()
    }
}

impl<'d, T: 'd> Lent<'d, T> {
    /// Contributes to the value by `operation`; the body sees `&mut T`, a partial value that starts as the operation's
    /// identity.
    pub fn reduce<R: Reduction<T>>(&self, _operation: R) -> Reduce<'d, 'd, T, R> {
        Reduce(self.target(), PhantomData)
    }
}

impl<'d, T: 'static> Lent<'d, T> {
    /// Lets a [`write`](Self::write) use a fresh place, made by `fresh`, instead of waiting for tasks that still use
    /// the old value. This removes WaR and WaW hazards, and takes memory for up to eight values.
    ///
    /// When the scope ends, the last value is moved to the place of the lent one. The other values and `fresh` are
    /// dropped with the scope, so they must not borrow.
    ///
    /// ```
    /// # extern crate superscalar_runtime as superscalar;
    /// use superscalar::Runtime;
    /// # fn main() -> Result<(), superscalar::Error> {
    /// let rt = Runtime::builder().workers(2).build()?;
    /// let (mut line, mut total) = (Vec::new(), 0);
    /// rt.scope(|s| {
    ///     let line = s.lend(&mut line).renaming(Vec::new);
    ///     let total = s.lend(&mut total);
    ///     for n in 0..10 {
    ///         // The next line is filled while the last one is still being summed.
    ///         s.spawn("fill", line.write(), move |line| *line = vec![n; 100]);
    ///         s.spawn("sum", (line.read(), total.read_write()), |(line, total)| *total += line.iter().sum::<i32>());
    ///     }
    /// })?;
    /// assert_eq!((total, line), (4500, vec![9; 100]));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn renaming(self, fresh: impl Fn() -> T + Send + 'static) -> Self {
        // SAFETY: a lent handle belongs to its scope's thread, which is the inserter.
        drop(unsafe { self.datum().allow_renaming(Box::new(move || Box::new(fresh()))) });
        self
    }
}
