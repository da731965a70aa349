//! Programs: compiled once, kept on disk.

use crate::bench::{Bench, OTHER, SOURCE, Settings, apply, compile};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// A directory for one test, removed at its end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let (program, process) = (env!("CARGO_CRATE_NAME"), std::process::id());
        let path = std::env::temp_dir().join(format!("superscalar-{program}-{name}-{process}"));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        files
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(directory: &Directory) -> Option<Bench> {
    Bench::open_with(1, |settings| Settings { cache: Some(directory.0.clone()), ..settings })
}

/// Opens a device and runs a kernel whose result must be right.
fn run(directory: &Directory) -> Option<()> {
    let mut bench = open(directory)?;
    let event = bench.issue((0, 0), &[], |queue| apply(queue, "set", (0, 3), 11)).expect("a task");
    bench.end_of(event).result.expect("it ends well");
    assert_eq!(bench.read_ints(0, 0, 3, &[]), [11; 3]);
    Some(())
}

fn identity(path: &Path) -> (u64, u64) {
    let data = fs::metadata(path).expect("a file");
    (data.ino(), data.len())
}

#[test]
fn program_is_cached_on_disk() {
    let directory = Directory::new("kept");
    if run(&directory).is_none() {
        return;
    }
    let files = directory.files();
    assert_eq!(files.len(), 1, "one program, one file: {files:?}");
    let written = identity(&files[0]);
    run(&directory);
    assert_eq!(directory.files(), files);
    assert_eq!(identity(&files[0]), written, "it was compiled again");
    // Other options make another program.
    let mut bench = open(&directory).expect("as before");
    let event = bench.issue((0, 0), &[], |queue| compile(queue, SOURCE, &["-DOTHER"])).expect("a task");
    bench.end_of(event).result.expect("it ends well");
    assert_eq!(directory.files().len(), 2);
}

#[test]
fn damaged_or_swapped_file_is_replaced() {
    let directory = Directory::new("corrupt");
    if run(&directory).is_none() {
        return;
    }
    let file = directory.files().remove(0);
    let whole = fs::read(&file).expect("a file");
    let mut changed = whole.clone();
    let middle = changed.len() - 100;
    changed[middle] ^= 0x20;
    for spoiled in [&whole[..whole.len() / 2], &[], b"something else", &changed] {
        fs::write(&file, spoiled).expect("a file");
        run(&directory);
        assert_ne!(fs::read(&file).expect("a file"), spoiled, "it was not replaced");
        let again = identity(&file);
        run(&directory);
        assert_eq!(identity(&file), again, "what replaced it is not good");
    }
    // Replace the file by that of another program.
    let mut bench = open(&directory).expect("as before");
    let event = bench.issue((0, 0), &[], |queue| compile(queue, OTHER, &[])).expect("a task");
    bench.end_of(event).result.expect("it ends well");
    let others = directory.files().into_iter().find(|path| *path != file).expect("a second file");
    fs::copy(&others, &file).expect("a copy");
    run(&directory);
    assert_ne!(fs::read(&file).expect("a file"), fs::read(&others).expect("a file"));
}

#[test]
fn unwritable_cache_is_harmless() {
    let directory = Directory::new("unwritable");
    // A file in the place of the directory.
    fs::write(&directory.0, "in the way").expect("a file");
    run(&directory);
    fs::remove_file(&directory.0).expect("it is still there");
}
