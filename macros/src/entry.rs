//! A generic function becomes C functions under the names of the BLAS and LAPACK.

use crate::{
    convention::{Convention, Half},
    prototype::prototype,
};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::ffi::CString;
use syn::{
    Error, FnArg, GenericParam, ItemFn, LitCStr, LitStr, Pat, Result, ReturnType, Token, Type, parse::Parse,
    parse::ParseStream, punctuated::Punctuated, spanned::Spanned,
};

/// One type of element: `d`, or `z = "dznrm2"` where the name is not the letter before the function's.
struct Element {
    letter: Ident,
    name: Option<LitStr>,
}

impl Parse for Element {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let letter: Ident = input.parse()?;
        let name = if input.peek(Token![=]) { Some((input.parse::<Token![=]>()?, input.parse()?).1) } else { None };
        Ok(Self { letter, name })
    }
}

impl Element {
    fn element_type(&self) -> Result<TokenStream> {
        match self.letter.to_string().as_str() {
            "s" => Ok(quote!(f32)),
            "d" => Ok(quote!(f64)),
            "c" => Ok(quote!(crate::abi::c32)),
            "z" => Ok(quote!(crate::abi::c64)),
            _ => Err(Error::new_spanned(&self.letter, "expected s, d, c or z")),
        }
    }

    fn is_complex(&self) -> bool {
        self.letter == "c" || self.letter == "z"
    }
}

/// How an argument comes in, and what is made of it.
enum Argument {
    /// A number of elements: an integer of the interface's width.
    Size,
    /// An element, or its real part's type.
    Scalar(TokenStream),
    /// A letter or an enumerator, as it is.
    Code(TokenStream),
    /// In which interface it was called.
    Interface,
    /// An address, with the types that are put in for T and I.
    Address(Type),
}

pub(crate) fn expand(conventions: &[Convention], elements: TokenStream, function: ItemFn) -> Result<TokenStream> {
    let parser = |input: ParseStream<'_>| Punctuated::<Element, Token![,]>::parse_terminated(input);
    let elements = syn::parse::Parser::parse2(parser, elements)?;
    let (mut entries, mut prototypes) = (TokenStream::new(), Vec::new());
    for (&convention, element) in conventions.iter().flat_map(|it| elements.iter().map(move |element| (it, element))) {
        let routine = routine_of(element, &function);
        for (integer, name) in names_of(convention, &routine) {
            let (entry, prototype) = entry(convention, element, (integer, &name), &function)?;
            entries.extend(entry);
            prototypes.push(prototype);
        }
    }
    // The header leaves out the names of Python's wheels, which C programs do not call.
    prototypes.retain(|prototype| !prototype.contains(" scipy_"));
    let prototypes = prototypes.join("\n");
    Ok(quote! {
        #function
        #entries

        #[cfg(all(test, target_os = "linux"))]
        const _: () = {
            // SAFETY: nothing but such texts is in the section of this name, which `header.rs` reads.
            #[unsafe(link_section = "superscalar_prototypes")]
            #[used]
            static PROTOTYPES: &str = #prototypes;
        };
    })
}

/// The routine's name for this type of elements, such as `dgemm`.
fn routine_of(element: &Element, function: &ItemFn) -> String {
    element.name.as_ref().map_or_else(|| format!("{}{}", element.letter, function.sig.ident), LitStr::value)
}

/// The names of the entries, such as `dgemm_`, `scipy_dgemm_64_`, `cblas_dgemm64_`, each with the type of its integers.
/// Those of LAPACKE with
/// 64 bits are the reference's and OpenBLAS's; the wheels have none of them.
fn names_of(convention: Convention, routine: &str) -> Vec<(&'static str, String)> {
    let (before, after_i32, after_i64) = match convention {
        Convention::Fortran => ("", "_", "_64_"),
        Convention::Cblas => ("cblas_", "", "64_"),
        Convention::Lapacke(half) => {
            let name = lapacke_name(half, routine);
            return vec![("i32", name.clone()), ("i64", format!("{name}_64")), ("i64", format!("{name}64_"))];
        }
    };
    let names = |(integer, after)| ["", "scipy_"].map(|wheel| (integer, format!("{wheel}{before}{routine}{after}")));
    [("i32", after_i32), ("i64", after_i64)].into_iter().flat_map(names).collect()
}

fn lapacke_name(half: Half, routine: &str) -> String {
    format!("LAPACKE_{routine}{}", if half == Half::Lower { "_work" } else { "" })
}

