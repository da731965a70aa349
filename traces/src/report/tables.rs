//! The tables of the page, and the key figures above them.

use super::html::{HtmlTable, amount, count, digits, escape, percent, time};
use crate::{
    Trace,
    analysis::{Analysis, gaps::LongGap, kernels::KernelTime, lanes::LaneTime, replay::Prediction},
};

/// The number of longest gaps in the table.
const GAPS_MAX: usize = 25;
/// The number of tasks of the critical path in the table: the longest ones.
const PATH_TASKS_MAX: usize = 25;

/// One or more tables under one tab.
pub(super) struct Panel {
    name: &'static str,
    title: &'static str,
    body: String,
}

/// The run that the tables describe.
pub(super) struct Tables<'a> {
    pub trace: &'a Trace,
    pub analysis: &'a Analysis,
}

/// Returns the row of tabs, which the scripts make interactive.
pub(super) fn tabs(panels: &[Panel]) -> String {
    let tab = |Panel { name, title, .. }: &Panel| {
        format!("<button type=\"button\" role=\"tab\" id=\"tab-{name}\" aria-controls=\"{name}\">{title}</button>\n")
    };
    panels.iter().map(tab).collect()
}

/// Returns the contents of the tabs. Without scripts and on paper, they follow each other.
pub(super) fn bodies(panels: &[Panel]) -> String {
    let body = |Panel { name, title, body }: &Panel| {
        format!(
            "<div class=\"panel\" role=\"tabpanel\" id=\"{name}\" aria-labelledby=\"tab-{name}\" tabindex=\"0\">\n\
             <h2>{title}</h2>\n{body}</div>\n"
        )
    };
    panels.iter().map(body).collect()
}

