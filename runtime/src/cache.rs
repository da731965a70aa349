//! Files that are kept from run to run in the user's cache directory: capability weights, block sizes, compiled
//! programs.
//!
//! A file is replaced atomically, so a reader sees either the old one or the new one. A program that adds to existing
//! contents does so under a lock. A file in the cache must belong to the user, because its contents are trusted and,
//! for compiled programs, executed. An unusable file in the cache counts as missing and is reported once; an unusable
//! file that the user has named is an error.

#![forbid(unsafe_code)]

use crate::{environment::variable, error::Error, notices, sync::held};
use std::{
    fmt::Display,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{self, Path, PathBuf},
    process,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, UNIX_EPOCH},
};

/// A lock is held only briefly, unless its process was stopped. After one second without the lock, the update fails.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);
/// A larger file cannot be one of ours, and would fill the memory.
const FILE_BYTES_MAX: u64 = 1 << 30;

const NOT_REGULAR: &str = "not a regular file";

/// Returns the cache directory: `SUPERSCALAR_CACHE`, or else `superscalar` in `XDG_CACHE_HOME` or `~/.cache`. Returns
/// `None` if none of these variables and no `HOME` is set. As its specification says, an `XDG_CACHE_HOME` that is not
/// an absolute path is ignored.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let named = |name| variable(name).map(PathBuf::from);
    let of_all = || named("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let caches = || of_all().or_else(|| Some(named("HOME")?.join(".cache")));
    named("SUPERSCALAR_CACHE").or_else(|| Some(caches()?.join("superscalar")))
}

/// Reads a file; returns `None` if it does not exist. Returns an error if it is not a regular file or is larger than 1
/// GiB; and, unless `is_trusted`, if users other than this one and the administrator can have written it.
fn read(path: &Path, is_trusted: bool) -> io::Result<Option<Vec<u8>>> {
    let mut file = match opening().read(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, NOT_REGULAR));
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "larger than 1 GiB"));
    }
    if !is_trusted {
        check_owner(&metadata)?;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Returns options for opening a file: new files are accessible to this user only, and opening a named pipe does not
/// block.
fn opening() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    options
}

fn check_owner(metadata: &fs::Metadata) -> io::Result<()> {
    let denied = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    match metadata.mode() & 0o022 {
        _ if !belongs_to_user_or_root(metadata) => denied("owned by another user"),
        0 => Ok(()),
        _ => denied("writable by other users (see `chmod go-w`)"),
    }
}

/// Returns whether the file belongs to this user or to the administrator.
fn belongs_to_user_or_root(metadata: &fs::Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw() || metadata.uid() == 0
}

/// Writes a file in one step, and creates its directory. An existing file is replaced, and links are followed. New
/// files are writable by this user only. A link that belongs to another user is itself replaced, because it may point
/// to any file of ours. If this fails, the existing file is unchanged. Other file types, such as `/dev/null`, are never
/// replaced.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let is_followed = fs::symlink_metadata(path).is_ok_and(|metadata| belongs_to_user_or_root(&metadata));
    let path = if is_followed { fs::canonicalize(path).ok() } else { None }.unwrap_or_else(|| path.to_owned());
    create_parent(&path)?;
    if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_symlink()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, NOT_REGULAR));
    }
    // Includes the time: in another container, or on another machine, a process of the same number may be writing the
    // same file.
    let moment_ns = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let beside = with_suffix(&path, &format!(".{}-{count}-{moment_ns}.tmp", process::id()));
    let mut file = opening().write(true).create_new(true).open(&beside)?;
    file.write_all(bytes).and_then(|()| fs::rename(&beside, &path)).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// Makes the path absolute, so that it does not change with the working directory.
fn absolute(path: PathBuf) -> PathBuf {
    path::absolute(&path).unwrap_or(path)
}

