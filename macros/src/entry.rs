//! A generic function becomes C functions under the names of the BLAS and LAPACK.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::ffi::CString;
use syn::{
    Error, FnArg, GenericParam, ItemFn, LitCStr, LitStr, Pat, Result, ReturnType, Token, Type, parse::Parse,
    parse::ParseStream, punctuated::Punctuated, spanned::Spanned,
};

/// Whose calling convention it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convention {
    /// Everything by address; the name in lower case with an underscore.
    Fortran,
    /// Numbers by value, complex ones by address; the name behind `cblas_`.
    Cblas,
}

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
    /// An address, with the types that are put in for T and I.
    Address(Type),
}

pub(crate) fn expand(conventions: &[Convention], elements: TokenStream, function: ItemFn) -> Result<TokenStream> {
    let parser = |input: ParseStream<'_>| Punctuated::<Element, Token![,]>::parse_terminated(input);
    let elements = syn::parse::Parser::parse2(parser, elements)?;
    let mut entries = TokenStream::new();
    for (&convention, element) in conventions.iter().flat_map(|it| elements.iter().map(move |element| (it, element))) {
        for (integer, prefix) in [("i32", ""), ("i32", "scipy_"), ("i64", ""), ("i64", "scipy_")] {
            entries.extend(entry(convention, element, integer, prefix, &function)?);
        }
    }
    Ok(quote!(#function #entries))
}

/// The name of one entry, such as `dgemm_`, `scipy_dgemm_64_`, `cblas_dgemm64_`.
fn name_of(convention: Convention, routine: &str, integer: &str, prefix: &str) -> String {
    let wide = if integer == "i64" { "64_" } else { "" };
    match convention {
        Convention::Fortran => format!("{prefix}{routine}_{wide}"),
        Convention::Cblas => format!("{prefix}cblas_{routine}{wide}"),
    }
}

fn entry(
    convention: Convention,
    element: &Element,
    integer: &str,
    prefix: &str,
    function: &ItemFn,
) -> Result<TokenStream> {
    let (of, integer_type) = (element.element_type()?, format_ident!("{integer}"));
    let inner = &function.sig.ident;
    let stem = inner.to_string();
    let routine = element.name.as_ref().map_or_else(|| format!("{}{stem}", element.letter), LitStr::value);
    let name = format_ident!("{}", name_of(convention, &routine, integer, prefix));
    let (mut parameters, mut passed) = (Vec::new(), Vec::new());
    for argument in &function.sig.inputs {
        let FnArg::Typed(argument) = argument else { return Err(Error::new(argument.span(), "no methods here")) };
        let Pat::Ident(pattern) = &*argument.pat else { return Err(Error::new(argument.span(), "a name is needed")) };
        let ident = &pattern.ident;
        let (parameter, value) = match (convention, classify(&argument.ty, &of)) {
            (Convention::Fortran, Argument::Size) => {
                (quote!(*const #integer_type), quote!(crate::abi::Size::of(#ident.read())))
            }
            (Convention::Fortran, Argument::Scalar(ty) | Argument::Code(ty)) => {
                (quote!(*const #ty), quote!(#ident.read()))
            }
            (Convention::Cblas, Argument::Size) => {
                (integer_type.to_token_stream(), quote!(crate::abi::Size::of(#ident)))
            }
            (Convention::Cblas, Argument::Scalar(ty)) if element.is_complex() && !is_real(&argument.ty) => {
                (quote!(*const #ty), quote!(#ident.read()))
            }
            (Convention::Cblas, Argument::Scalar(ty) | Argument::Code(ty)) => (ty, ident.to_token_stream()),
            (_, Argument::Address(ty)) => {
                (substituted(ty.to_token_stream(), &of, &integer_type), ident.to_token_stream())
            }
        };
        parameters.push(quote!(#ident: #parameter));
        passed.push(value);
    }
    let generics = function.sig.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(substituted(parameter.ident.to_token_stream(), &of, &integer_type)),
        _ => None,
    });
    // SAFETY: of what this makes: who calls the entry gives what the function asks for.
    let call = quote!(unsafe { #inner::<#(#generics),*>(#(#passed),*) });
    let c_string = |text: String| LitCStr::new(&CString::new(text).unwrap_or_default(), Span::call_site());
    let upper = c_string(format!("{:<6}", routine.to_uppercase()));
    let behind_cblas = c_string(format!("cblas_{routine}"));
    let (outputs, body) = match (&function.sig.output, convention) {
        (ReturnType::Default, _) => (None, quote!(crate::guard::function(#routine, || #call))),
        (ReturnType::Type(_, ty), _) if !is(ty, "Checked") => {
            let ty = substituted(ty.to_token_stream(), &of, &integer_type);
            (Some(quote!(-> #ty)), quote!(crate::guard::function(#routine, || #call)))
        }
        (_, Convention::Fortran) => (None, quote!(crate::guard::fortran::<#integer_type>(#upper, || #call))),
        (_, Convention::Cblas) => (None, quote!(crate::guard::cblas::<#integer_type>(#behind_cblas, || #call))),
    };
    Ok(quote! {
        // SAFETY: the names are those of the BLAS, which are given to nothing else here; who calls gives what its documentation asks for.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn #name(#(#parameters),*) #outputs {
            #body
        }
    })
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
