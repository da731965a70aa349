//! Files that are kept from run to run, in the user's folder for caches: capability weights, block sizes, compiled programs.
//!
//! A file is replaced as a whole, so that a reader sees the old one or the new one; who puts something beside what others have written
//! does so under a lock. What is read must be the user's own, since what a cache holds is trusted, and run. A file in the cache that can
//! not be used counts as none, and is said; one that the user has named is an error.

#![forbid(unsafe_code)]

use crate::{environment::variable, error::Error, notices, sync::held};
use std::{
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

/// Nobody has a lock for long, unless its process was stopped: who does not get it in a second goes without.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);
/// What is larger is none of ours, and would fill the memory.
const FILE_BYTES_MAX: u64 = 1 << 30;

const NOT_REGULAR: &str = "it is no regular file";

/// Where all of it is: `SUPERSCALAR_CACHE`, or else `superscalar` in `XDG_CACHE_HOME` or `~/.cache`. None if the environment has none of
/// these variables, nor `HOME`. An `XDG_CACHE_HOME` that is no absolute path does not count, by its specification.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let named = |name| variable(name).map(PathBuf::from);
    let of_all = || named("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let caches = || of_all().or_else(|| Some(named("HOME")?.join(".cache")));
    named("SUPERSCALAR_CACHE").or_else(|| Some(caches()?.join("superscalar")))
}

/// What a file holds; none if there is no such file. An error where it is no regular file, or one of more than 1 GiB; and, unless it is
/// trusted, where others than this user and the system's administrator can have written it.
fn read(path: &Path, is_trusted: bool) -> io::Result<Option<Vec<u8>>> {
    let mut file = match opening().read(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, NOT_REGULAR));
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large"));
    }
    if !is_trusted {
        check_owner(&about)?;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Options to open a file: nobody else can open what is made by them, and a named pipe that lies there is not waited for.
fn opening() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    options
}

fn check_owner(about: &fs::Metadata) -> io::Result<()> {
    let denied = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    match about.mode() & 0o022 {
        _ if !is_own(about) => denied("it is another user's"),
        0 => Ok(()),
        _ => denied("others may write it (see `chmod go-w`)"),
    }
}

/// Whether it is this user's, or the administrator's.
fn is_own(about: &fs::Metadata) -> bool {
    about.uid() == rustix::process::geteuid().as_raw() || about.uid() == 0
}

/// Writes a file in one step, and the folder for it. What had been there is replaced, through links, too; others may not write it. A link
/// of another user's is replaced itself: that may lead to anything of ours. Where this fails, what had been there is there; so is what is
/// no regular file, such as `/dev/null`.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let is_followed = fs::symlink_metadata(path).is_ok_and(|about| is_own(&about));
    let path = if is_followed { fs::canonicalize(path).ok() } else { None }.unwrap_or_else(|| path.to_owned());
    make_folder_of(&path)?;
    if fs::symlink_metadata(&path).is_ok_and(|about| !about.is_file() && !about.is_symlink()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, NOT_REGULAR));
    }
    // The moment, too: in another container, or on another machine, a process of the same number may be writing the same file.
    let moment_ns = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let beside = with_suffix(&path, &format!(".{}-{count}-{moment_ns}.tmp", process::id()));
    let mut file = opening().write(true).create_new(true).open(&beside)?;
    file.write_all(bytes).and_then(|()| fs::rename(&beside, &path)).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// It stays the same file when the program changes its working directory.
fn from_here(path: PathBuf) -> PathBuf {
    path::absolute(&path).unwrap_or(path)
}

