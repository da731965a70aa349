// The panel with all data of the selected task or activity, and links along its hazards.

/** The maximum number of hazards in a list; the rest are counted. */
const LISTED_MAX = 100;

/**
 * An element with properties and children. Text is inserted as text: names come from files, and nothing parses HTML.
 */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** The data of a selected task: its position, and its hazards, with those of a pair together. */
function selectionOf(state, task) {
  const { run } = state;
  return {
    task,
    place: placeOfTask(state, task),
    predecessors: pairs(hazardsInto(run, task), "from"),
    successors: pairs(hazardsOutOf(run, task), "to"),
  };
}

/** One entry for each other task: the kinds of its hazards with the selected task, and their data. */
function pairs(hazards, end) {
  const ofTask = new Map();
  for (const hazard of hazards) {
    const other = hazard[end];
    if (!ofTask.has(other)) ofTask.set(other, { task: other, kinds: [], data: [] });
    const pair = ofTask.get(other);
    if (!pair.kinds.includes(hazard.kind)) pair.kinds.push(hazard.kind);
    if (hazard.datum && !pair.data.includes(hazard.datum)) pair.data.push(hazard.datum);
  }
  for (const pair of ofTask.values()) {
    pair.kinds.sort();
    pair.data.sort((a, b) => a - b);
  }
  return [...ofTask.values()];
}

/** The predecessor that ended last, for which the task waited. */
function lastPredecessor(state, { predecessors }) {
  const { end } = state.run.tasks;
  const later = (last, pair) => (last === null || end[pair.task] > end[last.task] ? pair : last);
  return predecessors.reduce(later, null);
}

/** The successor that started first. */
function firstSuccessor(state, { successors }) {
  const { start } = state.run.tasks;
  const earlier = (first, pair) => (first === null || start[pair.task] < start[first.task] ? pair : first);
  return successors.reduce(earlier, null);
}

/** A time with the digits that matter beside a length: a hundredth of it. */
function momentNear(at, length) {
  return momentText(at, roundStep(Math.max(length / 100, 1)), at);
}

function spanFacts(start, end) {
  const length = end - start;
  return [
    ["began", momentNear(start, length)],
    ["ended", momentNear(end, length)],
    ["length", timeText(length)],
  ];
}

/** Rows of the table of facts about a task. */
function taskFacts(state, selection) {
  const { run } = state;
  const { tasks, names } = run;
  const { task } = selection;
  const { site, outcome, level } = classOf(run, task);
  const { flops, bytes } = run.costs[tasks.cost[task]];
  const [start, end, inserted] = [tasks.start[task], tasks.end[task], tasks.inserted[task]];
  const last = lastPredecessor(state, selection);
  const facts = [
    ["outcome", OUTCOMES[outcome]],
    ["lane", names.lanes[tasks.lane[task]][0]],
    ...spanFacts(start, end),
  ];
  if (!Number.isNaN(inserted)) {
    facts.push(["inserted", momentNear(inserted, end - start)], ["waited from insertion", timeText(start - inserted)]);
  }
  if (last) {
    const waited = start - tasks.end[last.task];
    const when = waited >= 0 ? "before it began" : "after it began";
    facts.push(["last predecessor ended", `${timeText(Math.abs(waited))} ${when}`]);
  }
  facts.push(["priority", String(tasks.priority[task])]);
  if (flops > 0) facts.push(["work", `${amountText(flops)}flop`]);
  if (flops > 0 && end > start) facts.push(["rate", `${(flops / (end - start)).toPrecision(4)} GFLOP/s`]);
  if (bytes > 0) facts.push(["bytes", `${amountText(bytes)}B`]);
  if (level > 0) facts.push(["BLAS level", String(level)]);
  if (site >= 0) facts.push(["site", names.sites[site]]);
  facts.push(["critical path", state.isOnPath[task] ? "on it" : "not on it"]);
  facts.push(["in the raw file", `ts ${((names.origin_ns + start) / 1000).toFixed(3)}`]);
  return facts;
}

