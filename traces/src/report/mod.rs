//! The HTML page of a run: one self-contained file that works offline.
//!
//! The tables are written here, as HTML that needs no script. The chart is drawn by the scripts beside this file from
//! the run's numbers, packed as `data.rs` describes. The scripts are plain JavaScript, joined into one function,
//! without libraries and without a build step. Names come from files and may contain any text: they are escaped in
//! HTML, `<` is escaped in the script's data, the scripts insert them as text and never as HTML, and the page's content
//! policy forbids every request and every script without its nonce.
//!
//! | file | contents |
//! |---|---|
//! | `page.html`, `page.css` | the template of the page |
//! | `bytes.js`, `run.js` | decode the run from the page |
//! | `rows.js`, `strip.js` | rows of slices; drawing any range of them in time bounded by the number of pixels |
//! | `palette.js`, `axis.js` | colours, hatchings and letters; the time axis |
//! | `gantt.js`, `marks.js`, `tracks.js`, `overview.js` | draw the chart, marks, counters, whole run |
//! | `search.js`, `details.js`, `list.js`, `controls.js`, `input.js` | search, details, the task list, and input |
//! | `page.js`, `start.js` | the shared state |
//!
//! `tests/report_works.py` tests the page in a browser.

mod bytes;
mod data;
mod html;
mod tables;

use crate::{Trace, analysis::Analysis};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};

/// Concatenates script files.
macro_rules! script {
    ($first:literal $($name:literal)*) => {
        concat!(include_str!(concat!($first, ".js")) $(, "\n", include_str!(concat!($name, ".js")))*)
    };
}

/// The page's script: its files, each after those that it uses.
const SCRIPT: &str = script!(
    "bytes" "run" "rows" "palette" "axis" "strip" "gantt" "marks" "tracks" "overview" "search" "details" "list" "input"
    "controls" "page" "start"
);

/// The HTML page of a run.
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
    /// Creates a page for a trace and its analysis.
    pub fn new(trace: &'a Trace, analysis: &'a Analysis) -> Self {
        Self { trace, analysis, title: "A run".to_owned(), file: "the trace".to_owned() }
    }

    /// Sets the page's title. Default: `A run`.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Sets the name of the trace file, which the page shows. Default: `the trace`.
    #[must_use]
    pub fn file(self, file: impl Into<String>) -> Self {
        Self { file: file.into(), ..self }
    }

    /// Writes the page. The same trace always gives the same bytes.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails.
    ///
    /// # Panics
    ///
    /// If an index in the trace is out of range, which does not happen in traces from the reader.
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

/// Returns the nonce of the page's scripts. It is a hash of all data, so that data cannot contain it.
fn nonce(data: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