/// Makes the folder that the file is to be in.
pub(crate) fn make_folder_of(path: &Path) -> io::Result<()> {
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
/// use superscalar::cache::CacheFile;
///
/// let path = std::env::temp_dir().join(format!("superscalar-doc-{}", std::process::id()));
/// let file = CacheFile::named(&path);
/// let parse = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| "this is no text".to_owned());
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
    /// A file that the user has named.
    pub fn named(path: impl Into<PathBuf>) -> Self {
        Self { path: from_here(path.into()), is_named: true }
    }

    /// The file of this name in a folder for caches, such as the user's [`folder`].
    #[must_use]
    pub fn within(folder: &Path, name: &str) -> Self {
        Self { path: from_here(folder.join(name)), is_named: false }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What `parse` makes of it; none if there is no such file, or none of use in a folder for caches. `parse` says what is wrong.
    ///
    /// # Errors
    /// [`Setting`](crate::ErrorKind::Setting) or [`System`](crate::ErrorKind::System), if the user has named it and it can not be used.
    pub fn read<T>(&self, parse: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<Option<T>, Error> {
        let path = self.path.display();
        let found = match read(&self.path, self.is_named) {
            Ok(None) => return Ok(None),
            Ok(Some(bytes)) => parse(&bytes).map(Some).map_err(|why| Error::setting(format!("{path}: {why}"))),
            Err(error) => Err(Error::system(format!("{path} can not be read"), error)),
        };
        match found {
            Err(error) if !self.is_named => {
                self.say_once(&error);
                Ok(None)
            }
            found => found,
        }
    }

    /// Says that it is not of use, unless that was said of another file of its kind in its folder: there may be hundreds.
    fn say_once(&self, error: &Error) {
        static SAID: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
        let kind = self.path.with_file_name("*").with_extension(self.path.extension().unwrap_or_default());
        let mut said = held(SAID.lock());
        if !said.contains(&kind) {
            said.push(kind);
            drop(said);
            notices::say(&format!("{error}; what it should hold is found out anew"));
        }
    }

    /// Replaces it.
    ///
    /// # Errors
    /// [`System`](crate::ErrorKind::System) if it can not be written.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), Error> {
        replace(&self.path, bytes).map_err(|error| self.not_written(error))
    }

    /// Replaces it by what `change` makes of what is there, while no other process does.
    ///
    /// # Errors
    /// As [`read`](Self::read) and [`replace`](Self::replace).
    pub fn update<T, B: AsRef<[u8]>>(
        &self,
        parse: impl FnOnce(&[u8]) -> Result<T, String>,
        change: impl FnOnce(Option<T>) -> B,
    ) -> Result<(), Error> {
        make_folder_of(&self.path).map_err(|error| self.not_written(error))?;
        let _lock = lock(&with_suffix(&self.path, ".lock")).map_err(|error| self.not_written(error))?;
        self.replace(change(self.read(parse)?).as_ref())
    }

    fn not_written(&self, error: io::Error) -> Error {
        Error::system(format!("{} can not be written", self.path.display()), error)
    }
}

/// A lock among processes, until it is dropped. None where there is no such thing, as on some file systems.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = opening().create(true).truncate(false).write(true).open(path)?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another process has it locked"))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::ErrorKind;

    /// A folder of its own, until it is dropped.
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

    /// Whole lines.
    fn lines(bytes: &[u8]) -> Result<String, String> {
        let text = String::from_utf8(bytes.to_vec()).map_err(|_| "this is no text".to_owned())?;
        if text.ends_with('\n') { Ok(text) } else { Err("its last line is cut".to_owned()) }
    }

    #[test]
    fn what_is_not_of_use_counts_as_none_and_is_replaced_in_the_cache() {
        let folder = Folder::new();
        let file = folder.file();
        assert_eq!(file.read(lines).expect("none"), None);
        for bad in [&b""[..], b"cut", b"\xff\n"] {
            file.replace(bad).expect("a folder");
            assert_eq!(file.read(lines).expect("a notice"), None);
            let named = CacheFile::named(file.path());
            let error = named.read(lines).expect_err("it is named");
            assert!(error.kind() == ErrorKind::Setting && error.to_string().contains("file.txt"), "{error}");
            assert_eq!(named.update(lines, |_| "").expect_err("it is named").kind(), ErrorKind::Setting);
            assert_eq!(fs::read(file.path()).expect("a file"), bad);
            file.update(lines, |known| format!("{known:?}\n")).expect("a folder");
            assert_eq!(file.read(lines).expect("lines").as_deref(), Some("None\n"));
        }
    }

    #[test]
    fn threads_and_processes_lose_nothing_of_each_other() {
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
            command.args(["--exact", "cache::tests::threads_and_processes_lose_nothing_of_each_other"]);
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
    fn what_others_may_have_written_is_not_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new();
        let file = folder.file();
        file.replace(b"line\n").expect("a folder");
        let mode = || fs::metadata(file.path()).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        for others in [0o620, 0o602, 0o666] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(others)).expect("it is ours");
            assert_eq!(file.read(lines).expect("a notice"), None);
            // Whom a file is trusted to that the user has named is the user's business.
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
    fn a_folder_that_can_not_be_written_is_an_error_that_names_the_file() {
        let folder = Folder::new();
        fs::write(&folder.0, "no folder").expect("a file");
        let error = folder.file().update(lines, |_| "").expect_err("no folder");
        assert!(error.kind() == ErrorKind::System && error.to_string().contains("file.txt"), "{error}");
        fs::remove_file(&folder.0).expect("a file");
    }

    #[cfg(unix)]
    #[test]
    fn named_pipes_are_not_waited_for() {
        let folder = Folder::new();
        let file = folder.file();
        make_folder_of(file.path()).expect("a folder");
        let make_pipe =
            |path: &Path| assert!(process::Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
        make_pipe(file.path());
        assert_eq!(file.read(lines).expect("a notice"), None);
        assert_eq!(CacheFile::named(file.path()).read(lines).expect_err("it is named").kind(), ErrorKind::System);
        assert_eq!(file.update(lines, |_| "").expect_err("a pipe").kind(), ErrorKind::System);
        let is_pipe = |about: fs::Metadata| std::os::unix::fs::FileTypeExt::is_fifo(&about.file_type());
        assert!(fs::metadata(file.path()).is_ok_and(is_pipe), "it is not replaced");
        fs::remove_file(file.path()).expect("a pipe");
        let lock = with_suffix(file.path(), ".lock");
        fs::remove_file(&lock).expect("a lock");
        make_pipe(&lock);
        assert_eq!(file.update(lines, |_| "").expect_err("no lock").kind(), ErrorKind::System);
    }

    #[cfg(unix)]
    #[test]
    fn own_links_are_followed_and_those_of_others_are_not() {
        let folder = Folder::new();
        let (file, target) = (folder.file(), folder.0.join("target"));
        make_folder_of(file.path()).expect("a folder");
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
    fn others_can_not_hold_the_lock() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new();
        folder.file().update(lines, |_| "\n").expect("a folder");
        let lock = fs::metadata(with_suffix(folder.file().path(), ".lock")).expect("a lock");
        assert_eq!(lock.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_stays_where_it_is_when_the_working_directory_changes() {
        let here = std::env::current_dir().expect("a working directory");
        assert_eq!(CacheFile::named("weights.json").path(), here.join("weights.json"));
        assert_eq!(CacheFile::within(Path::new("caches"), "file").path(), here.join("caches/file"));
    }

    #[test]
    fn a_file_that_is_named_as_a_lock_is_kept() {
        let folder = Folder::new();
        let file = CacheFile::named(folder.0.join("file.lock"));
        (0..2).for_each(|_| file.update(lines, |known| known.unwrap_or_default() + "line\n").expect("a folder"));
        assert_eq!(file.read(lines).expect("lines").as_deref(), Some("line\nline\n"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_larger_than_any_is_not_read() {
        let folder = Folder::new();
        let file = folder.file();
        file.replace(b"line\n").expect("a folder");
        // Without blocks on the disk.
        fs::File::options().write(true).open(file.path()).and_then(|it| it.set_len(1 << 40)).expect("a sparse file");
        assert_eq!(file.read(lines).expect("a notice"), None);
    }

    #[test]
    fn a_lock_that_is_not_given_back_is_not_waited_for_long() {
        let folder = Folder::new();
        let file = folder.file();
        make_folder_of(file.path()).expect("a folder");
        let held = lock(&with_suffix(file.path(), ".lock")).expect("a file");
        if held.is_some() {
            assert_eq!(file.update(lines, |_| "").expect_err("it is locked").kind(), ErrorKind::System);
        }
        drop(held);
        file.update(lines, |_| "\n").expect("a lock");
    }
}
