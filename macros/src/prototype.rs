//! The C prototypes of exported functions, from which `capi/include/superscalar.h` is generated.

use crate::convention::Convention;
use proc_macro2::TokenStream;
use syn::{Error, Ident, Result, Type, TypePath};

/// Returns a prototype such as `void dscal_(const int *n, const double *alpha, double *x, const int *incx);`.
pub(crate) fn prototype(
    convention: Convention,
    name: &Ident,
    parameters: &[(Ident, TokenStream)],
    output: Option<&TokenStream>,
) -> Result<String> {
    let output = output.map_or(Ok("void".to_owned()), |ty| c_type(convention, name, &syn::parse2(ty.clone())?))?;
    let parameters: Vec<String> = parameters
        .iter()
        .map(|(ident, ty)| declared(convention, ident, &syn::parse2(ty.clone())?))
        .collect::<Result<_>>()?;
    Ok(format!("{output} {name}({});", parameters.join(", ")))
}

/// Returns the declaration of a parameter. The layout has LAPACKE's name.
fn declared(convention: Convention, ident: &Ident, ty: &Type) -> Result<String> {
    let ty = c_type(convention, ident, ty)?;
    let name = match ident.to_string() {
        name if name == "interface" => "matrix_layout".to_owned(),
        name => name.trim_start_matches('_').to_owned(),
    };
    Ok(if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") })
}

/// Returns the C notation of a type. CBLAS declares addresses of complex numbers as `void *`.
fn c_type(convention: Convention, ident: &Ident, ty: &Type) -> Result<String> {
    match ty {
        Type::Ptr(pointer) => {
            let constant = if pointer.mutability.is_some() { "" } else { "const " };
            let target = c_type(convention, ident, &pointer.elem)?;
            Ok(match target.as_str() {
                // The address of an address: `const` goes behind the inner one.
                target if target.ends_with('*') => format!("{target}{constant}*"),
                target if convention == Convention::Cblas && target.starts_with("lapack_complex") => {
                    format!("{constant}void *")
                }
                target => format!("{constant}{target} *"),
            })
        }
        Type::Path(path) => named(convention, ident, path),
        other => Err(Error::new_spanned(other, "not a type of the C interface")),
    }
}

fn named(convention: Convention, ident: &Ident, path: &TypePath) -> Result<String> {
    let unknown = || Error::new_spanned(path, "not a type of the C interface");
    let last = path.path.segments.last().ok_or_else(unknown)?.ident.to_string();
    let c = match last.as_str() {
        "i32" => "int",
        "i64" => "int64_t",
        "usize" => "size_t",
        "f32" => "float",
        "f64" => "double",
        "c32" => "lapack_complex_float",
        "c64" => "lapack_complex_double",
        "Letter" => "char",
        "Code" => code(convention, ident)?,
        // Associated types of an element type.
        "Real" | "Lower" => {
            let element = path.qself.as_ref().ok_or_else(unknown)?;
            match (last.as_str(), c_type(convention, ident, &element.ty)?.as_str()) {
                ("Real", "float" | "lapack_complex_float") | ("Lower", "double") => "float",
                ("Real", "double" | "lapack_complex_double") => "double",
                ("Lower", "lapack_complex_double") => "lapack_complex_float",
                _ => return Err(unknown()),
            }
        }
        _ => return Err(unknown()),
    };
    Ok(c.to_owned())
}

/// Returns the CBLAS enumeration for an argument of this name. LAPACKE's layout is an `int`.
fn code(convention: Convention, ident: &Ident) -> Result<&'static str> {
    match (convention, ident.to_string().as_str()) {
        (Convention::Lapacke(_), _) => Ok("int"),
        (_, "order") => Ok("CBLAS_LAYOUT"),
        (_, "trans" | "transa" | "transb") => Ok("CBLAS_TRANSPOSE"),
        (_, "uplo") => Ok("CBLAS_UPLO"),
        (_, "diag") => Ok("CBLAS_DIAG"),
        (_, "side") => Ok("CBLAS_SIDE"),
        _ => Err(Error::new_spanned(ident, "no CBLAS enumeration is known for this argument name")),
    }
}
