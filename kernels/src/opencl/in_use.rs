//! The rows of parameters that this process uses.
//!
//! The user's database is read once, by the first call or the first question for scratch. The row of a device and a
//! type is chosen once, by its first call. A call finds its row in a list that only grows: it takes no lock, allocates
//! nothing and opens no file.
//!
//! Rows of the user's database that a device cannot run make the file unusable for this device: it is stale, or was
//! made for another device of the same name. The crate's rows are used instead.

use super::{
    GroupLimits, Parameters,
    database::{Database, TunedRow},
    refusal,
};
use crate::scalar::LETTERS;
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};
use superscalar_devices::opencl::DeviceClass;
use superscalar_runtime::{
    DeviceError,
    cache::{self, CacheFile},
    environment,
};

/// The name of the user's file in the folder for caches.
const FILE: &str = "opencl.parameters";
/// The environment variable that names another file.
const VARIABLE: &str = "SUPERSCALAR_OPENCL_PARAMETERS";

/// The user's database.
struct UserRows {
    /// The file, if there is a folder for caches.
    file: Option<CacheFile>,
    /// Its rows, or none. An error concerns a file that the user has named.
    database: Result<Database, DeviceError>,
    /// For each type, rows of all databases that differ in the scratch that they take.
    by_scratch: [Vec<Parameters>; LETTERS.len()],
}

impl UserRows {
    fn get() -> &'static Self {
        static USER_ROWS: OnceLock<UserRows> = OnceLock::new();
        USER_ROWS.get_or_init(|| {
            let file = cache_file();
            let read = file.as_ref().map_or(Ok(None), |file| file.read(parse));
            let database = read.map(Option::unwrap_or_default).map_err(|error| DeviceError::new(error.to_string()));
            let by_scratch = LETTERS.map(|letter| {
                let mut distinct: Vec<Parameters> = Vec::new();
                let users = database.iter().flat_map(|database| &database.rows);
                for row in users.chain(&Database::shipped().rows).map(|row| row.parameters) {
                    let is_known = distinct.iter().any(|known| known.scratch_key() == row.scratch_key());
                    if row.letter == letter && !is_known {
                        distinct.push(row);
                    }
                }
                distinct
            });
            Self { file, database, by_scratch }
        })
    }

    /// Chooses the row for a device and a type.
    fn choose(&self, device: &DeviceClass, letter: char) -> Result<Parameters, DeviceError> {
        let database = self.database.as_ref().map_err(Clone::clone)?;
        if let Some(row) = database.rows_for(device, letter).next() {
            match (row.check(&GroupLimits::of(device)), &self.file) {
                (Ok(()), _) => return Ok(*row),
                (Err(constraint), Some(file)) => {
                    let why = format!("the row `{row}` is not possible on {}: {constraint}", device.name);
                    file.refuse(why).map_err(|error| DeviceError::new(error.to_string()))?;
                }
                // Rows come from a file.
                (Err(_), None) => {}
            }
        }
        Database::shipped().fitting(device, letter).map_err(|constraint| refusal(device, constraint))
    }
}

fn cache_file() -> Option<CacheFile> {
    let named = environment::variable(VARIABLE).map(CacheFile::named);
    named.or_else(|| Some(CacheFile::within(&cache::folder()?, FILE)))
}

fn parse(bytes: &[u8]) -> Result<Database, String> {
    std::str::from_utf8(bytes).map_err(|error| error.to_string())?.parse()
}

/// The rows of a device, and the list of other devices' rows.
struct DeviceRows {
    class: DeviceClass,
    rows: [Result<Parameters, DeviceError>; LETTERS.len()],
    next: OnceLock<Box<DeviceRows>>,
}

/// Returns the row that this process uses for a device and a type. The class must be that of an open device: whether it
/// has matrix instructions is not known before.
///
/// # Errors
/// If the user has named a file that is not a database or has a row that the device cannot run; if the device can run
/// no row, with the constraint's name; or if the letter is none of s, d, c and z.
pub fn row_of(device: &DeviceClass, letter: char) -> Result<&'static Parameters, DeviceError> {
    static FIRST: OnceLock<Box<DeviceRows>> = OnceLock::new();
    let of_device = || {
        let rows = LETTERS.map(|letter| UserRows::get().choose(device, letter));
        Box::new(DeviceRows { class: device.clone(), rows, next: OnceLock::new() })
    };
    // Another thread may append another device's rows first. Then the list goes on.
    let mut known = FIRST.get_or_init(of_device);
    while known.class != *device {
        known = known.next.get_or_init(of_device);
    }
    let at = LETTERS.iter().position(|&other| other == letter);
    let at = at.ok_or_else(|| DeviceError::new(format!("there is no element type `{letter}`")))?;
    known.rows[at].as_ref().map_err(Clone::clone)
}