/// Whether an argument is a workspace or its size.
fn is_workspace(argument: &Ident) -> bool {
    argument.to_string().ends_with("work")
}

/// What an entry takes, and what it passes on to the function.
#[derive(Default)]
struct Arguments {
    parameters: Vec<(Ident, TokenStream)>,
    passed: Vec<TokenStream>,
}

fn arguments(convention: Convention, element: &Element, integer_type: &Ident, function: &ItemFn) -> Result<Arguments> {
    let of = element.element_type()?;
    let mut arguments = Arguments::default();
    for argument in &function.sig.inputs {
        let FnArg::Typed(argument) = argument else { return Err(Error::new(argument.span(), "no methods here")) };
        let Pat::Ident(pattern) = &*argument.pat else { return Err(Error::new(argument.span(), "a name is needed")) };
        let ident = &pattern.ident;
        let (parameter, value) = match (convention, classify(&argument.ty, &of)) {
            (Convention::Fortran, Argument::Interface) => {
                arguments.passed.push(quote!(crate::lapack::Interface::FORTRAN));
                continue;
            }
            (Convention::Lapacke(Half::Upper), Argument::Address(_)) if is_workspace(ident) => {
                arguments.passed.push(quote!(::std::ptr::null_mut()));
                continue;
            }
            (Convention::Lapacke(Half::Upper), Argument::Size) if is_workspace(ident) => {
                arguments.passed.push(quote!(crate::abi::Size::ENOUGH));
                continue;
            }
            (_, Argument::Interface) => (quote!(crate::abi::Code), ident.to_token_stream()),
            (Convention::Fortran, Argument::Size) => {
                (quote!(*const #integer_type), quote!(crate::abi::Size::of(#ident.read())))
            }
            (Convention::Fortran, Argument::Scalar(ty) | Argument::Code(ty)) => {
                (quote!(*const #ty), quote!(#ident.read()))
            }
            (_, Argument::Size) => (integer_type.to_token_stream(), quote!(crate::abi::Size::of(#ident))),
            (Convention::Cblas, Argument::Scalar(ty)) if element.is_complex() && !is_real(&argument.ty) => {
                (quote!(*const #ty), quote!(#ident.read()))
            }
            (_, Argument::Scalar(ty) | Argument::Code(ty)) => (ty, ident.to_token_stream()),
            (_, Argument::Address(ty)) => {
                (substituted(ty.to_token_stream(), &of, integer_type), ident.to_token_stream())
            }
        };
        arguments.parameters.push((ident.clone(), parameter));
        arguments.passed.push(value);
    }
    Ok(arguments)
}

/// The function that is exported under this name, and its prototype.
fn entry(
    convention: Convention,
    element: &Element,
    (integer, name): (&str, &str),
    function: &ItemFn,
) -> Result<(TokenStream, String)> {
    let (of, integer_type) = (element.element_type()?, format_ident!("{integer}"));
    let name = format_ident!("{name}");
    let Arguments { mut parameters, passed } = arguments(convention, element, &integer_type, function)?;
    let (output, body) = called(convention, &routine_of(element, function), (&of, &integer_type), function, &passed);
    if convention == Convention::Fortran && matches!(&function.sig.output, ReturnType::Type(_, ty) if is(ty, "Solved"))
    {
        parameters.push((format_ident!("info"), quote!(*mut #integer_type)));
    }
    let prototype = prototype(convention, &name, &parameters, output.as_ref())?;
    let (idents, types): (Vec<_>, Vec<_>) = parameters.into_iter().unzip();
    let output = output.map(|ty| quote!(-> #ty));
    let entry = quote! {
        // SAFETY: the names are those of the BLAS, which are given to nothing else here; who calls gives what its
        // documentation asks for.
        #[doc(hidden)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn #name(#(#idents: #types),*) #output {
            #body
        }
    };
    Ok((entry, prototype))
}

/// What an entry returns, and its body, which calls the function.
fn called(
    convention: Convention,
    routine: &str,
    (of, integer_type): (&TokenStream, &Ident),
    function: &ItemFn,
    passed: &[TokenStream],
) -> (Option<TokenStream>, TokenStream) {
    let inner = &function.sig.ident;
    let generics = function.sig.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(substituted(parameter.ident.to_token_stream(), of, integer_type)),
        _ => None,
    });
    // SAFETY: of what this makes: who calls the entry gives what the function asks for.
    let call = quote!(unsafe { #inner::<#(#generics),*>(#(#passed),*) });
    let c_string = |text: String| LitCStr::new(&CString::new(text).unwrap_or_default(), Span::call_site());
    let plain = c_string(routine.to_owned());
    let upper = c_string(format!("{:<6}", routine.to_uppercase()));
    let behind_cblas = c_string(format!("cblas_{routine}"));
    let refuses_nan = match convention {
        Convention::Lapacke(Half::Upper) => quote!(crate::guard::refuses_nan()),
        _ => quote!(false),
    };
    // LAPACKE's layout is looked at first; the function has what it says in its place.
    let layout = passed.first();
    let interface = quote!(crate::lapack::Interface::lapacke(#layout, #refuses_nan));
    let behind_lapacke = match convention {
        Convention::Lapacke(half) => c_string(lapacke_name(half, routine)),
        _ => c_string(String::new()),
    };
    match (&function.sig.output, convention) {
        (ReturnType::Type(_, ty), Convention::Fortran) if is(ty, "Solved") => {
            // SAFETY: of what this makes: who calls has an integer there.
            (None, quote!(unsafe { crate::guard::lapack(#upper, info, || #call) }))
        }
        (ReturnType::Type(_, ty), Convention::Lapacke(_)) if is(ty, "Solved") => {
            let body = quote!(crate::guard::lapacke(#behind_lapacke, #interface.map(|#layout| move || #call)));
            (Some(integer_type.to_token_stream()), body)
        }
        (ReturnType::Default, Convention::Lapacke(_)) => {
            let call = quote!(move || { #call; Ok(0) });
            let body = quote!(crate::guard::lapacke(#behind_lapacke, #interface.map(|#layout| #call)));
            (Some(integer_type.to_token_stream()), body)
        }
        (ReturnType::Type(_, ty), Convention::Lapacke(_)) => {
            let ty = substituted(ty.to_token_stream(), of, integer_type);
            let call = quote!(#interface.map_or(-1.0, |#layout| #call));
            (Some(ty), quote!(crate::guard::function(#plain, || #call)))
        }
        (ReturnType::Default, _) => (None, quote!(crate::guard::function(#plain, || #call))),
        (ReturnType::Type(_, ty), _) if !is(ty, "Checked") => {
            let ty = substituted(ty.to_token_stream(), of, integer_type);
            (Some(ty), quote!(crate::guard::function(#plain, || #call)))
        }
        (_, Convention::Fortran) => (None, quote!(crate::guard::fortran::<#integer_type>(#upper, || #call))),
        (_, Convention::Cblas) => (None, quote!(crate::guard::cblas::<#integer_type>(#behind_cblas, || #call))),
    }
}

fn is(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// Whether it is `T::Real`.
fn is_real(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.len() == 2 && path.path.segments[1].ident == "Real")
}

fn classify(ty: &Type, of: &TokenStream) -> Argument {
    match ty {
        Type::Ptr(_) => Argument::Address(ty.clone()),
        _ if is(ty, "Size") => Argument::Size,
        _ if is(ty, "Interface") => Argument::Interface,
        _ if is(ty, "T") => Argument::Scalar(of.clone()),
        _ if is_real(ty) => Argument::Scalar(quote!(<#of as crate::abi::Scalar>::Real)),
        _ => Argument::Code(ty.to_token_stream()),
    }
}

/// The tokens with types in the places of `T`, `T::Real` and `I`.
fn substituted(tokens: TokenStream, of: &TokenStream, integer: &Ident) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let names = |at: usize, name: &str| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == name);
    let (mut replaced, mut at) = (TokenStream::new(), 0);
    while let Some(token) = tokens.get(at) {
        match token {
            // Two colons stand between them.
            _ if names(at, "T") && names(at + 3, "Real") => {
                replaced.extend(quote!(<#of as crate::abi::Scalar>::Real));
                at += 3;
            }
            _ if names(at, "T") => replaced.extend(of.clone()),
            _ if names(at, "I") => replaced.extend(integer.to_token_stream()),
            TokenTree::Group(group) => {
                let inside = substituted(group.stream(), of, integer);
                replaced.extend(Group::new(group.delimiter(), inside).into_token_stream());
            }
            other => replaced.extend(other.to_token_stream()),
        }
        at += 1;
    }
    replaced
}
