// Rows of slices that do not overlap, and the data for drawing any range of a row in time that does not depend on the
// number of slices in it.
//
// A lane has a row of tasks for each depth of nesting, and below it thin rows for transfers, stalls and the like. If
// many slices fall into one pixel, the pixel shows the busy part of its time, and the kernel with most of it. The busy
// part is exact: `busyBefore` holds prefix sums of the lengths, and two binary searches give the difference. The kernel
// comes from a pyramid: for blocks of 8, 64, 512, … slices it holds the group with the most time, and a pixel uses the
// level of which it covers between 8 and 64 blocks.

const DEPTHS_MAX = 8;
const BLOCK = 8;
/** A block without visible slices. */
const NO_GROUP = 0xffffffff;

class Row {
  constructor({ lane, isTasks, depth, items, starts, ends, groups }) {
    Object.assign(this, { lane, isTasks, depth, items, starts, ends, groups });
    this.count = starts.length;
    this.matchesBefore = null;
  }

  /** The task or activity of a slice. */
  item(slice) {
    return this.items[slice];
  }

  /** Computes the prefix sums and the pyramid, without hidden groups. */
  build(isHidden, groupCount) {
    const { count, starts, ends, groups } = this;
    this.busyBefore = new Float64Array(count + 1);
    for (let at = 0; at < count; at++) {
      const length = isHidden[groups[at]] ? 0 : ends[at] - starts[at];
      this.busyBefore[at + 1] = this.busyBefore[at] + length;
    }
    this.levels = [];
    const time = new Float64Array(groupCount);
    for (let size = BLOCK; size < count; size *= BLOCK) this.levels.push(this.dominants(size, isHidden, time));
  }

  /** The group with the most time in each block of `size` slices. `time` must be all zeros, and is again afterwards. */
  dominants(size, isHidden, time) {
    const { count, starts, ends, groups } = this;
    const level = new Uint32Array(Math.ceil(count / size)).fill(NO_GROUP);
    for (let block = 0; block < level.length; block++) {
      const [first, last] = [block * size, Math.min((block + 1) * size, count)];
      let [best, most] = [NO_GROUP, -1];
      for (let at = first; at < last; at++) {
        const group = groups[at];
        if (isHidden[group]) continue;
        time[group] += ends[at] - starts[at];
        if (time[group] > most) [best, most] = [group, time[group]];
      }
      for (let at = first; at < last; at++) time[groups[at]] = 0;
      level[block] = best;
    }
    return level;
  }

  /** The group with the most time among slices first..last; approximate, by whole blocks, for more than 64 slices. */
  dominant(first, last, isHidden, time) {
    let [level, size] = [-1, 1];
    while (last - first > 64 * size && level + 1 < this.levels.length) {
      level++;
      size *= BLOCK;
    }
    let [best, most] = [NO_GROUP, -1];
    const [low, high] = [Math.floor(first / size), Math.ceil(last / size)];
    for (let block = low; block < high; block++) {
      const group = level < 0 ? this.groups[block] : this.levels[level][block];
      if (group === NO_GROUP || isHidden[group]) continue;
      time[group] += level < 0 ? this.ends[block] - this.starts[block] : 1;
      if (time[group] > most) [best, most] = [group, time[group]];
    }
    for (let block = low; block < high; block++) {
      const group = level < 0 ? this.groups[block] : this.levels[level][block];
      if (group !== NO_GROUP) time[group] = 0;
    }
    return best;
  }

  /** The first slice that ends after a time. */
  firstEndingAfter(at) {
    return firstAtLeast(this.count, (slice) => this.ends[slice] > at);
  }

  /** The first slice from `from` on that starts at or after a time; the search starts near `from`. */
  firstStartingFrom(at, from) {
    const { starts, count } = this;
    let [step, low] = [1, from];
    while (low + step < count && starts[low + step] < at) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low + step, count);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (starts[middle] >= at) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The slice at a time, or the nearest one within `slack`, or -1. */
  sliceAt(at, slack, isHidden) {
    const from = this.firstEndingAfter(at - slack);
    let [best, nearest] = [-1, Infinity];
    for (let slice = from; slice < Math.min(from + 64, this.count) && this.starts[slice] <= at + slack; slice++) {
      if (isHidden[this.groups[slice]]) continue;
      const distance = Math.max(this.starts[slice] - at, at - this.ends[slice], 0);
      if (distance < nearest) [best, nearest] = [slice, distance];
    }
    return best;
  }

  /** Computes prefix sums of search marks, so that a pixel knows whether any of its slices is marked. */
  mark(marks) {
    this.matchesBefore = null;
    if (!marks || !this.isTasks) return;
    this.matchesBefore = new Uint32Array(this.count + 1);
    for (let at = 0; at < this.count; at++) this.matchesBefore[at + 1] = this.matchesBefore[at] + marks[this.items[at]];
  }
}

/** The rows of all lanes, in display order. Kinds of activities are groups after the kernels. */
function makeRows(run) {
  const { names, tasks, activities } = run;
  const rows = [];
  for (let lane = 0; lane < names.lanes.length; lane++) {
    const [first, last] = [tasks.firstOfLane[lane], tasks.firstOfLane[lane + 1]];
    const ids = Uint32Array.from({ length: last - first }, (_, at) => first + at);
    const ofTasks = { starts: tasks.start.subarray(first, last), ends: tasks.end.subarray(first, last) };
    ofTasks.groups = tasks.group.subarray(first, last);
    rows.push(...layered({ lane, isTasks: true, items: ids, ...ofTasks }));
    const list = activities[lane];
    const column = (field) => Float64Array.from(list, (activity) => activity[field]);
    const groups = Uint32Array.from(list, (activity) => names.kernels.length + activity.kind);
    const items = Uint32Array.from(list, (_, at) => at);
    rows.push(...layered({ lane, isTasks: false, items, starts: column("start"), ends: column("end"), groups }));
  }
  return rows;
}

/**
 * Assigns slices to rows without overlaps: each to the first free row. Beyond DEPTHS_MAX rows, the rest share the last
 * row, where a slice ends at the start of the next one.
 */
function layered(all) {
  const depths = depthsOf(all.starts, all.ends);
  const most = depths.reduce((a, b) => Math.max(a, b), 0);
  if (all.starts.length === 0) return [];
  if (most === 0) return [new Row({ ...all, depth: 0 })];
  return Array.from({ length: most + 1 }, (_, depth) => {
    const pick = (column) => column.filter((_, at) => depths[at] === depth);
    const row = { ...all, depth, items: pick(all.items), groups: pick(all.groups) };
    row.starts = pick(all.starts);
    row.ends = pick(all.ends).map((end, at) => Math.min(end, row.starts[at + 1] ?? Infinity));
    return new Row(row);
  });
}

function depthsOf(starts, ends) {
  const free = new Array(DEPTHS_MAX).fill(-Infinity);
  const depths = new Uint8Array(starts.length);
  for (let at = 0; at < starts.length; at++) {
    let depth = 0;
    while (depth < DEPTHS_MAX - 1 && free[depth] > starts[at]) depth++;
    free[depth] = ends[at];
    depths[at] = depth;
  }
  return depths;
}
