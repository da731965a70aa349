//! The text of [`Parameters`]: one line that people can read and edit, and that the database consists of.
//!
//! A row is the letter of the element type, the form of the product's kernel, and words of a key and a value. Each key
//! occurs once, and none is left out.
//!
//! | key | value |
//! |---|---|
//! | `tile` | block of a group: rows x columns x steps of the inner dimension |
//! | `item` | register tile of a looping kernel: rows x columns |
//! | `unroll`, `group`, `buffers` | of a grouped kernel: steps written out, work-items down x across, buffering |
//! | `a`, `b` | of a grouped kernel: reading work-items, vector, order, memory and layout of a factor |
//! | `vector` | numbers in a vector of a looping kernel |
//! | `warp` | of a kernel with matrix instructions: tile of 32 work-items, rows x columns |
//! | `pack-a`, `pack-b` | packing: block of a group, of a work-item, and unrolling |
//! | `steps` | steps that are packed at a time |
//! | `direct` | the order of products up to which factors are not packed; of m x n, the harmonic mean |
//! | `factor`, `factor-items` | order of a block and work-items of the kernel that factors |
//! | `other-vector`, `triangle`, `items` | vector, order of a triangle and work-items of the other kernels |

use super::{
    Buffering, FactorTile, GroupTile, LoopingTile, MatrixTile, PackedLayout, Packing, Parameters, ProductForm,
};
use crate::scalar::LETTERS;
use std::{fmt, str::FromStr};

const LAYOUTS: [(PackedLayout, &str); 3] = [
    (PackedLayout::RowMajor, "row-major"),
    (PackedLayout::GroupBlocks, "group-blocks"),
    (PackedLayout::ItemBlocks, "item-blocks"),
];
const BUFFERINGS: [(Buffering, &str); 3] =
    [(Buffering::None, "none"), (Buffering::Registers, "registers"), (Buffering::Double, "double")];
const ORDERS: [(bool, &str); 2] = [(true, "strided"), (false, "adjacent")];
const MEMORIES: [(bool, &str); 2] = [(true, "local"), (false, "global")];

