//! Letters on the command line: some of them, `all`, or a default that depends on how many routines are named.

use std::str::FromStr;
use superscalar_kernels::{Diag, Direction, Norm, Op, ParseOptionError, Part, Side, Uplo};

/// An option that LAPACK writes as a letter.
pub trait Letter: Copy + FromStr<Err = ParseOptionError> + 'static {
    /// Its values; the first is the default if a routine is named.
    const ALL: &'static [Self];
}

macro_rules! letters {
    ($($option:ident { $($variant:ident)+ })+) => {
        $(impl Letter for $option {
            const ALL: &'static [Self] = &[$(Self::$variant),+];
        })+
    };
}

letters! {
    Uplo { Lower Upper }
    Op { None Trans ConjTrans }
    Side { Left Right }
    Diag { NonUnit Unit }
    Norm { One Max Inf Frobenius }
    Part { All Lower Upper }
    Direction { Forward Backward }
}

/// The letters of one word: one letter, or every letter for `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letters<L>(Vec<L>);

impl<L: Letter> FromStr for Letters<L> {
    type Err = ParseOptionError;

    fn from_str(word: &str) -> Result<Self, ParseOptionError> {
        if word.eq_ignore_ascii_case("all") {
            return Ok(Self(L::ALL.to_vec()));
        }
        Ok(Self(vec![word.parse()?]))
    }
}

/// Returns the letters of these words, each once. Without words, returns the first letter, or if `every` is set all
/// letters.
pub fn chosen<L: Letter + PartialEq>(words: &[Letters<L>], every: bool) -> Vec<L> {
    let default = if every { L::ALL } else { &L::ALL[..1] };
    let mut letters: Vec<L> = Vec::new();
    for &letter in words.iter().flat_map(|word| &word.0) {
        if !letters.contains(&letter) {
            letters.push(letter);
        }
    }
    if letters.is_empty() { default.to_vec() } else { letters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_letters() {
        let words = |text: &str| -> Vec<Letters<Part>> { text.split(',').map(|word| word.parse().unwrap()).collect() };
        assert_eq!(chosen(&words("u,l,u"), true), [Part::Upper, Part::Lower]);
        assert_eq!(chosen(&words("u,all"), false), [Part::Upper, Part::All, Part::Lower]);
        assert_eq!(chosen(&words("a"), true), [Part::All]);
        assert_eq!(chosen::<Part>(&[], false), [Part::All]);
        assert_eq!(chosen::<Part>(&[], true), Part::ALL);
        assert!("x".parse::<Letters<Uplo>>().is_err());
    }
}
