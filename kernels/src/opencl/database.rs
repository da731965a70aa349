//! [`Database`]: the rows of parameters for devices, as readable text.
//!
//! The crate has a database with rows for classes of devices, and for devices that were measured. A user's database, in
//! one file for all devices, has the rows that `superscalar-tune` measured: `opencl.parameters` in the folder for
//! caches, or the file that `SUPERSCALAR_OPENCL_PARAMETERS` names. Its first line is the version of the format. Then
//! come sections, which begin with a [`Target`] in brackets, and their rows (see `row.rs`). What follows a `#` is a
//! comment; behind a row it is kept.

use super::{Class, GroupLimits, ParameterConstraint, Parameters};
use std::{fmt, str::FromStr, sync::OnceLock};
use superscalar_devices::opencl::DeviceClass;

/// The first line of a database. The number changes when older files would be misunderstood.
const VERSION: &str = "superscalar opencl parameters 2";

/// The devices that rows are for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// Devices with this name.
    Device(String),
    /// NVIDIA's GPUs of this compute capability.
    Capability(u32, u32),
    /// Devices of this class.
    Class(Class),
}

impl Target {
    /// Returns whether the rows are for a device.
    #[must_use]
    pub fn has(&self, device: &DeviceClass) -> bool {
        match self {
            Self::Device(name) => *name == device.name,
            Self::Capability(major, minor) => device.compute_capability == Some((*major, *minor)),
            Self::Class(class) => *class == Class::of(device),
        }
    }
}

/// Parses what is in the brackets of a section.
impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`[{text}]`: expected `device NAME`, `nvidia MAJOR.MINOR`, or `class` and one of these");
        let (kind, rest) = text.split_once(' ').ok_or_else(wrong)?;
        let capability = || {
            let (major, minor) = rest.split_once('.')?;
            Some(Self::Capability(major.parse().ok()?, minor.parse().ok()?))
        };
        let class = || Class::ALL.into_iter().find(|class| class.name() == rest).map(Self::Class);
        let target = match kind {
            "device" if !rest.is_empty() => Some(Self::Device(rest.to_owned())),
            "nvidia" => capability(),
            "class" => class(),
            _ => None,
        };
        target.ok_or_else(|| wrong() + &Class::ALL.map(|class| format!(" {}", class.name())).concat())
    }
}

/// Formats the target so that it can be parsed.
impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(name) => write!(out, "device {name}"),
            Self::Capability(major, minor) => write!(out, "nvidia {major}.{minor}"),
            Self::Class(class) => write!(out, "class {}", class.name()),
        }
    }
}

/// A row of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunedRow {
    /// The devices that it is for.
    pub target: Target,
    /// The parameters.
    pub parameters: Parameters,
    /// What is worth knowing about it: vendor, driver, rate. One line, which may be empty.
    pub remark: String,
}

/// Rows of parameters, the preferred one of a target and a type first.
///
/// ```
/// use superscalar::kernels::opencl::{Class, Parameters, tuning::{Database, Target, TunedRow}};
///
/// let (target, parameters) = (Target::Device("Fast GPU".into()), Parameters::of(Class::Gpu, 'd'));
/// let database = Database { rows: vec![TunedRow { target, parameters, remark: "driver 1.2".into() }] };
/// assert_eq!(database.to_string().parse(), Ok(database));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Database {
    /// The rows.
    pub rows: Vec<TunedRow>,
}

impl Database {
    /// Returns the database of this crate.
    ///
    /// # Panics
    /// Never: a test parses it.
    #[must_use]
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Database> = OnceLock::new();
        let parse = || include_str!("shipped.parameters").parse().unwrap_or_else(|why| panic!("{why}"));
        SHIPPED.get_or_init(parse)
    }

    /// Adds a row, in the place of those for the same target and type.
    pub fn replace(&mut self, row: TunedRow) {
        let is_same = |old: &TunedRow| old.target == row.target && old.parameters.letter == row.parameters.letter;
        self.rows.retain(|old| !is_same(old));
        self.rows.push(row);
    }

    /// Iterates over the rows for a device and a type: those for the device first, then those for its architecture,
    /// then those for its class.
    pub fn rows_for<'d>(&'d self, device: &'d DeviceClass, letter: char) -> impl Iterator<Item = &'d Parameters> {
        let rank = |target: &Target| match target {
            Target::Device(_) => 0,
            Target::Capability(..) => 1,
            Target::Class(_) => 2,
        };
        let its = move |row: &&TunedRow| row.parameters.letter == letter && row.target.has(device);
        (0..3).flat_map(move |wanted| {
            self.rows.iter().filter(its).filter(move |row| rank(&row.target) == wanted).map(|row| &row.parameters)
        })
    }

    /// Returns the first row for a device and a type that the device can run.
    ///
    /// # Errors
    /// The first constraint that the last one of the rows violates, or that there is no row.
    pub fn fitting(&self, device: &DeviceClass, letter: char) -> Result<Parameters, ParameterConstraint> {
        let limits = GroupLimits::of(device);
        let fits = |row: &Parameters| row.check(&limits).map(|()| *row);
        self.rows_for(device, letter).map(fits).reduce(Result::or).unwrap_or(Err(ParameterConstraint::NoRow))
    }
}

