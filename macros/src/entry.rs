//! Exports a generic function as C functions with the names of the BLAS and LAPACK.

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

/// One element type: `d`, or `z = "dznrm2"` if the name is not the letter followed by the function's name.
pub(crate) struct Element {
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
    /// Parses a list of element types.
    pub(crate) fn list(elements: TokenStream) -> Result<Vec<Self>> {
        let parser = |input: ParseStream<'_>| Punctuated::<Self, Token![,]>::parse_terminated(input);
        Ok(syn::parse::Parser::parse2(parser, elements)?.into_iter().collect())
    }

    pub(crate) fn element_type(&self) -> Result<TokenStream> {
        match self.letter.to_string().as_str() {
            "s" => Ok(quote!(f32)),
            "d" => Ok(quote!(f64)),
            "c" => Ok(quote!(crate::abi::c32)),
            "z" => Ok(quote!(crate::abi::c64)),
            _ => Err(Error::new_spanned(&self.letter, "expected s, d, c or z")),
        }
    }

    pub(crate) fn is_complex(&self) -> bool {
        self.letter == "c" || self.letter == "z"
    }
}

/// How an argument is passed to an exported function.
enum Argument {
    /// A number of elements: an integer of the interface's width.
    Size,
    /// An element, or its real part, with this type.
    Scalar(TokenStream),
    /// A letter or an enumerator, passed unchanged.
    Code(TokenStream),
    /// The interface that was called.
    Interface,
    /// An address, whose type may contain T and I.
    Address(Type),
}

pub(crate) fn expand(conventions: &[Convention], elements: TokenStream, function: ItemFn) -> Result<TokenStream> {
    let elements = Element::list(elements)?;
    let (mut entries, mut prototypes) = (TokenStream::new(), Vec::new());
    for (&convention, element) in conventions.iter().flat_map(|it| elements.iter().map(move |element| (it, element))) {
        let routine = routine_of(element, &function);
        for (integer, names) in names_of(convention, &routine) {
            let (entry, of_names) = entry(convention, element, (integer, &names), &function)?;
            entries.extend(entry);
            prototypes.extend(of_names);
        }
    }
    // The header omits the names of Python's wheels, which C programs do not call.
    prototypes.retain(|prototype| !prototype.contains(" scipy_"));
    let stored = stored(&prototypes);
    Ok(quote! {
        #function
        #entries
        #stored
    })
}

/// Returns an item that stores these prototypes for the tests of the header.
pub(crate) fn stored(prototypes: &[String]) -> TokenStream {
    let prototypes = prototypes.join("\n");
    quote! {
        #[cfg(all(test, target_os = "linux"))]
        const _: () = {
            // SAFETY: the section of this name contains only such texts, which `header.rs` reads.
            #[unsafe(link_section = "superscalar_prototypes")]
            #[used]
            static PROTOTYPES: &str = #prototypes;
        };
    }
}

/// Returns the routine's name for this element type, such as `dgemm`.
pub(crate) fn routine_of(element: &Element, function: &ItemFn) -> String {
    element.name.as_ref().map_or_else(|| format!("{}{}", element.letter, function.sig.ident), LitStr::value)
}