/// Creates the directory of a file.
pub(crate) fn create_parent(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), fs::create_dir_all)
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A file that is kept from run to run.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::cache::CacheFile;
///
/// let path = std::env::temp_dir().join(format!("superscalar-doc-{}", std::process::id()));
/// let file = CacheFile::named(&path);
/// let parse = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| "not UTF-8 text".to_owned());
/// assert_eq!(file.read(parse)?, None);
/// for line in ["one\n", "two\n"] {
///     file.update(parse, |known| known.unwrap_or_default() + line)?;
/// }
/// assert_eq!(file.read(parse)?.as_deref(), Some("one\ntwo\n"));
/// # std::fs::remove_file(&path)?;
/// # std::fs::remove_file(path.with_extension("lock"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheFile {
    path: PathBuf,
    is_named: bool,
}

impl CacheFile {
    /// Names a file that the user has chosen.
    pub fn named(path: impl Into<PathBuf>) -> Self {
        Self { path: absolute(path.into()), is_named: true }
    }

    /// Names a file in a cache directory, such as the user's [`folder`].
    #[must_use]
    pub fn within(folder: &Path, name: &str) -> Self {
        Self { path: absolute(folder.join(name)), is_named: false }
    }

    /// Returns the file's absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file and parses it. Returns `None` if there is no such file, or if a file in a cache directory is
    /// unusable. The error of `parse` says what is wrong.
    ///
    /// # Errors
    /// Returns [`Setting`](crate::ErrorKind::Setting) or [`System`](crate::ErrorKind::System) if the file was named by
    /// the user and is unusable.
    pub fn read<T>(&self, parse: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<Option<T>, Error> {
        let path = self.path.display();
        let found = match read(&self.path, self.is_named) {
            Ok(None) => return Ok(None),
            Ok(Some(bytes)) => parse(&bytes).map(Some).map_err(|why| Error::setting(format!("{path}: {why}"))),
            Err(error) => Err(Error::system(format!("cannot read {path}"), error)),
        };
        found.or_else(|error| self.unusable(error).map(|()| None))
    }

    /// Treats the file as unusable for a reason that is found after it was read, as [`read`](Self::read) does.
    ///
    /// # Errors
    /// Returns [`Setting`](crate::ErrorKind::Setting) if the file was named by the user.
    pub fn refuse(&self, why: impl Display) -> Result<(), Error> {
        self.unusable(Error::setting(format!("{}: {why}", self.path.display())))
    }

    fn unusable(&self, error: Error) -> Result<(), Error> {
        if self.is_named {
            return Err(error);
        }
        self.report_once(&error);
        Ok(())
    }

    /// Reports an unusable file, once for each directory and file extension: there may be hundreds.
    fn report_once(&self, error: &Error) {
        static REPORTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
        let kind = self.path.with_file_name("*").with_extension(self.path.extension().unwrap_or_default());
        let mut reported = held(REPORTED.lock());
        if !reported.contains(&kind) {
            reported.push(kind);
            drop(reported);
            notices::say(&format!("{error}; ignoring the file and creating its contents anew"));
        }
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// Returns [`System`](crate::ErrorKind::System) if the file cannot be written.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), Error> {
        replace(&self.path, bytes).map_err(|error| self.write_error(error))
    }

    /// Replaces the file by what `change` makes of its contents, under a lock that excludes other processes.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read) and [`replace`](Self::replace).
    pub fn update<T, B: AsRef<[u8]>>(
        &self,
        parse: impl FnOnce(&[u8]) -> Result<T, String>,
        change: impl FnOnce(Option<T>) -> B,
    ) -> Result<(), Error> {
        create_parent(&self.path).map_err(|error| self.write_error(error))?;
        let _lock = lock(&with_suffix(&self.path, ".lock")).map_err(|error| self.write_error(error))?;
        self.replace(change(self.read(parse)?).as_ref())
    }

    fn write_error(&self, error: io::Error) -> Error {
        Error::system(format!("cannot write {}", self.path.display()), error)
    }
}

/// Takes a lock between processes, which is held until the file is dropped. Returns `None` if the file system has no
/// locks.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = opening().create(true).truncate(false).write(true).open(path)?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "locked by another process for more than a second"))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::ErrorKind;

    /// A directory that is removed when it is dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            static COUNTER: AtomicU64 = AtomicU64::new(0);
            let name = format!("superscalar-cache-{}-{}", process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
            Self(std::env::temp_dir().join(name))
        }