function activityFacts(state, activity) {
  const { names } = state.run;
  const length = activity.end - activity.start;
  const facts = [
    ["what", ACTIVITIES[activity.kind]],
    ["lane", names.lanes[activity.lane][0]],
    ...spanFacts(activity.start, activity.end),
  ];
  if (activity.link) facts.push(["link", activity.link.map((node) => names.names[node]).join(" to ")]);
  if (activity.bytes > 0) facts.push(["bytes", `${amountText(activity.bytes)}B`]);
  if (activity.bytes > 0 && length > 0) facts.push(["rate", `${(activity.bytes / length).toPrecision(4)} GB/s`]);
  return facts;
}

function factList(facts) {
  const rows = facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  return element("dl", { class: "facts" }, ...rows);
}

/** A button that selects a task. */
function taskButton(state, task, onSelect) {
  const { run, palette } = state;
  const kernel = run.tasks.group[task];
  const swatch = element("span", { class: "swatch", "aria-hidden": "true" }, palette.letters[kernel]);
  paintSwatch(swatch, palette, kernel);
  const label = element("span", {}, `${taskText(run, task)} #${run.tasks.number[task]}`);
  const properties = { type: "button", class: "task", "data-task": String(run.tasks.number[task]) };
  const button = element("button", properties, swatch, label);
  button.addEventListener("click", () => onSelect(task));
  return button;
}

function paintSwatch(swatch, palette, group) {
  swatch.style.background = palette.fill[group];
  swatch.style.color = palette.text[group];
}

/** The predecessors or the successors, each with its hazards. */
function hazardList(state, title, list, onSelect) {
  const { tasks } = state.run;
  const byTime = [...list].sort((a, b) => tasks.start[a.task] - tasks.start[b.task]);
  const rows = byTime.slice(0, LISTED_MAX).map(({ task, kinds, data }) => {
    const why = kinds.map((kind) => HAZARDS[kind]).join(" ");
    const what = data.length ? ` on ${data.slice(0, 4).join(", ")}${data.length > 4 ? ", …" : ""}` : "";
    return element("li", {}, taskButton(state, task, onSelect), element("span", { class: "why" }, why + what));
  });
  if (byTime.length > LISTED_MAX) rows.push(element("li", { class: "why" }, `and ${byTime.length - LISTED_MAX} more`));
  const heading = element("h3", {}, `${title} (${list.length})`);
  return [heading, list.length ? element("ul", { class: "hazards" }, ...rows) : element("p", { class: "why" }, "none")];
}

/** Fills the panel for a selection, or explains how to select. */
function showDetails(state, panel, onSelect) {
  const { selected, run } = state;
  if (!selected) {
    const hint = "Click a task, or press Enter in the chart, to see what it was and what it waited for.";
    panel.replaceChildren(element("h2", { tabIndex: -1 }, "Selection"), element("p", { class: "why" }, hint));
    return;
  }
  if (selected.activity) {
    const { activity } = selected;
    const heading = element("h2", { tabIndex: -1 }, activityLabel(run, activity));
    const task = activity.task >= 0 ? taskOfNumber(run, activity.task) : -1;
    const owner = task >= 0 ? [element("h3", {}, "For the task"), taskButton(state, task, onSelect)] : [];
    panel.replaceChildren(heading, factList(activityFacts(state, activity)), ...owner);
    return;
  }
  const { task } = selected;
  const number = element("span", { class: "number" }, ` #${run.tasks.number[task]}`);
  const heading = element("h2", { tabIndex: -1 }, taskText(run, task), number);
  panel.replaceChildren(
    heading,
    factList(taskFacts(state, selected)),
    ...hazardList(state, "Predecessors", selected.predecessors, onSelect),
    ...hazardList(state, "Successors", selected.successors, onSelect),
  );
}

/** One line about a slice, for the pointer's label. */
function sliceSummary(state, { row, slice }) {
  const { run } = state;
  const length = timeText(row.ends[slice] - row.starts[slice]);
  if (!row.isTasks) return `${activityText(run, row, slice)}, ${length}`;
  const task = row.items[slice];
  const { outcome } = classOf(run, task);
  return `${taskText(run, task)} #${run.tasks.number[task]}, ${length}${outcome ? `, ${OUTCOMES[outcome]}` : ""}`;
}