/// Returns the names of the exported functions by their integer type, such as `dgemm_`, `scipy_dgemm_64_` and
/// `cblas_dgemm64_`. The 64-bit names of LAPACKE are those of the reference and of OpenBLAS; the wheels have none.
fn names_of(convention: Convention, routine: &str) -> [(&'static str, Vec<String>); 2] {
    let with_wheels = |prefix: &str, short: &str, long: &str| {
        let names = |suffix: &str| ["", "scipy_"].map(|wheel| format!("{wheel}{prefix}{routine}{suffix}")).into();
        [("i32", names(short)), ("i64", names(long))]
    };
    match convention {
        Convention::Fortran => with_wheels("", "_", "_64_"),
        Convention::Cblas => with_wheels("cblas_", "", "64_"),
        Convention::Lapacke(half) => {
            let name = lapacke_name(half, routine);
            let long = vec![format!("{name}_64"), format!("{name}64_")];
            [("i32", vec![name]), ("i64", long)]
        }
    }
}

fn lapacke_name(half: Half, routine: &str) -> String {
    format!("LAPACKE_{routine}{}", if half == Half::Lower { "_work" } else { "" })
}

/// Returns whether an argument is a workspace or its size.
fn is_workspace(argument: &Ident) -> bool {
    argument.to_string().ends_with("work")
}

/// The parameters of an exported function, and the arguments that it passes to the generic function.
#[derive(Default)]
struct Arguments {
    parameters: Vec<(Ident, TokenStream)>,
    passed: Vec<TokenStream>,
}

fn arguments(convention: Convention, element: &Element, integer_type: &Ident, function: &ItemFn) -> Result<Arguments> {
    let of = element.element_type()?;
    let mut arguments = Arguments::default();
    for argument in &function.sig.inputs {
        let FnArg::Typed(argument) = argument else {
            return Err(Error::new(argument.span(), "expected a function, not a method"));
        };
        let Pat::Ident(pattern) = &*argument.pat else {
            return Err(Error::new(argument.span(), "expected a named argument"));
        };
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

/// Returns the exported functions with these names, and their prototypes. Their common body is compiled once.
fn entry(
    convention: Convention,
    element: &Element,
    (integer, names): (&str, &[String]),
    function: &ItemFn,
) -> Result<(TokenStream, Vec<String>)> {
    let (of, integer_type) = (element.element_type()?, format_ident!("{integer}"));
    let Arguments { mut parameters, passed } = arguments(convention, element, &integer_type, function)?;
    let (output, body) = called(convention, &routine_of(element, function), (&of, &integer_type), function, &passed);
    if convention == Convention::Fortran && matches!(&function.sig.output, ReturnType::Type(_, ty) if is(ty, "Solved"))
    {
        parameters.push((format_ident!("info"), quote!(*mut #integer_type)));
    }
    let names: Vec<Ident> = names.iter().map(|name| format_ident!("{name}")).collect();
    let of_name = |name| prototype(convention, name, &parameters, output.as_ref());
    let prototypes = names.iter().map(of_name).collect::<Result<_>>()?;
    let (idents, types): (Vec<_>, Vec<_>) = parameters.into_iter().unzip();
    let output = output.map(|ty| quote!(-> #ty));
    let shared = format_ident!("body_of_{}", names[0]);
    let (signature, call) = (quote!((#(#idents: #types),*) #output), quote!(#shared(#(#idents),*)));
    let entry = quote! {
        #[inline(never)]
        #[allow(non_snake_case, reason = "named for the first of its names")]
        unsafe extern "C-unwind" fn #shared #signature {
            #body
        }
        #(
            // SAFETY: the names are those of the BLAS and LAPACK, and nothing else here has them.
            #[doc(hidden)]
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C-unwind" fn #names #signature {
                // SAFETY: the caller meets the requirements in the routine's documentation.
                unsafe { #call }
            }
        )*
    };
    Ok((entry, prototypes))
}

/// Returns the return type of an exported function, and its body, which calls the generic function.
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
    // SAFETY (of the generated code): the caller of the exported function meets the generic function's requirements.
    let call = quote!(unsafe { #inner::<#(#generics),*>(#(#passed),*) });
    let c_string = |text: String| LitCStr::new(&CString::new(text).unwrap_or_default(), Span::call_site());
    let plain = c_string(routine.to_owned());
    let upper = c_string(format!("{:<6}", routine.to_uppercase()));
    let behind_cblas = c_string(format!("cblas_{routine}"));
    let refuses_nan = match convention {
        Convention::Lapacke(Half::Upper) => quote!(crate::guard::refuses_nan()),
        _ => quote!(false),
    };
    // LAPACKE's layout is checked first. The function gets an `Interface` in its place.
    let layout = passed.first();
    let interface = quote!(crate::lapack::Interface::lapacke(#layout, #refuses_nan));
    let behind_lapacke = match convention {
        Convention::Lapacke(half) => c_string(lapacke_name(half, routine)),
        _ => c_string(String::new()),
    };
    match (&function.sig.output, convention) {
        (ReturnType::Type(_, ty), Convention::Fortran) if is(ty, "Solved") => {
            // SAFETY (of the generated code): the caller passes the address of an integer for `info`.
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

pub(crate) fn is(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// Returns whether the type is `T::Real`.
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

/// Replaces `T`, `T::Real` and `I` by types.
pub(crate) fn substituted(tokens: TokenStream, of: &TokenStream, integer: &Ident) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let names = |at: usize, name: &str| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == name);
    let (mut replaced, mut at) = (TokenStream::new(), 0);
    while let Some(token) = tokens.get(at) {
        match token {
            // Two colons are between them.
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
