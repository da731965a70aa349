//! [`each_type`], by which the routines of `superscalar-dla` are compiled with that crate, and not again in every program.
//!
//! rustc compiles a generic function where it is called, once more in each crate when optimising. A method of `f64` is no generic
//! function, and is compiled where it stands. So the attribute makes a trait of a generic function, with an implementation for
//! each type of element, and leaves a generic function that calls it.

#![forbid(unsafe_code)]

mod routine;

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
