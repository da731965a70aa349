//! Exports a generic function on a batch of problems as C functions.

use crate::{
    convention::{Convention, Half},
    entry::{Element, is, routine_of, stored, substituted},
    prototype::prototype,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::ffi::CString;
use syn::{
    Error, FnArg, GenericArgument, GenericParam, ItemFn, LitCStr, Pat, PathArguments, Result, Type, spanned::Spanned,
};

/// How a function takes the problems.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Tables of addresses, and sizes that all problems have.
    Batched,
    /// Tables of addresses and of sizes.
    Vbatched,
    /// Addresses of the first matrices with strides, and sizes that all problems have.
    StridedBatched,
}

impl Form {
    const ALL: [Self; 3] = [Self::Batched, Self::Vbatched, Self::StridedBatched];

    fn suffix(self) -> &'static str {
        match self {
            Self::Batched => "batched",
            Self::Vbatched => "vbatched",
            Self::StridedBatched => "strided_batched",
        }
    }
}

/// The integer types and the suffixes of names.
const INTEGERS: [(&str, &str); 2] = [("i32", ""), ("i64", "_64")];

pub(crate) fn expand(elements: TokenStream, function: &ItemFn) -> Result<TokenStream> {
    let (mut entries, mut prototypes) = (TokenStream::new(), Vec::new());
    for element in &Element::list(elements)? {
        for (form, (integer, suffix)) in Form::ALL.iter().flat_map(|form| INTEGERS.map(|integer| (*form, integer))) {
            let name = format!("superscalar_{}_{}", routine_of(element, function), form.suffix());
            let exported = format_ident!("{name}{suffix}");
            let mut entry = Entry::new(form, element, integer)?;
            function.sig.inputs.iter().try_for_each(|argument| entry.add(argument))?;
            prototypes.push(entry.finish(&exported)?);
            entries.extend(entry.function(&exported, &name, function));
        }
    }
    let stored = stored(&prototypes);
    Ok(quote! {
        #function
        #entries
        #stored
    })
}

/// An exported function.
struct Entry {
    form: Form,
    is_complex: bool,
    element: TokenStream,
    integer: Ident,
    parameters: Vec<(Ident, TokenStream)>,
    /// What is passed to the generic function after the batch.
    passed: Vec<TokenStream>,
}

impl Entry {
    fn new(form: Form, element: &Element, integer: &str) -> Result<Self> {
        let (is_complex, element) = (element.is_complex(), element.element_type()?);
        let integer = format_ident!("{integer}");
        Ok(Self { form, is_complex, element, integer, parameters: Vec::new(), passed: Vec::new() })
    }

