// The tracks under the chart, on the same axis: the number of busy lanes, and the counters.

const UTILISATION_HEIGHT = 56;
const COUNTER_HEIGHT = 36;
const TRACK_GAP = 8;
const SAMPLE_BLOCK = 16;

/**
 * The number of lanes that run tasks, as an integral. With prefix sums over the sorted starts and ends, two binary
 * searches give the busy time of all lanes before any time.
 */
class Utilisation {
  constructor(rows, lanes) {
    const outer = rows.filter((row) => row.isTasks && row.depth === 0);
    this.lanes = lanes;
    this.starts = ordered(outer.map((row) => row.starts));
    this.ends = ordered(outer.map((row) => row.ends));
    this.startsBefore = sums(this.starts);
    this.endsBefore = sums(this.ends);
  }

  /** The time in tasks before a time, over all lanes, in nanoseconds. */
  busyBefore(at) {
    const started = firstAtLeast(this.starts.length, (place) => this.starts[place] >= at);
    const ended = firstAtLeast(this.ends.length, (place) => this.ends[place] >= at);
    return (started - ended) * at - this.startsBefore[started] + this.endsBefore[ended];
  }
}

function ordered(columns) {
  const all = new Float64Array(columns.reduce((count, column) => count + column.length, 0));
  let at = 0;
  for (const column of columns) {
    all.set(column, at);
    at += column.length;
  }
  return all.sort();
}

function sums(values) {
  const before = new Float64Array(values.length + 1);
  for (let at = 0; at < values.length; at++) before[at + 1] = before[at] + values[at];
  return before;
}

/** The maximum of any range of samples, by a pyramid of blocks of 16, 256, …. */
class Peaks {
  constructor({ at, value }) {
    this.at = at;
    this.levels = [value];
    while (this.levels.at(-1).length > SAMPLE_BLOCK) {
      const below = this.levels.at(-1);
      const level = new Float64Array(Math.ceil(below.length / SAMPLE_BLOCK)).fill(-Infinity);
      for (let place = 0; place < below.length; place++) {
        const block = Math.floor(place / SAMPLE_BLOCK);
        level[block] = Math.max(level[block], below[place]);
      }
      this.levels.push(level);
    }
    this.most = Math.max(0, ...this.levels.at(-1));
  }

  /**
   * The maximum of samples first..last: single samples up to the edge of a block, then whole blocks, one level higher
   * each time.
   */
  greatest(first, last) {
    let most = -Infinity;
    for (let level = 0; first < last; level++) {
      const values = this.levels[level];
      while (first < last && (first % SAMPLE_BLOCK !== 0 || level + 1 === this.levels.length)) {
        most = Math.max(most, values[first++]);
      }
      while (first < last && last % SAMPLE_BLOCK !== 0) most = Math.max(most, values[--last]);
      first /= SAMPLE_BLOCK;
      last /= SAMPLE_BLOCK;
    }
    return most;
  }

  /** The first sample at or after a time; the search starts near `from`. */
  firstFrom(moment, from) {
    const { at } = this;
    let [low, step] = [from, 1];
    while (low + step < at.length && at[low + step] < moment) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low + step, at.length);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (at[middle] >= moment) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The value before a sample, which is 0 before the first. */
  before(sample) {
    return sample > 0 ? this.levels[0][sample - 1] : 0;
  }

  /** The value at a time. */
  valueAt(moment) {
    return this.before(firstAtLeast(this.at.length, (place) => this.at[place] > moment));
  }
}