        fn file(&self) -> CacheFile {
            CacheFile::within(&self.0.join("deep"), "file.txt")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Accepts text that consists of complete lines.
    fn lines(bytes: &[u8]) -> Result<String, String> {
        let text = String::from_utf8(bytes.to_vec()).map_err(|_| "not UTF-8 text".to_owned())?;
        if text.ends_with('\n') { Ok(text) } else { Err("the last line is incomplete".to_owned()) }
    }

    #[test]
    fn unusable_file_counts_as_missing() {
        let folder = Folder::new();
        let file = folder.file();
        assert_eq!(file.read(lines).expect("none"), None);
        for bad in [&b""[..], b"cut", b"\xff\n"] {
            file.replace(bad).expect("a folder");
            assert_eq!(file.read(lines).expect("a notice"), None);
            let named = CacheFile::named(file.path());
            file.refuse("stale").expect("a notice");
            let error = named.refuse("stale").expect_err("named by the user");
            assert!(error.kind() == ErrorKind::Setting && error.to_string().ends_with("file.txt: stale"), "{error}");
            let error = named.read(lines).expect_err("named by the user");
            assert!(error.kind() == ErrorKind::Setting && error.to_string().contains("file.txt"), "{error}");
            assert_eq!(named.update(lines, |_| "").expect_err("named by the user").kind(), ErrorKind::Setting);
            assert_eq!(fs::read(file.path()).expect("a file"), bad);
            file.update(lines, |known| format!("{known:?}\n")).expect("a folder");
            assert_eq!(file.read(lines).expect("lines").as_deref(), Some("None\n"));
        }
    }

    #[test]
    fn concurrent_updates_lose_nothing() {
        const EACH: usize = 20;
        const CHILD: &str = "SUPERSCALAR_TEST_CACHE_CHILD";
        let add = |file: &CacheFile, first: usize| {
            for line in first..first + EACH {
                file.update(lines, |known| format!("{}{line}\n", known.unwrap_or_default())).expect("a lock");
            }
        };
        if let Some(child) = variable(CHILD) {
            let (first, path) = child.to_str().and_then(|text| text.split_once(' ')).expect("a number and a path");
            return add(&CacheFile::named(path), first.parse().expect("a number"));
        }
        let folder = Folder::new();
        let file = folder.file();
        let process = |first: usize| {
            let mut command = process::Command::new(std::env::current_exe().expect("a test has a program"));
            command.args(["--exact", "cache::tests::concurrent_updates_lose_nothing"]);
            command.env(CHILD, format!("{first} {}", file.path().display())).stdout(process::Stdio::null());
            command.spawn().expect("a process")
        };
        let mut children = [2, 3].map(|part| process(part * EACH));
        thread::scope(|scope| {
            let (add, file) = (&add, &file);
            for part in [0, 1] {
                scope.spawn(move || add(file, part * EACH));
            }
        });
        assert!(children.iter_mut().all(|child| child.wait().expect("it ends").success()));
        let text = file.read(lines).expect("lines").expect("a file");
        let mut all: Vec<usize> = text.lines().map(|line| line.parse().expect("a number")).collect();
        all.sort_unstable();
        assert_eq!(all, (0..4 * EACH).collect::<Vec<_>>());
        let names = fs::read_dir(folder.0.join("deep")).expect("a folder").count();
        assert_eq!(names, 2, "the file and its lock");
    }

    #[cfg(unix)]
    #[test]
    fn file_writable_by_others_is_ignored() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new();
        let file = folder.file();
        file.replace(b"line\n").expect("a folder");
        let mode = || fs::metadata(file.path()).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        for others in [0o620, 0o602, 0o666] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(others)).expect("own file");
            assert_eq!(file.read(lines).expect("a notice"), None);
            // Whether a named file can be trusted is for the user to decide.
            assert_eq!(CacheFile::named(file.path()).read(lines).expect("lines").as_deref(), Some("line\n"));
        }
        file.update(lines, |known| format!("{known:?}\n")).expect("a folder");
        assert_eq!((mode(), file.read(lines).expect("lines").as_deref()), (0o600, Some("None\n")));
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(file.path(), Some(12345), None).expect("root may");
            assert_eq!(file.read(lines).expect("a notice"), None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn write_error_names_the_file() {
        let folder = Folder::new();
        fs::write(&folder.0, "no folder").expect("a file");
        let error = folder.file().update(lines, |_| "").expect_err("no folder");
        assert!(error.kind() == ErrorKind::System && error.to_string().contains("file.txt"), "{error}");
        fs::remove_file(&folder.0).expect("a file");
    }

    #[cfg(unix)]
    #[test]
    fn named_pipes_do_not_block() {
        let folder = Folder::new();
        let file = folder.file();
        create_parent(file.path()).expect("a folder");
        let make_pipe =
            |path: &Path| assert!(process::Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
        make_pipe(file.path());
        assert_eq!(file.read(lines).expect("a notice"), None);
        assert_eq!(CacheFile::named(file.path()).read(lines).expect_err("named by the user").kind(), ErrorKind::System);
        assert_eq!(file.update(lines, |_| "").expect_err("a pipe").kind(), ErrorKind::System);
        let is_pipe = |metadata: fs::Metadata| std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type());
        assert!(fs::metadata(file.path()).is_ok_and(is_pipe), "the pipe was replaced");
        fs::remove_file(file.path()).expect("a pipe");
        let lock = with_suffix(file.path(), ".lock");
        fs::remove_file(&lock).expect("a lock");
        make_pipe(&lock);
        assert_eq!(file.update(lines, |_| "").expect_err("no lock").kind(), ErrorKind::System);
    }

    #[cfg(unix)]
    #[test]
    fn only_own_links_are_followed() {
        let folder = Folder::new();
        let (file, target) = (folder.file(), folder.0.join("target"));
        create_parent(file.path()).expect("a folder");
        fs::write(&target, "precious\n").expect("a file");
        std::os::unix::fs::symlink(&target, file.path()).expect("a link");
        file.replace(b"one\n").expect("a folder");
        assert_eq!(fs::read(&target).expect("a file"), b"one\n");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::lchown(file.path(), Some(12345), None).expect("root may");
            file.replace(b"two\n").expect("a folder");
            assert_eq!(fs::read(&target).expect("a file"), b"one\n");
            assert_eq!(file.read(lines).expect("lines").as_deref(), Some("two\n"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn lock_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new();
        folder.file().update(lines, |_| "\n").expect("a folder");
        let lock = fs::metadata(with_suffix(folder.file().path(), ".lock")).expect("a lock");
        assert_eq!(lock.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn paths_are_absolute() {
        let here = std::env::current_dir().expect("a working directory");
        assert_eq!(CacheFile::named("weights.json").path(), here.join("weights.json"));
        assert_eq!(CacheFile::within(Path::new("caches"), "file").path(), here.join("caches/file"));
    }

    #[test]
    fn file_named_like_a_lock_works() {
        let folder = Folder::new();
        let file = CacheFile::named(folder.0.join("file.lock"));
        (0..2).for_each(|_| file.update(lines, |known| known.unwrap_or_default() + "line\n").expect("a folder"));
        assert_eq!(file.read(lines).expect("lines").as_deref(), Some("line\nline\n"));
    }

    #[cfg(unix)]
    #[test]
    fn huge_file_is_ignored() {
        let folder = Folder::new();
        let file = folder.file();
        file.replace(b"line\n").expect("a folder");
        // Without blocks on the disk.
        fs::File::options().write(true).open(file.path()).and_then(|it| it.set_len(1 << 40)).expect("a sparse file");
        assert_eq!(file.read(lines).expect("a notice"), None);
    }

    #[test]
    fn held_lock_times_out() {
        let folder = Folder::new();
        let file = folder.file();
        create_parent(file.path()).expect("a folder");
        let held = lock(&with_suffix(file.path(), ".lock")).expect("a file");
        if held.is_some() {
            assert_eq!(file.update(lines, |_| "").expect_err("it is locked").kind(), ErrorKind::System);
        }
        drop(held);
        file.update(lines, |_| "\n").expect("a lock");
    }
}