/// Returns what is in the brackets of a section's line. A comment may follow.
fn section(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix('[')?.rsplit_once(']')?;
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(name)
}

/// Parses a database.
impl FromStr for Database {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        match lines.next() {
            Some((_, VERSION)) => {}
            Some((_, other)) => return Err(format!("line 1: `{other}`: expected `{VERSION}`")),
            None => return Err(format!("the file is empty: expected `{VERSION}`")),
        }
        let (mut target, mut rows) = (None, Vec::new());
        for (at, line) in lines {
            let wrong = |why: String| format!("line {}: {why}", at + 1);
            let (content, remark) = line.split_once('#').unwrap_or((line, ""));
            let content = content.trim();
            // The name of a device may contain any character.
            if let Some(name) = section(line.trim()) {
                target = Some(name.parse::<Target>().map_err(wrong)?);
            } else if !content.is_empty() {
                let target = target.clone().ok_or_else(|| wrong("a row before the first section".to_owned()))?;
                let parameters: Parameters = content.parse().map_err(wrong)?;
                // A row that no device can run is damaged.
                parameters.check(&GroupLimits::NONE).map_err(|constraint| wrong(constraint.to_string()))?;
                rows.push(TunedRow { target, parameters, remark: remark.trim().to_owned() });
            }
        }
        Ok(Self { rows })
    }
}

/// Formats the database so that it can be parsed.
impl fmt::Display for Database {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{VERSION}")?;
        for section in self.rows.chunk_by(|row, next| row.target == next.target) {
            writeln!(out, "\n[{}]", section[0].target)?;
            for TunedRow { parameters, remark, .. } in section {
                let mark = if remark.is_empty() { "" } else { "  # " };
                writeln!(out, "{parameters}{mark}{}", remark.replace(['\n', '\r'], " "))?;
            }
        }
        Ok(())
    }
}

impl Parameters {
    /// Returns the row of this crate's database for a class and a type.
    ///
    /// # Panics
    /// If the letter is none of s, d, c and z.
    #[must_use]
    pub fn of(class: Class, letter: char) -> Self {
        let first = Self::all_of(class, letter).into_iter().next();
        first.unwrap_or_else(|| panic!("there is no element type `{letter}`"))
    }

