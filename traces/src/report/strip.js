// A line of pixels: for each, the busy part of its time, and the group with most of it.

class StripLine {
  constructor(width, palette) {
    this.width = width;
    this.palette = palette;
    this.busy = new Float32Array(width);
    this.most = new Float32Array(width);
    this.group = new Uint32Array(width);
    this.dim = new Uint8Array(width);
  }

  /** A slice of a few pixels: whole pixels, and parts at its ends. */
  add(x0, x1, group, isDim) {
    const last = Math.min(this.width, Math.ceil(x1));
    for (let x = Math.max(0, Math.floor(x0)); x < last; x++) {
      this.addPixel(x, Math.min(x1, x + 1) - Math.max(x0, x), group, isDim);
    }
  }

  /** A part of one pixel. A slice of zero length, such as a cancelled task, is still visible. */
  addPixel(x, part, group, isDim) {
    if (x >= this.width) return;
    const shown = Math.max(part, 0.2);
    this.busy[x] += shown;
    if (shown > this.most[x] || (this.dim[x] && !isDim)) {
      this.most[x] = shown;
      this.group[x] = group;
      this.dim[x] = isDim ? 1 : 0;
    }
  }

  /** Writes the colours and clears the line. */
  write(pixels) {
    const { busy, most, group, dim, palette } = this;
    const { shades } = palette;
    for (let x = 0; x < this.width; x++) {
      if (busy[x] === 0) continue;
      const shade = Math.max(1, Math.round(Math.min(1, busy[x]) * (SHADES - 1)));
      pixels[x] = shades[(group[x] * 2 + dim[x]) * SHADES + shade];
      busy[x] = most[x] = 0;
    }
  }
}

/**
 * Draws the visible slices of a row: those at least `wide` pixels wide are passed to `onWide(slice, isDim)`, the others
 * are added to a line of pixels. `scale` is pixels of the line per nanosecond. Slices of a pixel or more are handled
 * one by one, all smaller ones of a pixel together.
 */
function walkRow(state, axis, row, { scale, wide }, line, onWide) {
  const { isHidden, marks } = state;
  const { starts, ends, groups, busyBefore, matchesBefore } = row;
  let at = row.firstEndingAfter(axis.start);
  while (at < row.count && starts[at] < axis.end) {
    const x0 = (starts[at] - axis.start) * scale;
    const x1 = (ends[at] - axis.start) * scale;
    if (x1 - x0 >= 1) {
      const isDim = matchesBefore !== null && marks[row.items[at]] === 0;
      if (isHidden[groups[at]] === 0) {
        if (x1 - x0 >= wide) onWide(at, isDim);
        else line.add(x0, x1, groups[at], isDim);
      }
      at++;
      continue;
    }
    const pixel = Math.max(0, Math.floor(x0));
    let next = row.firstStartingFrom(axis.start + (pixel + 1) / scale, at + 1);
    if (next - at > 1 && (ends[next - 1] - starts[next - 1]) * scale >= 1) next--;
    const group = next - at === 1 ? groups[at] : row.dominant(at, next, isHidden, state.timeOfGroup);
    if (group !== NO_GROUP && isHidden[group] === 0) {
      const isDim = matchesBefore !== null && matchesBefore[next] === matchesBefore[at];
      line.addPixel(pixel, (busyBefore[next] - busyBefore[at]) * scale, group, isDim);
    }
    at = next;
  }
}
