// Search for tasks: `gemm`, `(3, 1)`, `gemm (3, 1)`, `#42`, `potrf.rs:99`, `failed`.

/** A query: parts that a task must all match. */
function parseQuery(text) {
  const query = { text: "", number: null, index: null };
  let rest = text.trim();
  rest = rest.replace(/#(\d+)/, (_, number) => {
    query.number = Number(number);
    return " ";
  });
  rest = rest.replace(/\(([\d\s,]*)\)?\s*$/, (_, list) => {
    query.index = list.split(",").filter((part) => part.trim()).map(Number);
    return " ";
  });
  query.text = rest.trim().toLowerCase();
  return query;
}

/** Whether the tasks of each class match the text, by kernel, site or outcome. */
function classesThatFit(run, text) {
  const has = (name) => name !== undefined && name.toLowerCase().includes(text);
  return run.classes.map(
    ({ kernel, site, outcome }) =>
      has(run.names.kernels[kernel]) || has(run.names.sites[site]) || (outcome !== 0 && OUTCOMES[outcome] === text),
  );
}

/** A mark of 0 or 1 for each task, and the number of matches; null without a query. */
function findTasks(run, text) {
  const { number, index, text: words } = parseQuery(text);
  if (number === null && index === null && !words) return null;
  const { tasks } = run;
  const fits = classesThatFit(run, words);
  const marks = new Uint8Array(tasks.count);
  let count = 0;
  for (let task = 0; task < tasks.count; task++) {
    if (!fits[tasks.class[task]]) continue;
    if (number !== null && tasks.number[task] !== number) continue;
    if (index !== null && !hasIndex(run, task, index)) continue;
    marks[task] = 1;
    count++;
  }
  return { marks, count };
}

/** Whether the task's first indices are these. */
function hasIndex(run, task, index) {
  if (classOf(run, task).indices < index.length) return false;
  return index.every((value, at) => run.tasks.index[at][task] === value);
}

/** The match after (`step` 1) or before (-1) a task in order of time, wrapping around; and its rank, from 1. */
function nextMatch(run, { marks, count }, from, step) {
  const { tasks } = run;
  if (count === 0) return null;
  const isAfter = (a, b) => tasks.start[a] > tasks.start[b] || (tasks.start[a] === tasks.start[b] && a > b);
  const isBetter = (a, b) => b < 0 || (step > 0 ? isAfter(b, a) : isAfter(a, b));
  let [next, around] = [-1, -1];
  for (let task = 0; task < tasks.count; task++) {
    if (!marks[task]) continue;
    if (isBetter(task, around)) around = task;
    const isBeyond = from < 0 || (step > 0 ? isAfter(task, from) : isAfter(from, task));
    if (isBeyond && task !== from && isBetter(task, next)) next = task;
  }
  const task = next >= 0 ? next : around;
  let rank = 1;
  for (let other = 0; other < tasks.count; other++) if (marks[other] && isAfter(task, other)) rank++;
  return { task, rank };
}
