//! Turns a generic function into a trait with an implementation for each type, and a function that calls it.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Error, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Lifetime, Pat, PathArguments, Result,
    ReturnType, Signature, Type, TypeParam, spanned::Spanned,
};

pub(crate) fn expand(types: &[Type], function: ItemFn) -> Result<TokenStream> {
    let ItemFn { attrs, vis, sig, block } = &function;
    let signature = Routine::new(sig)?;
    let (trait_name, name) = (format_ident!("Has{}", camel_case(&sig.ident)), &sig.ident);
    // The function's attributes apply to the methods, too, except its documentation.
    let (docs, attrs): (Vec<&Attribute>, Vec<_>) = attrs.iter().partition(|attribute| attribute.path().is_ident("doc"));

    let Routine { element, arguments, .. } = &signature;
    let (outer, method) = (signature.outer(), signature.method());
    let passed = arguments.iter().map(RoutineArgument::passed);
    let named = signature.may_fail().then(|| {
        let routine = name.to_string();
        let routine = routine.strip_prefix("spawn_").unwrap_or(&routine);
        quote!(.map_err(|error| crate::error::Error::of_routine(error, #routine)))
    });
    let implementations = types.iter().map(|of| {
        let call = signature.call(of);
        quote!(impl #trait_name for #of { #(#attrs)* #method { #call } })
    });
    Ok(quote! {
        #(#docs)*
        #(#attrs)*
        #vis #outer {
            <#element as #trait_name>::#name(#(#passed),*)#named
        }

        #[doc(hidden)]
        pub trait #trait_name: ::superscalar_kernels::Scalar {
            #(#attrs)*
            #method;
        }

        const _: () = {
            #(#attrs)*
            #sig #block

            #(#implementations)*
        };
    })
}

/// The parts of a function's signature.
struct Routine<'a> {
    signature: &'a Signature,
    /// The name of the first type parameter, the element type.
    element: &'a Ident,
    /// The other type parameters: views of tiles.
    views: Vec<&'a TypeParam>,
    arguments: Vec<RoutineArgument<'a>>,
}

struct RoutineArgument<'a> {
    name: &'a Ident,
    ty: &'a Type,
    /// The lifetime and the type parameter, if the type is `&Tiled<'s, V>`.
    view: Option<(&'a Lifetime, &'a Ident)>,
}

impl<'a> Routine<'a> {
    fn new(signature: &'a Signature) -> Result<Self> {
        let mut views: Vec<&TypeParam> = signature.generics.type_params().collect();
        if views.is_empty() {
            return Err(Error::new_spanned(
                &signature.ident,
                "each_type: expected a function with an element type parameter",
            ));
        }
        let element = &views.remove(0).ident;
        let arguments =
            signature.inputs.iter().map(|input| RoutineArgument::new(input, &views)).collect::<Result<_>>()?;
        Ok(Self { signature, element, views, arguments })
    }

    /// Returns whether the function returns a `Result<…, Error>`.
    fn may_fail(&self) -> bool {
        self.signature.output.to_token_stream().to_string().replace(' ', "").ends_with(",Error>")
    }

    /// Returns the signature that callers see: that of the function, without `mut`.
    fn outer(&self) -> TokenStream {
        let Signature { ident, generics, output, .. } = self.signature;
        let arguments = self.arguments.iter().map(|RoutineArgument { name, ty, .. }| quote!(#name: #ty));
        let bounds = &generics.where_clause;
        quote!(fn #ident #generics(#(#arguments),*) #output #bounds)
    }

    /// Returns the signature of the method; `Self` is the element type.
    fn method(&self) -> TokenStream {
        let Signature { ident, generics, output, .. } = self.signature;
        let lifetimes = generics.params.iter().filter(|one| matches!(one, GenericParam::Lifetime(_)));
        let arguments = self.arguments.iter().map(|argument| argument.of_method(self.element));
        let output = match output {
            ReturnType::Default => TokenStream::new(),
            ReturnType::Type(arrow, ty) => {
                let ty = replace(ty.to_token_stream(), self.element, &quote!(Self));
                quote!(#arrow #ty)
            }
        };
        // Types of `dla` may require `dla`'s `Scalar`, which has this trait as a supertrait.
        quote!(fn #ident<#(#lifetimes),*>(#(#arguments),*) #output where Self: crate::Scalar)
    }

    /// Returns the call of the function for this element type, for each kind of views.
    fn call(&self, of: &Type) -> TokenStream {
        let Signature { ident, .. } = self.signature;
        let (names, inferred) = (self.arguments.iter().map(|one| one.name), self.views.iter().map(|_| quote!(_)));
        let mut call = quote!(#ident::<#of #(, #inferred)*>(#(#names),*));
        for RoutineArgument { name, .. } in self.arguments.iter().filter(|argument| argument.view.is_some()) {
            call = quote! {
                match #name {
                    crate::tiled::Either::Mut(#name) => #call,
                    crate::tiled::Either::Ref(#name) => #call,
                }
            };
        }
        call
    }
}

impl<'a> RoutineArgument<'a> {
    fn new(input: &'a FnArg, views: &[&TypeParam]) -> Result<Self> {
        let FnArg::Typed(input) = input else {
            return Err(Error::new(input.span(), "each_type: expected a function, not a method"));
        };
        let Pat::Ident(name) = &*input.pat else {
            return Err(Error::new_spanned(&input.pat, "each_type: expected a named argument"));
        };
        Ok(Self { name: &name.ident, ty: &input.ty, view: view_of(&input.ty, views) })
    }

    fn passed(&self) -> TokenStream {
        let name = self.name;
        self.view.map_or(quote!(#name), |(_, view)| quote!(<#view as crate::tiled::TileView<'_>>::either(#name)))
    }

    fn of_method(&self, element: &Ident) -> TokenStream {
        let (name, ty) = (self.name, self.ty);
        if let Some((scope, _)) = self.view {
            return quote!(#name: crate::tiled::Either<'_, #scope, Self>);
        }
        let ty = replace(ty.to_token_stream(), element, &quote!(Self));
        quote!(#name: #ty)
    }
}

/// Returns the lifetime 's and V, if a type is `&Tiled<'s, V>` with one of these parameters V.
fn view_of<'a>(ty: &'a Type, views: &[&TypeParam]) -> Option<(&'a Lifetime, &'a Ident)> {
    let Type::Reference(reference) = ty else { return None };
    let Type::Path(path) = &*reference.elem else { return None };
    let tiled = path.path.segments.last().filter(|segment| segment.ident == "Tiled")?;
    let PathArguments::AngleBracketed(arguments) = &tiled.arguments else { return None };
    let mut arguments = arguments.args.iter();
    let (Some(GenericArgument::Lifetime(scope)), Some(GenericArgument::Type(Type::Path(view)))) =
        (arguments.next(), arguments.next())
    else {
        return None;
    };
    let name = view.path.get_ident().filter(|name| views.iter().any(|view| view.ident == **name))?;
    Some((scope, name))
}

/// Replaces each identifier `name` by other tokens.
fn replace(tokens: TokenStream, name: &Ident, by: &TokenStream) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == *name => by.clone(),
        TokenTree::Group(group) => {
            TokenTree::from(Group::new(group.delimiter(), replace(group.stream(), name, by))).into()
        }
        other => other.into(),
    });
    replaced.collect()
}

/// Converts a name to camel case, such as `spawn_lange` to `SpawnLange`.
fn camel_case(name: &Ident) -> String {
    let capitalised = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.to_string().split('_').map(capitalised).collect()
}
