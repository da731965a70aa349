// The chart as a table, for screen readers and for copying: the visible tasks, or the matches of a search, page by
// page.

const LIST_ROWS = 100;

/** A page of the tasks that start in view (or of all matches), in order of time, from an index on; and their number. */
function tasksToList(state, from) {
  const { run, marks, axis, isHidden } = state;
  const { tasks } = run;
  const chosen = [];
  for (let task = 0; task < tasks.count; task++) {
    if (isHidden[tasks.group[task]]) continue;
    if (marks ? marks[task] : tasks.end[task] >= axis.start && tasks.start[task] <= axis.end) chosen.push(task);
  }
  chosen.sort((a, b) => tasks.start[a] - tasks.start[b] || a - b);
  return { total: chosen.length, page: chosen.slice(from, from + LIST_ROWS) };
}

class TaskList {
  constructor(state, onSelect) {
    this.state = state;
    this.onSelect = onSelect;
    this.from = 0;
    this.root = document.getElementById("list");
    this.body = document.getElementById("list-rows");
    this.caption = document.getElementById("list-caption");
    this.root.addEventListener("toggle", () => this.fill(0));
    document.getElementById("list-previous").addEventListener("click", () => this.fill(this.from - LIST_ROWS));
    document.getElementById("list-next").addEventListener("click", () => this.fill(this.from + LIST_ROWS));
    document.getElementById("list-refresh").addEventListener("click", () => this.fill(0));
  }

  fill(from) {
    if (!this.root.open) return;
    const { state } = this;
    const { total, page } = tasksToList(state, Math.max(0, from));
    this.from = Math.max(0, from);
    const what = state.marks ? "that were found" : "in view";
    const range = total ? `${this.from + 1} to ${this.from + page.length} of ${countText(total)}` : "no";
    this.caption.textContent = `${range} tasks ${what}`;
    this.body.replaceChildren(...page.map((task) => this.row(task)));
    document.getElementById("list-previous").disabled = this.from === 0;
    document.getElementById("list-next").disabled = this.from + page.length >= total;
  }

  row(task) {
    const { state } = this;
    const { run } = state;
    const { tasks, names } = run;
    const { site, outcome } = classOf(run, task);
    const cell = (content, kind = "") => element("td", kind ? { class: kind } : {}, content);
    return element(
      "tr",
      {},
      cell(taskButton(state, task, this.onSelect)),
      cell(names.lanes[tasks.lane[task]][0]),
      cell(timeText(tasks.start[task]), "figure"),
      cell(timeText(tasks.end[task] - tasks.start[task]), "figure"),
      cell(String(tasks.priority[task]), "figure"),
      cell(OUTCOMES[outcome]),
      cell(site >= 0 ? names.sites[site] : ""),
    );
  }
}
