//! Runs `superscalar-tune` as a user does.

use std::{
    fs,
    path::PathBuf,
    process::{self, Command, Output},
};

/// A folder for what the program writes.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("superscalar-tune-{}-{name}", process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn tune(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_superscalar-tune"));
        command.current_dir(&self.0).env("SUPERSCALAR_CACHE", &self.0).args(line.split_whitespace());
        command.env_remove("SUPERSCALAR_TUNING").env_remove("SUPERSCALAR_OPENCL_PARAMETERS");
        command.output().expect("the program starts")
    }

    /// Runs the program, and returns what it prints.
    fn printed(&self, line: &str) -> String {
        let output = self.tune(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn block_sizes_are_stored_and_logged() {
    let folder = Folder::new("cpu");
    let line = "--device cpu --type d --seconds 1 --orders 48 --workers 1 --out blocks --log log";
    let printed = folder.printed(&format!("{line} --dry-run"));
    assert!(printed.contains("potrf d workers 1 n    48: nb") && !folder.0.join("blocks").exists(), "{printed}");
    assert_eq!(folder.read("log").lines().count(), 4);
    folder.printed(line);
    // Other entries stay.
    folder.printed(&line.replace("--type d", "--type s"));
    let table = folder.read("blocks");
    for start in ["potrf d 1 48 ", "geqrf d 1 48 ", "getrf s 1 48 "] {
        assert!(table.lines().any(|line| line.starts_with(start)), "{table}");
    }
    fs::write(folder.0.join("blocks"), "potrf d one").expect("the file");
    let output = folder.tune(line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("line 1") && said.contains("blocks"), "{said}");
}

#[test]
fn wrong_arguments_are_refused_by_name() {
    let folder = Folder::new("arguments");
    for (line, message) in [
        ("--device toaster", "--device toaster"),
        ("--device cpu:1", "--device cpu:1"),
        ("--device cuda:first", "cuda"),
        ("--device opencl:99", "opencl"),
        ("--type q", "expected s, d, c or z"),
        ("--seconds 0", "positive number"),
        ("--seconds NaN", "positive number"),
        ("--orders 0", "--orders"),
        ("--sample", "--sample: cpu is no OpenCL device"),
        ("--log no/such/folder/log", "--log no/such/folder/log"),
    ] {
        let output = folder.tune(line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(message), "{line}: {said}");
    }
}

/// The row that is stored is used by the next process, which measures it first.
#[cfg(feature = "opencl")]
#[test]
fn rows_are_stored_and_logged() {
    use superscalar::{devices::opencl::devices, kernels::opencl::tuning::Database};

    if devices().expect("drivers answer").is_empty() {
        let required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
        assert!(!required, "REQUIRE_OPENCL is 1, but there is no OpenCL device");
        return println!("SKIPPED: no device for OpenCL");
    }
    let folder = Folder::new("opencl");
    let printed = folder.printed("--device opencl:0 --type s,c --sample --seed 3 --out sample");
    let database: Database = folder.read("sample").parse().expect("a database");
    let [single, complex] = &database.rows[..] else { panic!("{database}") };
    assert_eq!((single.parameters.letter, complex.parameters.letter), ('s', 'c'));
    assert!(database.rows.iter().all(|row| printed.contains(&row.parameters.to_string()) && row.remark == "seed 3"));
    let line = "--device opencl:0 --type s --seconds 5 --log log";
    let printed = folder.printed(&format!("{line} --dry-run"));
    assert!(printed.contains("s: ") && printed.contains("rows measured"), "{printed}");
    assert!(!folder.0.join("opencl.parameters").exists());
    let log = folder.read("log");
    let rates = log.lines().filter_map(|line| line.split("product GFLOP/s ").nth(1)?.split(' ').next());
    let (discarded, rates): (Vec<_>, Vec<_>) = rates.partition(|rate| *rate == "discarded");
    let is_rate = |rate: &&str| rate.parse::<f64>().is_ok_and(|rate| rate > 0.0 && rate.is_finite());
    assert!(!rates.is_empty() && rates.iter().all(is_rate), "{discarded:?} {log}");
    let printed = folder.printed(line);
    assert!(printed.contains("written to"), "{printed}");
    let database: Database = folder.read("opencl.parameters").parse().expect("a database");
    let [row] = &database.rows[..] else { panic!("{database}") };
    assert!(printed.contains(&row.parameters.to_string()) && row.remark.contains("driver"), "{printed}");
    folder.printed(line);
    let first = folder.read("log").lines().next().expect("a line").to_owned();
    assert!(first.ends_with(&row.parameters.to_string()), "{first}: {database}");
}