    /// Adds the parameters of an argument of the generic function.
    fn add(&mut self, argument: &FnArg) -> Result<()> {
        let FnArg::Typed(argument) = argument else {
            return Err(Error::new(argument.span(), "expected a function, not a method"));
        };
        let Pat::Ident(pattern) = &*argument.pat else {
            return Err(Error::new(argument.span(), "expected a named argument"));
        };
        let (name, element) = (&pattern.ident, self.element.clone());
        if is(&argument.ty, "Letter") {
            self.parameter(name.clone(), quote!(crate::abi::Letter));
            self.passed.push(name.to_token_stream());
            return Ok(());
        }
        if is(&argument.ty, "T") {
            let (ty, value) = if self.is_complex {
                (quote!(*const #element), quote!(#name.read()))
            } else {
                (element, quote!(#name))
            };
            self.parameter(name.clone(), ty);
            self.passed.push(value);
            return Ok(());
        }
        let (kind, inner) = parts(&argument.ty)?;
        let spacing = match kind.to_string().as_str() {
            "Batch" => return Ok(()),
            "Outcomes" => {
                let integer = &self.integer;
                let at = self.parameter(name.clone(), quote!(*mut #integer));
                self.passed.push(quote!(crate::batch::Outcomes::new(#at, #name)));
                return Ok(());
            }
            "Sizes" => {
                let sizes = self.sizes(name.clone());
                self.passed.push(sizes);
                return Ok(());
            }
            "Matrices" => Some(("Leading", format_ident!("ld{name}"))),
            "Vectors" => Some(("Increment", format_ident!("inc{name}"))),
            "Columns" => None,
            _ => return Err(Error::new_spanned(&argument.ty, "not an argument of a batch")),
        };
        let inner = inner.ok_or_else(|| Error::new_spanned(&argument.ty, "expected the type of an address"))?;
        let address = substituted(inner.to_token_stream(), &element, &self.integer);
        let is_strided = self.form == Form::StridedBatched;
        let at = self.parameter(name.clone(), if is_strided { address } else { quote!(*const #address) });
        let spacing = match spacing {
            Some((kind, name)) => {
                let (kind, sizes) = (format_ident!("{kind}"), self.sizes(name));
                quote!(crate::batch::Spacing::#kind(#sizes))
            }
            None => quote!(crate::batch::Spacing::Adjacent),
        };
        let place = if is_strided {
            let (stride, integer) = (format_ident!("stride_{name}"), self.integer.clone());
            let at = self.parameter(stride.clone(), integer.to_token_stream());
            quote!(crate::batch::Place::Strided { first: #name, stride: crate::abi::Size::of(#stride), stride_at: #at })
        } else {
            quote!(crate::batch::Place::table(#name, count))
        };
        self.passed.push(quote!(crate::batch::Operand { at: #at, place: #place, spacing: #spacing }));
        Ok(())
    }

    /// Adds a parameter, and returns its position, counted from one.
    fn parameter(&mut self, name: Ident, ty: TokenStream) -> i32 {
        self.parameters.push((name, ty));
        self.parameters.len() as i32
    }

    /// Adds the parameter for a size of each problem, and returns the value that is passed.
    fn sizes(&mut self, name: Ident) -> TokenStream {
        let integer = self.integer.clone();
        if self.form == Form::Vbatched {
            let at = self.parameter(name.clone(), quote!(*const #integer));
            return quote!(crate::batch::Sizes::each(#at, #name, count));
        }
        let at = self.parameter(name.clone(), integer.to_token_stream());
        quote!(crate::batch::Sizes::same(#at, #name))
    }

    /// Adds the number of problems, and returns the prototype.
    fn finish(&mut self, exported: &Ident) -> Result<String> {
        let at = self.parameter(format_ident!("batch_count"), self.integer.to_token_stream());
        let is_uniform = self.form != Form::Vbatched;
        self.passed.insert(0, quote!(crate::batch::Batch { at: #at, count, is_uniform: #is_uniform }));
        // LAPACKE has the same notation: numbers by value, and complex numbers with their type.
        prototype(Convention::Lapacke(Half::Lower), exported, &self.parameters, Some(&quote!(i32)))
    }

    /// Returns the function that C calls. Its name in records of calls omits the width of integers.
    fn function(self, exported: &Ident, name: &str, function: &ItemFn) -> TokenStream {
        let Self { element, integer, parameters, passed, .. } = self;
        let inner = &function.sig.ident;
        let generics = function.sig.generics.params.iter().filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(substituted(parameter.ident.to_token_stream(), &element, &integer)),
            _ => None,
        });
        let name = LitCStr::new(&CString::new(name).unwrap_or_default(), Span::call_site());
        let (names, types): (Vec<_>, Vec<_>) = parameters.into_iter().unzip();
        quote! {
            // SAFETY: nothing else here has a name of this form.
            #[doc(hidden)]
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C-unwind" fn #exported(#(#names: #types),*) -> i32 {
                crate::guard::batched::<#integer>(#name, &mut || {
                    let count = crate::abi::Size::of(batch_count);
                    // SAFETY: the caller meets the requirements of the batched routines.
                    unsafe { #inner::<#(#generics),*>(#(#passed),*) }
                })
            }
        }
    }
}

/// Returns the last name of a path, and its first type argument.
fn parts(ty: &Type) -> Result<(&Ident, Option<&Type>)> {
    let unknown = || Error::new_spanned(ty, "not an argument of a batch");
    let Type::Path(path) = ty else { return Err(unknown()) };
    let last = path.path.segments.last().ok_or_else(unknown)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Ok((&last.ident, None)) };
    let types = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    Ok((&last.ident, types))
}