/// Returns the name of a value.
fn name_of<V: Copy + PartialEq>(names: &[(V, &'static str)], value: V) -> &'static str {
    names.iter().find(|(known, _)| *known == value).map_or("", |(_, name)| name)
}

/// Returns the value with a name.
fn named<V: Copy>(names: &[(V, &str)], text: &str) -> Result<V, String> {
    let found = names.iter().find(|(_, name)| *name == text).map(|(value, _)| *value);
    found.ok_or_else(|| {
        let all: Vec<&str> = names.iter().map(|(_, name)| *name).collect();
        format!("`{text}` is none of {}", all.join(", "))
    })
}

/// Parses numbers with an `x` between them.
fn numbers<const N: usize>(text: &str) -> Result<[usize; N], String> {
    let parsed: Option<Vec<usize>> = text.split('x').map(|word| word.parse().ok()).collect();
    let parsed = parsed.and_then(|numbers| numbers.try_into().ok());
    parsed.ok_or_else(|| format!("`{text}`: expected {N} numbers with an `x` between them"))
}

/// The words of a row that were not used yet.
struct Words<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Words<'t> {
    fn take(&mut self, key: &str) -> Result<&'t str, String> {
        let at = self.0.iter().position(|(known, _)| *known == key).ok_or_else(|| format!("`{key}` is missing"))?;
        Ok(self.0.remove(at).1)
    }

    fn numbers<const N: usize>(&mut self, key: &str) -> Result<[usize; N], String> {
        numbers(self.take(key)?).map_err(|why| format!("{key}={why}"))
    }

    fn number(&mut self, key: &str) -> Result<usize, String> {
        self.numbers::<1>(key).map(|[number]| number)
    }

    /// Parses a value that has parts with commas between them.
    fn parts<const N: usize>(&mut self, key: &str) -> Result<[&'t str; N], String> {
        let text = self.take(key)?;
        let parts: Vec<&str> = text.split(',').collect();
        parts.try_into().map_err(|_| format!("{key}={text}: expected {N} parts with commas between them"))
    }

    fn packing(&mut self, key: &str) -> Result<Packing, String> {
        let pairs = self.parts::<3>(key)?.map(numbers::<2>);
        let [[m_wg, n_wg], [m_wi, n_wi], [m_unroll, n_unroll]] = match pairs {
            [Ok(group), Ok(item), Ok(unroll)] => [group, item, unroll],
            [Err(why), ..] | [_, Err(why), _] | [.., Err(why)] => return Err(format!("{key}={why}")),
        };
        Ok(Packing { m_wg, n_wg, m_wi, n_wi, m_unroll, n_unroll })
    }

    fn factor(&mut self, key: &str) -> Result<FactorTile, String> {
        let [dim, vector, order, memory, layout] = self.parts::<5>(key)?;
        let parsed = || -> Result<_, String> {
            let ([dim], [vector]) = (numbers(dim)?, numbers(vector)?);
            let (is_strided, is_local) = (named(&ORDERS, order)?, named(&MEMORIES, memory)?);
            Ok(FactorTile { dim, vector, is_strided, is_local, layout: named(&LAYOUTS, layout)? })
        };
        parsed().map_err(|why| format!("{key}={why}"))
    }

    fn looping(&mut self) -> Result<LoopingTile, String> {
        let ([m_wg, n_wg, k_wg], [m_wi, n_wi]) = (self.numbers("tile")?, self.numbers("item")?);
        Ok(LoopingTile { m_wg, n_wg, k_wg, m_wi, n_wi, vector: self.number("vector")? })
    }

    fn matrix(&mut self) -> Result<MatrixTile, String> {
        let ([m_wg, n_wg, k_wg], [m_warp, n_warp]) = (self.numbers("tile")?, self.numbers("warp")?);
        Ok(MatrixTile { m_wg, n_wg, k_wg, m_warp, n_warp })
    }

    fn grouped(&mut self) -> Result<GroupTile, String> {
        let ([m_wg, n_wg, k_wg], k_wi) = (self.numbers("tile")?, self.number("unroll")?);
        let ([m_dim, n_dim], a, b) = (self.numbers("group")?, self.factor("a")?, self.factor("b")?);
        let buffering = named(&BUFFERINGS, self.take("buffers")?).map_err(|why| format!("buffers={why}"))?;
        Ok(GroupTile { m_wg, n_wg, k_wg, k_wi, m_dim, n_dim, a, b, buffering })
    }
}

/// Parses a row. Its numbers may violate a constraint: see [`Parameters::check`].
impl FromStr for Parameters {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text.split_whitespace();
        let letter = rest.next().and_then(|word| word.parse().ok()).filter(|letter| LETTERS.contains(letter));
        let letter = letter.ok_or("expected an element type, s, d, c or z")?;
        let form = rest.next().unwrap_or_default();
        let pairs = rest.map(|word| word.split_once('=').ok_or_else(|| format!("`{word}`: expected KEY=VALUE")));
        let mut words = Words(pairs.collect::<Result<_, _>>()?);
        let product = match form {
            "looping" => ProductForm::Looping(words.looping()?),
            "grouped" => ProductForm::Grouped(words.grouped()?),
            "matrix" => ProductForm::Matrix(words.matrix()?),
            other => {
                return Err(format!("`{other}` is no form of a kernel: expected `looping`, `grouped` or `matrix`"));
            }
        };
        let parameters = Self {
            letter,
            product,
            packing: [words.packing("pack-a")?, words.packing("pack-b")?],
            packed_steps: words.number("steps")?,
            direct_order: words.number("direct")?,
            vector: words.number("other-vector")?,
            triangle_order: words.number("triangle")?,
            factor_order: words.number("factor")?,
            factor_items: words.number("factor-items")?,
            work_items: words.number("items")?,
        };
        // What is left is unknown, or occurs twice.
        words.0.first().map_or(Ok(parameters), |(key, _)| Err(format!("`{key}` is unknown or occurs twice")))
    }
}

