// The run, decoded from the page's sections, whose contents are described in `data.rs`.

const OUTCOMES = ["completed", "failed", "panicked", "cancelled"];
const HAZARDS = ["RaW", "WaR", "WaW"];
const ACTIVITIES = ["transfer", "eviction", "stall", "allocation", "host span"];

/** The decoded run. Tasks are numbered by lane, then by start. */
function readRun() {
  const names = JSON.parse(document.getElementById("names").textContent);
  const classes = readClasses(new Reader(takeSection("classes")));
  const costs = readCosts(new Reader(takeSection("costs")));
  const tasks = readTasks(names, classes, new Reader(takeSection("tasks")));
  const byNumber = orderOfNumbers(tasks);
  const activities = readActivities(names, new Reader(takeSection("activities")));
  const counters = readCounters(names, new Reader(takeSection("counters")));
  const path = readPath(byNumber, new Reader(takeSection("path")));
  const run = { names, classes, costs, tasks, byNumber, activities, counters, path, graph: null };
  run.limits = limitsOf(run);
  return run;
}

/** Values that many tasks share. */
function readClasses(reader) {
  return Array.from({ length: reader.number() }, () => ({
    kernel: reader.number(),
    site: reader.number() - 1,
    outcome: reader.number(),
    level: reader.number(),
    indices: reader.number(),
    hasInsertion: reader.number() === 1,
  }));
}

function readCosts(reader) {
  return Array.from({ length: reader.number() }, () => ({ flops: reader.double(), bytes: reader.double() }));
}

/** The columns of the tasks. */
function readTasks(names, classes, reader) {
  const count = names.tasks;
  const tasks = {
    count,
    class: new Uint32Array(count),
    cost: new Uint32Array(count),
    start: new Float64Array(count),
    end: new Float64Array(count),
    number: new Float64Array(count),
    priority: new Int32Array(count),
    index: [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)],
    inserted: new Float64Array(count).fill(NaN),
    group: new Uint32Array(count),
    lane: new Uint32Array(count),
    firstOfLane: new Uint32Array(names.lanes.length + 1),
  };
  let task = 0;
  for (let lane = 0; lane < names.lanes.length; lane++) {
    const last = task + reader.number();
    let [start, number, priority] = [0, 0, 0];
    for (; task < last; task++) {
      const which = (tasks.class[task] = reader.number());
      const { kernel, indices, hasInsertion } = classes[which];
      tasks.cost[task] = reader.number();
      tasks.start[task] = start += reader.difference();
      tasks.end[task] = start + reader.number();
      tasks.number[task] = number += reader.difference();
      tasks.priority[task] = priority += reader.difference();
      for (let at = 0; at < indices; at++) tasks.index[at][task] = reader.number();
      if (hasInsertion) tasks.inserted[task] = start - reader.difference();
      tasks.group[task] = kernel;
      tasks.lane[task] = lane;
    }
    tasks.firstOfLane[lane + 1] = task;
  }
  return tasks;
}

/** The tasks in the order of their numbers in the serial program; equal numbers are in page order. */
function orderOfNumbers(tasks) {
  const { count, number } = tasks;
  const order = Uint32Array.from({ length: count }, (_, task) => task);
  let [least, most] = [Infinity, -Infinity];
  for (let task = 0; task < count; task++) {
    least = Math.min(least, number[task]);
    most = Math.max(most, number[task]);
  }
  if (most - least > 4 * count) return order.sort((a, b) => number[a] - number[b] || a - b);
  // Nearly every number in the range occurs, so counting sort is much faster than a comparison sort.
  const first = new Uint32Array(count ? most - least + 2 : 1);
  for (let task = 0; task < count; task++) first[number[task] - least + 1]++;
  for (let at = 1; at < first.length; at++) first[at] += first[at - 1];
  for (let task = 0; task < count; task++) order[first[number[task] - least]++] = task;
  return order;
}

function readActivities(names, reader) {
  const lanes = names.lanes.map(() => {
    let start = 0;
    return Array.from({ length: reader.number() }, () => {
      const [kind, name] = [reader.number(), reader.number()];
      start += reader.difference();
      const activity = { kind, name, start, end: start + reader.number(), bytes: reader.number() };
      activity.link = reader.number() ? [reader.number(), reader.number()] : null;
      activity.task = reader.number() - 1;
      return activity;
    });
  });
  return lanes.map((list, lane) => {
    for (const activity of list) activity.lane = lane;
    return list;
  });
}