/// Returns rows of a type, so that each row that this process may use takes as much scratch as one of them.
pub(super) fn rows_by_scratch(letter: char) -> &'static [Parameters] {
    let at = LETTERS.iter().position(|&other| other == letter);
    at.map_or(&[], |at| &UserRows::get().by_scratch[at])
}

/// Returns the path of the user's database: the file that `SUPERSCALAR_OPENCL_PARAMETERS` names, or
/// `opencl.parameters` in the user's folder for caches. Returns `None` if there is no such folder.
#[must_use]
pub fn file() -> Option<PathBuf> {
    cache_file().map(|file| file.path().to_owned())
}

/// Adds a row to the user's database, or to another file, in the place of one for the same target and type. Returns
/// the file. Processes use the row from their start on.
///
/// # Errors
/// If there is no folder for caches, a file that the user has named is not a database, or it cannot be written.
pub fn store(row: TunedRow, file: Option<&Path>) -> Result<PathBuf, DeviceError> {
    let file = file.map(CacheFile::named).or_else(cache_file);
    let file = file.ok_or_else(|| DeviceError::new("there is no folder for caches: name a file"))?;
    let change = |known: Option<Database>| {
        let mut database = known.unwrap_or_default();
        database.replace(row);
        database.to_string()
    };
    file.update(parse, change).map_err(|error| DeviceError::new(error.to_string()))?;
    Ok(file.path().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Diag, Direction, Op, Scalar, Side, Symmetry, Uplo, c32, c64,
        device::{Call, Mat},
        opencl::{scratch_bytes, scratch_bytes_with},
        operations::{
            Gemm, Geqrf, Getrf, Larfb, Laswp, Potrf, Rank2k, RankK, Symm, Triangular, TriangularAction::Solve,
        },
    };

    /// Returns a call of each operation that takes scratch, for square matrices.
    fn calls<T: Scalar>(order: usize) -> Vec<Call<T>> {
        let [a, b, c] = [0, 1, 2].map(|at| Mat::<T>::at(at * order * order, (order, order), order));
        let ipiv = Mat::<i32>::at(6 * order * order, (order, 1), order);
        let tau = Mat::<T>::at(4 * order * order, (order, 1), order);
        let (alpha, beta, op, uplo, side) = (T::ONE, T::ZERO, Op::ConjTrans, Uplo::Lower, Side::Left);
        let symmetry = Symmetry::Hermitian;
        let triangle = Triangular { action: Solve, side, uplo, op, diag: Diag::NonUnit, alpha, a, b };
        vec![
            Call::Gemm(Gemm { part: None, op_a: Op::None, op_b: Op::Trans, alpha, a, b, beta, c }),
            Call::Symm(Symm { symmetry, side, uplo, alpha, a, b, beta, c }),
            Call::RankK(RankK { symmetry, uplo, op, alpha, a, beta, c }),
            Call::Rank2k(Rank2k { symmetry, uplo, op, alpha, a, b, beta, c }),
            Call::Triangular(triangle),
            Call::Potrf(Potrf { uplo, first: 0, a }),
            Call::Getrf(Getrf { a, first: 0, ipiv }),
            Call::Geqrf(Geqrf { a, t: b, tau }),
            Call::Larfb(Larfb { side, op, v: a, t: b, c }),
            Call::Laswp(Laswp { a, first: 0, ipiv: vec![ipiv], direction: Direction::Forward }),
        ]
    }

    fn check_scratch<T: Scalar>() {
        let orders = [1, 100, 5000].into_iter();
        for (order, call) in orders.flat_map(|order| calls::<T>(order).into_iter().map(move |call| (order, call))) {
            let (bytes, mut most) = (scratch_bytes(&call), 0);
            for row in Database::shipped().rows.iter().filter(|row| row.parameters.letter == T::LETTER) {
                let needed = scratch_bytes_with(&row.parameters, &call);
                assert!(needed <= bytes, "{order}: {} {call:?}", row.parameters);
                if let Call::Gemm(_) = call {
                    assert_eq!(needed > 0, !row.parameters.is_direct([order; 2]), "{order}: {}", row.parameters);
                }
                most = most.max(needed);
            }
            assert!(most > 0 || order == 1, "{order}: {call:?}");
        }
    }

    #[test]
    fn scratch_suffices_for_every_row() {
        check_scratch::<f32>();
        check_scratch::<f64>();
        check_scratch::<c32>();
        check_scratch::<c64>();
    }
}
