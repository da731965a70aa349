//! The page that shows a run: one HTML file with everything in it, which opens offline.
//!
//! Tables are written here, as HTML that needs no script. The chart is drawn by the scripts beside this file, from the run's numbers
//! packed as `data.rs` says; they are plain JavaScript, joined into one function, with no library and
//! nothing to build. Names come from files and may hold anything: in HTML they are escaped, in the script's data `<` is, the scripts
//! make text of them and never HTML, and the page forbids itself every request and every script without its nonce.
//!
//! | file | what is in it |
//! |---|---|
//! | `page.html`, `page.css` | the page without its contents |
//! | `bytes.js`, `run.js` | the run, read from the page |
//! | `rows.js`, `strip.js` | rows of slices, and how any stretch of them is drawn in time bounded by the pixels |
//! | `palette.js`, `axis.js` | colours, hatchings and letters; time |
//! | `gantt.js`, `marks.js`, `tracks.js`, `overview.js` | what is drawn: chart, selection and arrows, counters, the whole run |
//! | `search.js`, `details.js`, `list.js`, `controls.js`, `input.js` | what is asked for, and the answers |
//! | `page.js`, `start.js` | the state that all share |
//!
//! `tests/report_works.py` drives the page in a browser.

mod bytes;
mod data;
mod html;
mod tables;

use crate::{Trace, analysis::Analysis};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};

/// The files of these names, one after the other.
macro_rules! script {
    ($first:literal $($name:literal)*) => {
        concat!(include_str!(concat!($first, ".js")) $(, "\n", include_str!(concat!($name, ".js")))*)
    };
}

/// The page's script: its parts, in the order in which they need each other.
const SCRIPT: &str = script!(
    "bytes" "run" "rows" "palette" "axis" "strip" "gantt" "marks" "tracks" "overview" "search" "details" "list" "input"
    "controls" "page" "start"
);

/// A page to be written.
///
/// ```
/// use superscalar_traces::{Trace, analysis::Analysis, report::Report};
/// let trace = Trace::default();
/// let mut page = Vec::new();
/// Report::new(&trace, &Analysis::new(&trace)).title("nothing yet").write(&mut page)?;
/// assert!(page.starts_with(b"<!DOCTYPE html>"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Report<'a> {
    trace: &'a Trace,
    analysis: &'a Analysis,
    title: String,
    file: String,
}

impl<'a> Report<'a> {
    /// A page about a trace and what was found out about it; the two belong together.
    pub fn new(trace: &'a Trace, analysis: &'a Analysis) -> Self {
        Self { trace, analysis, title: "A run".to_owned(), file: "the trace".to_owned() }
    }

    /// The page's title, instead of `A run`.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// The name of the raw file, which the page tells its reader to open in other viewers.
    #[must_use]
    pub fn file(self, file: impl Into<String>) -> Self {
        Self { file: file.into(), ..self }
    }

    /// Writes the page. What it says is the same for the same trace, byte by byte.
    ///
    /// # Errors
    ///
    /// What `out` returns.
    ///
    /// # Panics
    ///
    /// If a task, a hazard or an activity names what is not in the trace; a reader makes no such trace.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let names = data::names(self.trace, &self.file);
        let mut sections = String::new();
        for data::Section { name, base64 } in data::sections(self.trace, &self.analysis.path.tasks) {
            sections += &format!("<script type=\"text/plain\" id=\"section-{name}\">{base64}</script>\n");
        }
        let pages = tables::Tables { trace: self.trace, analysis: self.analysis };
        let panels = pages.panels();
        let nonce = nonce(&[&names, &sections]);
        let values = [
            ("nonce", nonce.as_str()),
            ("title", &html::escape(&self.title)),
            ("subtitle", &pages.subtitle()),
            ("notices", &pages.notices()),
            ("figures", &pages.figures()),
            ("tabs", &tables::tabs(&panels)),
            ("panels", &tables::bodies(&panels)),
            ("file", &html::escape(&self.file)),
            ("names", &names),
            ("sections", &sections),
            ("style", include_str!("page.css")),
            ("script", SCRIPT),
        ];
        html::fill(include_str!("page.html"), &values, out)
    }
}

/// What scripts of the page must carry to run. It depends on all data, so that data can not hold it.
fn nonce(data: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