function readCounters(names, reader) {
  return names.counters.map((name) => {
    const count = reader.number();
    const areDoubles = reader.number() === 1;
    const [at, value] = [new Float64Array(count), new Float64Array(count)];
    let [moment, previous] = [0, 0];
    for (let sample = 0; sample < count; sample++) {
      at[sample] = moment += reader.difference();
      value[sample] = previous = areDoubles ? reader.double() : previous + reader.difference();
    }
    return { name, at, value };
  });
}

function readPath(byNumber, reader) {
  return Uint32Array.from({ length: reader.number() }, () => byNumber[reader.number()]);
}

/** The earliest and the latest time in the run. */
function limitsOf(run) {
  let [start, end] = [0, run.names.end_ns];
  for (const list of run.activities) {
    for (const activity of list) {
      start = Math.min(start, activity.start);
      end = Math.max(end, activity.end);
    }
  }
  return { start, end: Math.max(end, start + 1) };
}

/**
 * The hazards, by their later and by their earlier task. They are decoded on first use: a million tasks may have five
 * million hazards, and the chart can be drawn without them.
 */
function graphOf(run) {
  run.graph ??= readHazards(run, new Reader(takeSection("hazards")));
  return run.graph;
}

function readHazards(run, reader) {
  const { count } = run.tasks;
  const hazards = run.names.hazards;
  const graph = {
    from: new Uint32Array(hazards),
    to: new Uint32Array(hazards),
    kind: new Uint8Array(hazards),
    datum: new Float64Array(hazards),
    firstInto: new Uint32Array(count + 1),
    firstOutOf: new Uint32Array(count + 2),
    outOf: new Uint32Array(hazards),
  };
  const placeOf = new Uint32Array(count);
  let [hazard, datum] = [0, 0];
  for (let place = 0; place < count; place++) {
    placeOf[run.byNumber[place]] = place;
    graph.firstInto[place] = hazard;
    for (let left = reader.number(); left > 0; left--, hazard++) {
      const packed = reader.number();
      const zigzag = Math.floor(packed / 4);
      const distance = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      graph.kind[hazard] = packed % 4;
      graph.from[hazard] = run.byNumber[place - distance];
      graph.to[hazard] = run.byNumber[place];
      graph.datum[hazard] = datum += reader.difference();
      graph.firstOutOf[graph.from[hazard] + 2]++;
    }
  }
  graph.firstInto[count] = hazard;
  for (let at = 2; at < graph.firstOutOf.length; at++) graph.firstOutOf[at] += graph.firstOutOf[at - 1];
  for (hazard = 0; hazard < hazards; hazard++) graph.outOf[graph.firstOutOf[graph.from[hazard] + 1]++] = hazard;
  graph.placeOf = placeOf;
  return graph;
}

/** The hazards whose later task is this one. */
function hazardsInto(run, task) {
  const graph = graphOf(run);
  const place = graph.placeOf[task];
  const [first, last] = [graph.firstInto[place], graph.firstInto[place + 1]];
  return Array.from({ length: last - first }, (_, at) => hazardAt(graph, first + at));
}

/** The hazards whose earlier task is this one. */
function hazardsOutOf(run, task) {
  const graph = graphOf(run);
  const list = graph.outOf.subarray(graph.firstOutOf[task], graph.firstOutOf[task + 1]);
  return Array.from(list, (hazard) => hazardAt(graph, hazard));
}

function hazardAt(graph, hazard) {
  const { from, to, kind, datum } = graph;
  return { from: from[hazard], to: to[hazard], kind: kind[hazard], datum: datum[hazard] };
}

/** The task with a number, or -1. */
function taskOfNumber(run, number) {
  const at = firstAtLeast(run.byNumber.length, (place) => run.tasks.number[run.byNumber[place]] >= number);
  const task = run.byNumber[at];
  return task !== undefined && run.tasks.number[task] === number ? task : -1;
}

function classOf(run, task) {
  return run.classes[run.tasks.class[task]];
}

/** `(3, 1)`, or nothing. */
function indexText(run, task) {
  const { indices } = classOf(run, task);
  const values = run.tasks.index.slice(0, indices).map((column) => column[task]);
  return indices ? `(${values.join(", ")})` : "";
}

/** `gemm (3, 1)`. */
function taskText(run, task) {
  return `${run.names.kernels[run.tasks.group[task]]} ${indexText(run, task)}`.trim();
}

/** The first index in 0..count at which a monotonic condition holds; otherwise count. */
function firstAtLeast(count, holds) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