    /// Returns the rows of this crate's database for a class and a type, the preferred one first. The others are for
    /// devices with smaller groups.
    #[must_use]
    pub fn all_of(class: Class, letter: char) -> Vec<Self> {
        let rows = Database::shipped().rows.iter().filter(|row| row.target == Target::Class(class));
        rows.map(|row| row.parameters).filter(|row| row.letter == letter).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{opencl::ProductForm, scalar::LETTERS};

    /// A GPU with what most have.
    fn device(name: &str, limits: GroupLimits) -> DeviceClass {
        let GroupLimits { items, dim_items: [x, y], local_bytes, has_matrix_f64 } = limits;
        DeviceClass {
            platform: "OpenCL".into(),
            vendor: "NVIDIA Corporation".into(),
            name: name.into(),
            driver: "1.0".into(),
            is_cpu: false,
            compute_units: 16,
            clock_hz: 1_000_000_000,
            compute_capability: Some((6, 1)),
            has_matrix_f64,
            concurrent_groups: 0,
            max_work_group: items,
            max_work_items: [x, y, 64],
            local_bytes,
            has_local_memory: true,
            vector_f32: 1,
            vector_f64: 1,
            has_f64: true,
            memory_bytes: 1 << 32,
            buffer_bytes_max: 1 << 30,
            is_unified: false,
            align_bytes: 128,
            is_divisible: false,
        }
    }

    fn row(target: Target, letter: char, packed_steps: usize) -> TunedRow {
        let parameters = Parameters { packed_steps, ..Parameters::of(Class::Gpu, letter) };
        TunedRow { target, parameters, remark: format!("{packed_steps} steps") }
    }

    #[test]
    fn shipped_rows_are_complete_and_valid() {
        let database = Database::shipped();
        assert_eq!(database.to_string().parse::<Database>().as_ref(), Ok(database));
        for (class, letter) in Class::ALL.into_iter().flat_map(|class| LETTERS.map(|letter| (class, letter))) {
            assert!(!Parameters::all_of(class, letter).is_empty(), "{class:?} {letter}");
        }
        for TunedRow { target, parameters, .. } in &database.rows {
            // Rows for single devices may need more than most devices have.
            let limits = if matches!(target, Target::Class(_)) { GroupLimits::USUAL } else { GroupLimits::NONE };
            assert_eq!(parameters.check(&limits), Ok(()), "{parameters}");
        }
    }

    #[test]
    fn devices_with_less_have_other_rows() {
        let small = GroupLimits { items: 64, dim_items: [64, 64], ..GroupLimits::USUAL };
        for letter in LETTERS {
            let fitting = |limits| Database::shipped().fitting(&device("GPU", limits), letter);
            assert_eq!(fitting(GroupLimits::USUAL), Ok(Parameters::of(Class::Gpu, letter)));
            let tile = fitting(small).map(|row| row.product);
            assert!(matches!(tile, Ok(ProductForm::Grouped(tile)) if tile.items() == 64), "{tile:?}");
            assert_eq!(fitting(GroupLimits { items: 16, ..small }), Err(ParameterConstraint::GroupItems));
        }
    }

    #[test]
    fn nearest_target_is_preferred() {
        let name = "GPU [7] #2";
        let targets = [Target::Class(Class::Gpu), Target::Capability(6, 1), Target::Device(name.into())];
        let mut database = Database { rows: vec![row(Target::Device("other".into()), 'd', 64)] };
        for (at, target) in targets.into_iter().enumerate() {
            database.rows.push(row(target, 'd', 128 << at));
            let read: Database = database.to_string().parse().expect("a database");
            assert_eq!(read, database, "{database}");
            let steps = |row: Parameters| row.packed_steps;
            assert_eq!(read.fitting(&device(name, GroupLimits::USUAL), 'd').map(steps), Ok(128 << at));
        }
        let commented = database.to_string().replace("[nvidia 6.1]", "[nvidia 6.1]  # Pascal");
        assert_eq!(commented.parse().as_ref(), Ok(&database), "{commented}");
        assert_eq!(database.fitting(&device(name, GroupLimits::USUAL), 's'), Err(ParameterConstraint::NoRow));
        database.replace(row(Target::Device("other".into()), 'd', 4096));
        let steps: Vec<_> = database.rows.iter().map(|row| row.parameters.packed_steps).collect();
        assert_eq!(steps, [128, 256, 512, 4096]);
    }

    #[test]
    fn malformed_files_are_refused() {
        let good = Parameters::of(Class::Gpu, 'd').to_string();
        for (text, message) in [
            (String::new(), "empty"),
            ("# a table of something else".into(), "line 1"),
            ("superscalar opencl parameters 1\n".into(), "expected `superscalar opencl parameters 2`"),
            (format!("{VERSION}\n{good}"), "line 2: a row before the first section"),
            (format!("{VERSION}\n\n[device]\n"), "line 3"),
            (format!("{VERSION}\n[nvidia 9]\n"), "line 2"),
            (format!("{VERSION}\n[class toaster]\n"), "wide-cpu"),
            (format!("{VERSION}\n[device A]\n{good} colour=3"), "line 3: `colour` is unknown"),
            (format!("{VERSION}\n[device A]\n{}", &good[..good.len() / 2]), "line 3"),
            (format!("{VERSION}\n[device A]\n{}", good.replace("unroll=4", "unroll=3")), "line 3: unrolled steps"),
            (
                format!("{VERSION}\n[device A]\n{}", good.replace("triangle=32", "triangle=30")),
                "line 3: order of a triangle",
            ),
            (
                format!("{VERSION}\n[device A]\n{}", good.replace(" items=64", " items=32")),
                "line 3: work-items that are no power",
            ),
        ] {
            let error = text.parse::<Database>().expect_err(&text);
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
