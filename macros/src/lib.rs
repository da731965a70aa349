//! [`each_type`], by which the routines of `superscalar-dla` are compiled with that crate, and not again in every program.
//!
//! rustc compiles a generic function where it is called, once more in each crate when optimising. A method of `f64` is no generic
//! function, and is compiled where it stands. So the attribute makes a trait of a generic function, with an implementation for
//! each type of element, and leaves a generic function that calls it.
//!
//! [`macro@fortran`], [`macro@cblas`] and [`macro@lapack`] give a generic function of `superscalar-blas` its names in
//! the BLAS and LAPACK. They leave C's prototypes of these in that crate's test program, for
//! `capi/include/superscalar.h`.

#![forbid(unsafe_code)]

mod convention;
mod entry;
mod prototype;
mod routine;

use convention::{Convention, Half};
use proc_macro::TokenStream;
use quote::quote;
use syn::{Item, Token, Type, parse::Parser, punctuated::Punctuated};

/// Before a function `fn name<T: Scalar>(…)`: it is compiled here for each type of element. Before a trait without items: it is
/// implemented for each of them. The types are `f32 f64 c32 c64`, or those that are given.
///
/// An error that does not name the routine does so behind the call.
///
/// The function calls the method `name` of the trait `HasName`, which the macro makes; `dla`'s `Scalar` must have that trait as
/// a supertrait. A matrix `&Tiled<'s, V>` whose `V` is another type parameter goes through as an `Either`, so
/// that the method is compiled for both kinds of views.
///
/// ```text
/// #[each_type]
/// pub fn potrf<T: Scalar>(rt: &Runtime, uplo: Uplo, mut a: MatMut<'_, T>, options: &Options) -> Result<(), Error> {
///     …
/// }
///
/// #[each_type]
/// pub trait Cholesky: HasPotrf {}
/// ```
#[proc_macro_attribute]
pub fn each_type(types: TokenStream, item: TokenStream) -> TokenStream {
    expand(types, item).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn expand(types: TokenStream, item: TokenStream) -> syn::Result<proc_macro2::TokenStream> {
    let types = match types.is_empty() {
        true => quote!(f32, f64, ::superscalar_kernels::c32, ::superscalar_kernels::c64),
        false => types.into(),
    };
    let types: Vec<Type> = Punctuated::<Type, Token![,]>::parse_terminated.parse2(types)?.into_iter().collect();
    match syn::parse(item)? {
        Item::Fn(function) => routine::expand(&types, function),
        Item::Trait(family) => {
            let name = &family.ident;
            let implementations = types.iter().map(|element| quote!(impl #name for #element {}));
            Ok(quote!(#family #(#implementations)*))
        }
        other => Err(syn::Error::new_spanned(other, "each_type: a function, or a trait without items")),
    }
}

/// Before a generic function `unsafe fn name<T: Scalar>(…)`: exports it for these types of elements as the Fortran routine of the BLAS that is
/// called `sname_`, `dname_` and so on, with integers of 32 and (`sname_64_`) 64 bits, and under the names of Python's wheels (`scipy_…`).
///
/// Arguments are taken by address: `Size` becomes an integer of that width, `T`, `T::Real` and other types by value are read; addresses are
/// handed through, with `I` for the integer's type. A result of type `Checked` goes to `xerbla_`; any other is the function's. Where a name is
/// not the letter and the function's name: `#[fortran(s = "snrm2", z = "dznrm2")]`.
#[proc_macro_attribute]
pub fn fortran(elements: TokenStream, item: TokenStream) -> TokenStream {
    exported(&[Convention::Fortran], elements, item)
}

/// The same for the C interface, `cblas_sname`: numbers are taken by value, complex ones by address; what is wrong goes to `cblas_xerbla`.
#[proc_macro_attribute]
pub fn cblas(elements: TokenStream, item: TokenStream) -> TokenStream {
    exported(&[Convention::Cblas], elements, item)
}

/// Both, for a routine whose arguments mean the same in either.
#[proc_macro_attribute]
pub fn blas(elements: TokenStream, item: TokenStream) -> TokenStream {
    exported(&[Convention::Fortran, Convention::Cblas], elements, item)
}

/// Before a function of LAPACK, whose first argument is an `Interface`: exports it for Fortran and for C, there
/// (`LAPACKE_sname`) once without its workspaces, which are the arguments whose names end with `work`, and once with
/// them (`LAPACKE_sname_work`).
///
/// A result of type `Solved` is `info`, in Fortran a last argument and in C what is returned. A function without a
/// result returns zero in C.
#[proc_macro_attribute]
pub fn lapack(elements: TokenStream, item: TokenStream) -> TokenStream {
    exported(&[Convention::Fortran, Convention::Lapacke(Half::Upper), Convention::Lapacke(Half::Lower)], elements, item)
}

fn exported(conventions: &[Convention], elements: TokenStream, item: TokenStream) -> TokenStream {
    let function = match syn::parse(item) {
        Ok(function) => function,
        Err(error) => return error.into_compile_error().into(),
    };
    entry::expand(conventions, elements.into(), function).unwrap_or_else(syn::Error::into_compile_error).into()
}