class Tracks {
  constructor(canvas, state) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.state = state;
    const { run, rows } = state;
    const isBusyKind = ([, , kind]) => kind === "worker" || kind === "queue";
    const busy = new Set(rows.filter((row) => row.isTasks).map((row) => row.lane));
    const lanes = run.names.lanes.filter((lane, at) => isBusyKind(lane) || busy.has(at)).length;
    this.utilisation = new Utilisation(rows, lanes);
    const counters = run.counters.filter(({ at }) => at.length > 0);
    this.counters = counters.map((counter) => ({ ...counter, peaks: new Peaks(counter) }));
    this.height = UTILISATION_HEIGHT + (COUNTER_HEIGHT + TRACK_GAP) * this.counters.length + TRACK_GAP * 2;
  }

  draw() {
    const { context, state } = this;
    const { axis, palette } = state;
    context.clearRect(0, 0, axis.gutter + axis.width, this.height);
    drawGrid(context, state, 0, this.height);
    const pixel = 1 / axis.scale;
    let before = this.utilisation.busyBefore(axis.start);
    this.track(TRACK_GAP, UTILISATION_HEIGHT, this.utilisation.lanes, palette.accent, (x) => {
      const after = this.utilisation.busyBefore(axis.start + (x + 1) * pixel);
      const busy = (after - before) / pixel;
      before = after;
      return busy;
    });
    this.name("busy lanes", this.utilisation.lanes, TRACK_GAP, UTILISATION_HEIGHT);
    let y = TRACK_GAP * 2 + UTILISATION_HEIGHT;
    for (const { name, peaks } of this.counters) {
      let first = peaks.firstFrom(axis.start, 0);
      this.track(y, COUNTER_HEIGHT, peaks.most, palette.muted, (x) => {
        const next = peaks.firstFrom(axis.start + (x + 1) * pixel, first);
        const most = Math.max(peaks.before(first), peaks.greatest(first, next));
        first = next;
        return most;
      });
      this.name(name, peaks.most, y, COUNTER_HEIGHT);
      y += COUNTER_HEIGHT + TRACK_GAP;
    }
    drawPointer(context, state, 0, this.height);
  }

  /** The area below a line that changes from pixel to pixel. */
  track(y, height, most, colour, valueOf) {
    const { context, state } = this;
    const { axis, palette } = state;
    context.fillStyle = palette.faint;
    context.fillRect(axis.gutter, y, axis.width, height);
    const bottom = y + height;
    const top = (value) => bottom - (most > 0 ? (Math.min(value, most) / most) * (height - 2) : 0);
    const [area, line] = [new Path2D(), new Path2D()];
    area.moveTo(axis.gutter, bottom);
    for (let x = 0; x < axis.width; x++) {
      const level = top(valueOf(x));
      area.lineTo(axis.gutter + x, level);
      area.lineTo(axis.gutter + x + 1, level);
      if (x === 0) line.moveTo(axis.gutter, level);
      else line.lineTo(axis.gutter + x, level);
      line.lineTo(axis.gutter + x + 1, level);
    }
    area.lineTo(axis.gutter + axis.width, bottom);
    context.globalAlpha = 0.28;
    context.fillStyle = colour;
    context.fill(area);
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.stroke(line);
  }

  /** The name, and the maximum or the value at the pointer. */
  name(name, most, y, height) {
    const { context, state } = this;
    const { axis, palette, font } = state;
    context.save();
    context.beginPath();
    context.rect(0, y, axis.gutter - 6, height);
    context.clip();
    context.textBaseline = "top";
    context.font = `12px ${font}`;
    context.fillStyle = palette.ink;
    context.fillText(name, 10, y + 2);
    context.font = `11px ${font}`;
    context.fillStyle = palette.muted;
    context.fillText(`most ${valueText(most)}`, 10, y + 18);
    context.restore();
  }

  /** The values of the tracks at a time. */
  valuesAt(at) {
    const { axis } = this.state;
    const half = 0.5 / axis.scale;
    const busy = (this.utilisation.busyBefore(at + half) - this.utilisation.busyBefore(at - half)) / (2 * half);
    const counters = this.counters.map(({ name, peaks }) => `${name} ${valueText(peaks.valueAt(at))}`);
    return [`busy lanes ${busy.toFixed(1)} of ${this.utilisation.lanes}`, ...counters];
  }
}
