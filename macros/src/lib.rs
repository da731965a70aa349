//! [`each_type`] compiles the routines of `superscalar-dla` in that crate rather than in every program that uses them.
//!
//! rustc compiles a generic function in each crate that calls it, at least with optimizations. A method of `f64` is not
//! generic and is compiled where it is defined. Therefore the attribute turns a generic function into a trait with an
//! implementation for each element type, and a generic function that calls the trait's method.
//!
//! [`macro@fortran`], [`macro@cblas`] and [`macro@lapack`] export a generic function of `superscalar-blas` under its
//! names in the BLAS and LAPACK, and [`macro@batched`] a function on batches under names of its own. They also embed
//! the C prototypes in that crate's test program, for `capi/include/superscalar.h`.

#![forbid(unsafe_code)]

mod batch;
mod convention;
mod entry;
mod prototype;
mod routine;

use convention::{Convention, Half};
use proc_macro::TokenStream;
use quote::quote;
use syn::{Item, Token, Type, parse::Parser, punctuated::Punctuated};

/// Compiles a function `fn name<T: Scalar>(…)` for each element type, in the crate that defines it. On a trait without
/// items: implements it for each element type. The types are `f32 f64 c32 c64`, or those in the attribute.
///
/// An error that does not name a routine is given the name of this one.
///
/// The function calls the method `name` of a trait `HasName` that the macro defines; `dla`'s `Scalar` must have that
/// trait as a supertrait. A matrix `&Tiled<'s, V>` whose `V` is another type parameter is passed as an `Either`, so
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
        other => Err(syn::Error::new_spanned(other, "each_type: expected a function, or a trait without items")),
    }
}

/// Exports a generic function `unsafe fn name<T: Scalar>(…)` for these element types as the Fortran BLAS routine
/// `sname_`, `dname_` and so on. There are versions with 32-bit and 64-bit integers (`sname_64_`), and with the names
/// in Python's wheels (`scipy_…`).
///
/// Arguments are taken by address. `Size` becomes an integer of the version's width; `T`, `T::Real` and other types by
/// value are read; addresses are passed through, with `I` for the integer type. A result of type `Checked` is reported
/// to `xerbla_`; any other result is returned. If the name is not the letter followed by the function's name, it is
/// given explicitly: `#[fortran(s = "snrm2", z = "dznrm2")]`.
#[proc_macro_attribute]
pub fn fortran(elements: TokenStream, item: TokenStream) -> TokenStream {
    exported(&[Convention::Fortran], elements, item)
}

/// Like [`macro@fortran`], for the C interface `cblas_sname`. Numbers are taken by value, complex ones by address.
/// Wrong arguments are reported to `cblas_xerbla`.
#[proc_macro_attribute]
pub fn cblas(elements: TokenStream, item: TokenStream) -> TokenStream {
    exported(&[Convention::Cblas], elements, item)
}

/// Both [`macro@fortran`] and [`macro@cblas`], for a routine whose arguments have the same meaning in both.
#[proc_macro_attribute]
pub fn blas(elements: TokenStream, item: TokenStream) -> TokenStream {
    exported(&[Convention::Fortran, Convention::Cblas], elements, item)
}

/// Exports a LAPACK function, whose first argument is an `Interface`, for Fortran and C. The C interface has two
/// versions: `LAPACKE_sname` without workspaces, which are the arguments whose names end with `work`, and
/// `LAPACKE_sname_work` with them.
///
/// A result of type `Solved` is `info`: the last argument in Fortran, the return value in C. In C, a function without a
/// result returns zero.
#[proc_macro_attribute]
pub fn lapack(elements: TokenStream, item: TokenStream) -> TokenStream {
    exported(&[Convention::Fortran, Convention::Lapacke(Half::Upper), Convention::Lapacke(Half::Lower)], elements, item)
}

/// Exports a generic function on a batch of problems as C functions in three forms, with 32-bit and 64-bit integers:
///
/// | name | matrices | sizes |
/// |---|---|---|
/// | `superscalar_spotrf_batched` | a table of addresses | the same for all problems |
/// | `superscalar_spotrf_vbatched` | a table of addresses | tables with one for each problem |
/// | `superscalar_spotrf_strided_batched` | at constant strides | the same for all problems |
///
/// The function's first argument is the `Batch`, whose number of problems is the last argument in C. `Sizes` become an
/// integer or the address of a table, and `Matrices` an address with a leading dimension. `Vectors` have an increment
/// instead, and `Columns` neither. In the strided form, a stride follows. The result of type `Solved` is the return
/// value in C: zero, or the negative position of a wrong argument.
#[proc_macro_attribute]
pub fn batched(elements: TokenStream, item: TokenStream) -> TokenStream {
    let function = match syn::parse(item) {
        Ok(function) => function,
        Err(error) => return error.into_compile_error().into(),
    };
    batch::expand(elements.into(), &function).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn exported(conventions: &[Convention], elements: TokenStream, item: TokenStream) -> TokenStream {
    let function = match syn::parse(item) {
        Ok(function) => function,
        Err(error) => return error.into_compile_error().into(),
    };
    entry::expand(conventions, elements.into(), function).unwrap_or_else(syn::Error::into_compile_error).into()
}