impl Tables<'_> {
    /// Returns all panels that are not empty, in the order of the tabs.
    pub fn panels(&self) -> Vec<Panel> {
        let panels = [
            ("lanes", "Lanes", self.lanes()),
            ("kernels", "Kernels", self.kernels()),
            ("links", "Links", self.links()),
            ("gaps", "Gaps", self.gaps()),
            ("path", "Critical path", self.path()),
            ("what-if", "What if", self.what_ifs()),
            ("facts", "File", self.facts()),
        ];
        let panels = panels.into_iter().filter(|(.., body)| !body.is_empty());
        panels.map(|(name, title, body)| Panel { name, title, body }).collect()
    }

    /// Returns a one-line description of the run.
    pub fn subtitle(&self) -> String {
        let overview = &self.analysis.overview;
        let parts = [
            plural(overview.tasks, "task"),
            plural(overview.hazards, "hazard"),
            plural(overview.lanes, "lane"),
            plural(self.trace.kernels.len(), "kernel"),
        ];
        parts.join(" · ")
    }

    /// Returns warnings about the trace.
    pub fn notices(&self) -> String {
        let overview = &self.analysis.overview;
        let mut notices = Vec::new();
        if overview.tasks == 0 {
            notices.push("The trace has no tasks.".to_owned());
        }
        if overview.dropped > 0 {
            let dropped = count(overview.dropped as usize);
            notices.push(format!(
                "{dropped} records were dropped for lack of room: this page shows only a part of the run."
            ));
        }
        if overview.hazards_lacking > 0 {
            let missing = count(overview.hazards_lacking as usize);
            notices.push(format!("{missing} hazards are missing: the critical path may be longer than shown."));
        }
        if overview.tasks_not_completed > 0 {
            let failed = plural(overview.tasks_not_completed, "task");
            notices.push(format!("{failed} did not complete; search for failed, panicked or cancelled."));
        }
        if self.trace.facts.iter().any(|(name, value)| name == "complete" && value == "false") {
            notices.push("The file is incomplete: the run had not ended when it was written.".to_owned());
        }
        notices.iter().map(|notice| format!("<p class=\"notice\">{}</p>\n", escape(notice))).collect()
    }

    /// Returns the key figures of the run.
    pub fn figures(&self) -> String {
        let Analysis { overview, bounds, parallelism, path, .. } = self.analysis;
        let mut figures = vec![
            ("Makespan", time(overview.wall_ns as f64), format!("{} of work", time(overview.work_ns as f64))),
            ("Lanes", overview.lanes.to_string(), format!("{} busy on average", digits(parallelism.achieved))),
            ("Utilisation", percent(overview.utilisation), "of the lanes’ time in tasks".to_owned()),
        ];
        if overview.flops > 0.0 {
            let flops = format!("{}flop in total", amount(overview.flops));
            figures.push(("Rate", format!("{} GFLOP/s", digits(overview.rate_gflops)), flops));
        }
        let bound = format!("lower bound {}", time(bounds.bound_ns as f64));
        figures.push(("Lower bound / makespan", percent(bounds.nearness), bound));
        let share = format!("{} of the makespan", percent(path.share));
        figures.push(("Critical path", time(path.length_ns as f64), share));
        let most = format!("at most {} tasks at once", count(parallelism.width_max));
        figures.push(("Possible parallelism", digits(parallelism.average), most));
        let figure = |(name, value, more): (&str, String, String)| {
            format!("<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>\n")
        };
        figures.into_iter().map(figure).collect()
    }

    fn lanes(&self) -> String {
        let lanes = &self.analysis.lanes;
        if lanes.rows.is_empty() {
            return String::new();
        }
        let heads = ["lane", "tasks>", "busy>", ">", "communication>", ">", "other>", ">", "of the makespan"];
        let mut table = HtmlTable::new("Where each lane’s time went", &heads);
        let has_several = lanes.processes.len() > 1 && lanes.rows.len() > lanes.processes.len();
        let processes = if has_several { lanes.processes.as_slice() } else { &[] };
        for row in lanes.rows.iter().chain(processes) {
            let mut cells = vec![escape(&row.name), count(row.tasks)];
            for part_ns in [row.busy_ns, row.communication_ns, row.other_ns] {
                cells.extend([time(part_ns as f64), percent(share(part_ns, lanes.wall_ns))]);
            }
            cells.push(share_bar(row, lanes.wall_ns));
            table.row(&cells);
        }
        let key = [("busy", "in tasks"), ("communication", "communication not overlapped"), ("other", "other")];
        let key = key.map(|(class, what)| format!("<i class=\"key {class}\"></i><span>{what}</span>")).concat();
        format!("{}<p>{key}</p>\n", table.finish())
    }

    fn kernels(&self) -> String {
        let kernels = &self.analysis.kernels.rows;
        if kernels.is_empty() {
            return String::new();
        }
        let heads = [
            "kernel",
            "tasks>",
            "time>",
            "share>",
            "median>",
            "quartiles>",
            "longest>",
            "GFLOP/s>",
            "median>",
            "quartiles>",
            "slowest task",
        ];
        let mut table = HtmlTable::new("Time and rate of each kernel’s tasks", &heads);
        for kernel in kernels {
            table.row(&self.kernel_row(kernel));
        }
        table.finish()
    }

    fn kernel_row(&self, kernel: &KernelTime) -> [String; 11] {
        let length = &kernel.length_ns;
        let rates = kernel.task_rate_gflops.as_ref();
        [
            kernel_name(kernel.kernel, &kernel.name),
            count(kernel.tasks),
            time(kernel.total_ns as f64),
            percent(kernel.share),
            time(length.median),
            format!("{} to {}", time(length.lower), time(length.upper)),
            time(length.max),
            kernel.rate_gflops.map_or(String::new(), digits),
            rates.map_or(String::new(), |rate| digits(rate.median)),
            rates.map_or(String::new(), |rate| format!("{} to {}", digits(rate.lower), digits(rate.upper))),
            kernel.slowest.map_or(String::new(), |task| self.task_link(task, &kernel.slowest_label)),
        ]
    }

    fn links(&self) -> String {
        let links = &self.analysis.links;
        let mut html = String::new();
        if !links.rows.is_empty() {
            let heads = ["from", "to", "transfers>", "bytes>", "time>", "GB/s>"];
            let mut table = HtmlTable::new("Transfers between memory nodes", &heads);
            for link in &links.rows {
                let bytes = format!("{}B", amount(link.bytes as f64));
                let (busy, rate) = (time(link.time_ns as f64), digits(link.rate_gb_s));
                table.row(&[escape(&link.from), escape(&link.to), count(link.transfers), bytes, busy, rate]);
            }
            html += &table.finish();
        }
        if !links.evictions.is_empty() {
            let mut table = HtmlTable::new("Evictions", &["node", "evictions>", "bytes>", "time>"]);
            for node in &links.evictions {
                let bytes = format!("{}B", amount(node.bytes as f64));
                table.row(&[escape(&node.node), count(node.evictions), bytes, time(node.time_ns as f64)]);
            }
            html += &table.finish();
        }
        html
    }

    fn gaps(&self) -> String {
        let gaps = &self.analysis.gaps;
        if gaps.totals.is_empty() {
            return String::new();
        }
        let mut totals = HtmlTable::new("Idle time by reason, all lanes", &["reason", "gaps>", "time>", "share>"]);
        for total in &gaps.totals {
            let part = percent(share(total.time_ns, gaps.total_ns));
            let (name, explanation) = (escape(total.reason.name()), escape(total.reason.explanation()));
            let reason = format!("<span title=\"{explanation}\">{name}</span>");
            totals.row(&[reason, count(total.gaps), time(total.time_ns as f64), part]);
        }
        let caption = format!("The longest of {}", plural(self.analysis.gaps.all.len(), "gap"));
        let mut longest = HtmlTable::new(&caption, &["length>", "lane", "from", "reason", "ended by", "made ready by"]);
        for gap in gaps.longest.iter().take(GAPS_MAX) {
            longest.row(&self.gap_row(gap));
        }
        columns(totals, longest)
    }

    fn gap_row(&self, LongGap { gap, lane_name, ended_by_label, released_by_label }: &LongGap) -> [String; 6] {
        let link = |task: Option<u32>, label: &str| task.map_or(String::new(), |task| self.task_link(task, label));
        let origin_ns = self.trace.extent_ns().0;
        let from_ns = gap.start_ns as i64 - origin_ns as i64;
        let length_ns = gap.length_ns();
        // The view has half the gap's length on either side, so that the gap is centred.
        let (left, right) = (from_ns - length_ns as i64 / 2, from_ns + length_ns as i64 * 3 / 2);
        [
            format!("<a href=\"#time-{left}-{}\">{}</a>", right.max(left + 1), time(length_ns as f64)),
            escape(lane_name),
            time(from_ns as f64),
            escape(gap.reason.name()),
            link(gap.ended_by, ended_by_label),
            link(gap.released_by, released_by_label),
        ]
    }

    fn path(&self) -> String {
        let path = &self.analysis.path;
        if path.tasks.is_empty() {
            return String::new();
        }
        let mut blame = HtmlTable::new("Kernels on the critical path", &["kernel", "tasks>", "time>", "share>"]);
        for kernel in &path.blame {
            let name = kernel_name(kernel.kernel, &kernel.name);
            blame.row(&[name, count(kernel.tasks), time(kernel.time_ns as f64), percent(kernel.share)]);
        }
        let mut longest: Vec<u32> = path.tasks.clone();
        longest.sort_by_key(|&task| std::cmp::Reverse(self.trace.tasks[task as usize].length_ns()));
        let mut tasks = HtmlTable::new("Its longest tasks", &["task", "length>", "lane"]);
        for &place in longest.iter().take(PATH_TASKS_MAX) {
            let task = &self.trace.tasks[place as usize];
            let label = format!("{} {}", self.trace.kernels[task.kernel as usize], task.index);
            let lane = &self.trace.lanes[task.lane as usize].name;
            tasks.row(&[self.task_link(place, &label), time(task.length_ns() as f64), escape(lane)]);
        }
        let text = format!(
            "The critical path is a chain of <strong>{}</strong>, each waiting for the one before. \
             It takes <strong>{}</strong>: with these task times, no number of lanes makes the run shorter. \
             Waits between its tasks took <strong>{}</strong>.",
            plural(path.tasks.len(), "task"),
            time(path.length_ns as f64),
            time(path.waited_ns as f64)
        );
        format!("<p>{text}</p>\n{}", columns(blame, tasks))
    }

    fn what_ifs(&self) -> String {
        let what_ifs = &self.analysis.what_ifs;
        if self.trace.tasks.is_empty() {
            return String::new();
        }
        let heads = ["question", "makespan>", "speedup>", "utilisation>", "critical path>"];
        let row = |prediction: &Prediction| {
            let Prediction { question, makespan_ns, speedup, utilisation, path_share, .. } = prediction;
            let makespan = time(*makespan_ns as f64);
            [escape(question), makespan, format!("{speedup:.2} ×"), percent(*utilisation), percent(*path_share)]
        };
        let mut workers = HtmlTable::new("With other numbers of workers", &heads);
        workers.row(&row(&what_ifs.recorded));
        what_ifs.workers.iter().for_each(|prediction| workers.row(&row(prediction)));
        let mut kernels = HtmlTable::new("With a faster kernel", &heads);
        what_ifs.kernels.iter().for_each(|prediction| kernels.row(&row(prediction)));
        let text = format!(
            "Predicted by replaying the recorded tasks in virtual time. \
             The replay of the recorded run is <strong>{}</strong> {} than the run.",
            percent(what_ifs.error.abs()),
            if what_ifs.error < 0.0 { "shorter" } else { "longer" }
        );
        format!("<p>{text}</p>\n{}", columns(workers, kernels))
    }

    fn facts(&self) -> String {
        if self.trace.facts.is_empty() {
            return String::new();
        }
        let mut table = HtmlTable::new("Metadata of the file", &["name", "value"]);
        self.trace.facts.iter().for_each(|(name, value)| table.row(&[escape(name), escape(value)]));
        table.finish()
    }

    /// Returns a link that selects a task in the chart.
    fn task_link(&self, task: u32, label: &str) -> String {
        let id = self.trace.tasks[task as usize].id;
        format!("<a href=\"#task-{id}\">{} #{id}</a>", escape(label.trim_end()))
    }
}

/// Returns two tables side by side.
fn columns(left: HtmlTable, right: HtmlTable) -> String {
    format!("<div class=\"columns\"><div>{}</div><div>{}</div></div>\n", left.finish(), right.finish())
}

/// Returns a kernel's colour and name.
fn kernel_name(kernel: u32, name: &str) -> String {
    format!("<span class=\"swatch\" data-kernel=\"{kernel}\" aria-hidden=\"true\"></span> {}", escape(name))
}

/// Returns a bar of the three parts of a lane's time.
fn share_bar(row: &LaneTime, wall_ns: u64) -> String {
    let parts = [("busy", row.busy_ns), ("communication", row.communication_ns), ("other", row.other_ns)];
    let part = |(class, ns)| format!("<i class=\"{class}\" style=\"width:{:.2}%\"></i>", share(ns, wall_ns) * 100.0);
    format!("<div class=\"share\" aria-hidden=\"true\">{}</div>", parts.map(part).concat())
}

fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 { 0.0 } else { part_ns as f64 / whole_ns as f64 }
}

/// Formats a count: `1 task`, `2 tasks`.
fn plural(number: usize, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}