/// Formats the row so that it can be parsed.
impl fmt::Display for Parameters {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { letter, product, packing, packed_steps, direct_order, vector, .. } = self;
        let &Self { triangle_order, factor_order, factor_items, work_items, .. } = self;
        match product {
            ProductForm::Looping(LoopingTile { m_wg, n_wg, k_wg, m_wi, n_wi, vector }) => {
                write!(out, "{letter} looping tile={m_wg}x{n_wg}x{k_wg} item={m_wi}x{n_wi} vector={vector}")?;
            }
            ProductForm::Grouped(GroupTile { m_wg, n_wg, k_wg, k_wi, m_dim, n_dim, a, b, buffering }) => {
                write!(out, "{letter} grouped tile={m_wg}x{n_wg}x{k_wg} unroll={k_wi} group={m_dim}x{n_dim}")?;
                for (key, FactorTile { dim, vector, is_strided, is_local, layout }) in [("a", a), ("b", b)] {
                    let names = [name_of(&ORDERS, is_strided), name_of(&MEMORIES, is_local), name_of(&LAYOUTS, layout)];
                    write!(out, " {key}={dim},{vector},{}", names.join(","))?;
                }
                write!(out, " buffers={}", name_of(&BUFFERINGS, buffering))?;
            }
            ProductForm::Matrix(MatrixTile { m_wg, n_wg, k_wg, m_warp, n_warp }) => {
                write!(out, "{letter} matrix tile={m_wg}x{n_wg}x{k_wg} warp={m_warp}x{n_warp}")?;
            }
        }
        for (key, Packing { m_wg, n_wg, m_wi, n_wi, m_unroll, n_unroll }) in ["pack-a", "pack-b"].iter().zip(packing) {
            write!(out, " {key}={m_wg}x{n_wg},{m_wi}x{n_wi},{m_unroll}x{n_unroll}")?;
        }
        write!(out, " steps={packed_steps} direct={direct_order} other-vector={vector}")?;
        write!(out, " triangle={triangle_order} factor={factor_order} factor-items={factor_items} items={work_items}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::Class;

    #[test]
    fn rows_survive_a_round_trip() {
        let shipped = Class::ALL.into_iter().flat_map(|class| LETTERS.map(|letter| Parameters::all_of(class, letter)));
        // Valid or not: a prime step visits all values of each parameter.
        let grouped = GroupTile::space().step_by(10_007);
        let grouped = grouped.map(|tile| Parameters::of(Class::Gpu, 'c').with_product(ProductForm::Grouped(tile)));
        for row in shipped.flatten().chain(grouped) {
            assert_eq!(row.to_string().parse::<Parameters>().as_ref(), Ok(&row), "{row}");
        }
    }

    #[test]
    fn malformed_rows_are_refused() {
        let row = Parameters::of(Class::Gpu, 'd').to_string();
        assert!(row.parse::<Parameters>().is_ok(), "{row}");
        for (part, other, message) in [
            ("d grouped", "x grouped", "element type"),
            ("d grouped", "d scattered", "form of a kernel"),
            ("tile=", "tiles=", "`tile` is missing"),
            ("unroll=4", "unroll=four", "unroll=`four`"),
            ("unroll=4", "unroll=4x4", "expected 1 numbers"),
            ("unroll=4", "unroll=-4", "unroll="),
            ("unroll=4", "unroll=4 unroll=4", "occurs twice"),
            ("unroll=4", "unroll=4 colour=4", "`colour` is unknown"),
            ("unroll=4", "unroll", "KEY=VALUE"),
            ("strided,", "striped,", "a=`striped` is none of strided, adjacent"),
            ("strided,", "", "a="),
            ("buffers=double", "buffers=triple", "buffers=`triple`"),
            ("pack-b=32x", "pack-b=", "pack-b="),
            ("items=64", "items=99999999999999999999999", "items="),
        ] {
            let wrong = row.replacen(part, other, 1);
            assert_ne!(wrong, row, "{part}");
            let error = wrong.parse::<Parameters>().expect_err(&wrong);
            assert!(error.contains(message), "{wrong}: {error}");
        }
        assert!("".parse::<Parameters>().is_err() && "d".parse::<Parameters>().is_err());
    }
}
