// The Gantt chart: a ruler, and a row for each lane and depth. The time to draw depends on the pixels and not on the
// number of tasks: slices of a pixel or more are drawn one by one, all slices within one pixel together.

const RULER_HEIGHT = 24;
/** Slices of at least this many pixels are rectangles of their own; smaller ones are drawn as a strip of pixels. */
const RECTANGLE_MIN = 4;
const LETTER_MIN = 13;
const NAME_MIN = 34;
/** The maximum number of labels per frame, since text is slow to draw. */
const LABELS_MAX = 1500;
const PROCESS_HEIGHT = 16;
const TICKS_APART = 110;
const LANE_GAP = 5;
/** With more lanes than this, the gaps between them are smaller. */
const LANES_MANY = 20;

class Gantt {
  constructor(canvas, state) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.state = state;
    this.strip = document.createElement("canvas");
    this.scroll = 0;
  }

  /** Assigns each row its position. Lanes share the available height; few lanes grow to the wanted height. */
  layout(heightMax, heightWanted) {
    const { rows, run } = this.state;
    const lanes = [];
    for (const row of rows) {
      const known = lanes.at(-1)?.lane === row.lane ? lanes.at(-1) : null;
      if (known) known.rows.push(row);
      else lanes.push({ lane: row.lane, rows: [row] });
    }
    const gap = lanes.length > LANES_MANY ? 2 : LANE_GAP;
    const names = 2 * PROCESS_HEIGHT;
    const share = (height) => Math.floor((height - RULER_HEIGHT - names) / Math.max(lanes.length, 1)) - gap - 4;
    const height = Math.min(Math.max(share(heightMax), 14), Math.max(36, Math.min(share(heightWanted), 64)));
    let y = 4;
    let process = null;
    for (const lane of lanes) {
      const name = run.names.lanes[lane.lane][1];
      lane.process = name === process ? null : name;
      if (lane.process !== null) y += PROCESS_HEIGHT;
      process = name;
      lane.y = y;
      for (const row of lane.rows) {
        row.y = y;
        row.height = rowHeight(row, lane.rows[0] === row, height);
        y += row.height + 1;
      }
      lane.height = y - lane.y - 1;
      y += gap;
    }
    this.lanes = lanes;
    this.contentHeight = y;
    this.height = Math.min(heightMax, RULER_HEIGHT + y);
    this.scrollTo(this.scroll);
  }

  scrollTo(scroll) {
    this.scroll = Math.min(Math.max(scroll, 0), Math.max(0, RULER_HEIGHT + this.contentHeight - this.height));
  }

  /** The rows that are at least partly visible, with their y on the canvas. */
  visibleRows() {
    const visible = [];
    for (const row of this.state.rows) {
      const y = RULER_HEIGHT + row.y - this.scroll;
      if (y + row.height > RULER_HEIGHT && y < this.height) visible.push({ row, y });
    }
    return visible;
  }

  draw() {
    const { context, state } = this;
    const { axis, palette } = state;
    context.clearRect(0, 0, axis.gutter + axis.width, this.height);
    const visible = this.visibleRows();
    context.save();
    context.beginPath();
    context.rect(0, RULER_HEIGHT, axis.gutter + axis.width, this.height - RULER_HEIGHT);
    context.clip();
    this.drawGround();
    const rectangles = this.drawStrips(visible);
    this.drawRectangles(rectangles);
    this.drawLabels(rectangles);
    if (state.showPath) drawPath(this, context);
    context.restore();
    this.drawRuler();
    this.drawGutter();
    if (RULER_HEIGHT + this.contentHeight > this.height) this.drawScroll();
    context.fillStyle = palette.rule;
    context.fillRect(0, RULER_HEIGHT - 1, axis.gutter + axis.width, 1);
  }

  /** A faint background of each lane, so that empty lanes are visible. */
  drawGround() {
    const { context, state } = this;
    const { axis, palette } = state;
    context.fillStyle = palette.faint;
    for (const lane of this.lanes) {
      context.fillRect(axis.gutter, RULER_HEIGHT + lane.y - this.scroll, axis.width, lane.height);
    }
    drawGrid(context, state, RULER_HEIGHT, this.height);
    const inside = Math.max(axis.x(axis.home.start), axis.gutter);
    const outside = Math.min(axis.x(axis.home.end), axis.gutter + axis.width);
    context.fillStyle = palette.rule;
    if (inside > axis.gutter) context.fillRect(Math.round(inside), RULER_HEIGHT, 1, this.height);
    if (outside < axis.gutter + axis.width) context.fillRect(Math.round(outside), RULER_HEIGHT, 1, this.height);
  }

  /** Draws the small slices of all rows as one stretched image, one pixel high per row; returns the larger ones. */
  drawStrips(visible) {
    const { context, state, strip } = this;
    const { axis } = state;
    const ratio = state.ratio;
    const width = Math.max(1, Math.round(axis.width * ratio));
    const rectangles = { plain: new Map(), dim: new Map(), labels: [], failed: [] };
    if (visible.length === 0) return rectangles;
    strip.width = width;
    strip.height = visible.length;
    const image = new ImageData(width, visible.length);
    const pixels = new Uint32Array(image.data.buffer);
    const line = new StripLine(width, state.palette);
    visible.forEach(({ row, y }, at) => {
      const onWide = (slice, isDim) => this.addRectangle(rectangles, row, slice, y, isDim);
      walkRow(state, axis, row, { scale: width / axis.span, wide: RECTANGLE_MIN * ratio }, line, onWide);
      line.write(pixels.subarray(at * width, (at + 1) * width));
    });
    strip.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    visible.forEach(({ row, y }, at) => {
      context.drawImage(strip, 0, at, width, 1, axis.gutter, y, axis.width, row.height);
    });
    return rectangles;
  }

  addRectangle(rectangles, row, slice, y, isDim) {
    const { axis, run } = this.state;
    const left = Math.max(axis.x(row.starts[slice]), axis.gutter - 4);
    const right = Math.min(axis.x(row.ends[slice]), axis.gutter + axis.width + 4);
    const rectangle = { row, slice, x: left, y, width: right - left, height: row.height, isDim };
    const group = row.groups[slice];
    const map = isDim ? rectangles.dim : rectangles.plain;
    if (!map.has(group)) map.set(group, []);
    map.get(group).push(rectangle);
    if (rectangle.width >= LETTER_MIN && row.height >= 11) rectangles.labels.push(rectangle);
    if (row.isTasks && classOf(run, row.items[slice]).outcome !== 0) rectangles.failed.push(rectangle);
  }

  drawRectangles({ plain, dim, failed }) {
    const { context, state } = this;
    const { palette } = state;
    const fill = (list, style) => {
      context.fillStyle = style;
      for (const { x, y, width, height } of list) context.fillRect(x, y, width - 1, height);
    };
    for (const [group, list] of dim) fill(list, palette.dimFill[group]);
    for (const [group, list] of plain) {
      fill(list, palette.fill[group]);
      const pattern = palette.patternOf(group, state.showPatterns);
      if (pattern > 0) fill(list, palette.patternFill(context, group, pattern));
    }
    context.strokeStyle = palette.danger;
    context.lineWidth = 3;
    for (const { x, y, width, height } of failed) context.strokeRect(x + 1.5, y + 1.5, width - 4, height - 3);
  }

  /** Draws names where they fit, and letters where only those fit; the widest first if there are too many. */
  drawLabels({ labels }) {
    const { context, state } = this;
    const { palette } = state;
    const few = labels.length > LABELS_MAX ? labels.sort((a, b) => b.width - a.width).slice(0, LABELS_MAX) : labels;
    context.textBaseline = "middle";
    for (const rectangle of few) {
      const { row, slice, x, y, width, height, isDim } = rectangle;
      const group = row.groups[slice];
      const size = Math.min(12, height - 3);
      context.font = `${size}px ${state.font}`;
      context.fillStyle = isDim ? palette.muted : palette.text[group];
      const left = Math.max(x, state.axis.gutter);
      const text = this.labelText(row, slice, x + width - left, size);
      if (!text) continue;
      const hasPattern = palette.patternOf(group, state.showPatterns) > 0;
      if (hasPattern && !isDim) this.clearBehind(text, left, y, size, height, group);
      context.fillText(text, left + 4, y + height / 2 + 0.5);
    }
  }

  /** A patch of plain colour, so that text stays readable on a hatching. */
  clearBehind(text, x, y, size, height, group) {
    const { context, state } = this;
    const style = context.fillStyle;
    context.fillStyle = state.palette.fill[group];
    context.fillRect(x + 2, y + (height - size) / 2 - 1, this.textWidth(text, size) + 4, size + 2);
    context.fillStyle = style;
  }

  labelText(row, slice, width, size) {
    const { run, palette } = this.state;
    if (!row.isTasks) {
      const name = activityText(run, row, slice);
      return this.textWidth(name, size) + 8 <= width ? name : "";
    }
    const kernel = row.groups[slice];
    if (width >= NAME_MIN) {
      const name = run.names.kernels[kernel];
      const whole = taskText(run, row.items[slice]);
      if (this.textWidth(whole, size) + 8 <= width) return whole;
      if (this.textWidth(name, size) + 8 <= width) return name;
    }
    return width >= LETTER_MIN ? palette.letters[kernel] : "";
  }

  /** Measured once for each pattern of text: all digits have the same width. */
  textWidth(text, size) {
    this.widths ??= new Map();
    const key = text.replace(/[0-9]/g, "0");
    if (!this.widths.has(key)) {
      this.context.font = `100px ${this.state.font}`;
      this.widths.set(key, this.context.measureText(key).width / 100);
      this.context.font = `${size}px ${this.state.font}`;
    }
    return this.widths.get(key) * size;
  }

  drawRuler() {
    const { context, state } = this;
    const { axis, palette } = state;
    const { step, list } = axis.ticks(TICKS_APART);
    context.font = `11px ${state.font}`;
    context.textBaseline = "middle";
    const most = Math.max(Math.abs(axis.start), Math.abs(axis.end));
    for (const at of list) {
      const x = Math.round(axis.x(at)) + 0.5;
      context.fillStyle = palette.rule;
      context.fillRect(x, RULER_HEIGHT - 6, 1, 6);
      context.fillStyle = palette.muted;
      const text = momentText(at, step, most);
      const fits = x + this.textWidth(text, 11) < axis.gutter + axis.width - 4;
      if (fits) context.fillText(text, x + 4, RULER_HEIGHT / 2 - 1);
    }
  }

  /** Names of lanes and processes, left of the chart. */
  drawGutter() {
    const { context, state } = this;
    const { axis, palette, run } = state;
    context.save();
    context.beginPath();
    context.rect(0, RULER_HEIGHT, axis.gutter - 6, this.height - RULER_HEIGHT);
    context.clip();
    context.textBaseline = "middle";
    for (const lane of this.lanes) {
      const y = RULER_HEIGHT + lane.y - this.scroll;
      if (lane.process !== null) {
        context.font = `600 10.5px ${state.font}`;
        context.fillStyle = palette.muted;
        context.fillText(lane.process, 10, y - PROCESS_HEIGHT / 2);
      }
      context.font = `12px ${state.font}`;
      context.fillStyle = palette.ink;
      context.fillText(run.names.lanes[lane.lane][0], 10, y + Math.min(lane.height, lane.rows[0].height) / 2 + 0.5);
    }
    context.restore();
  }

  drawScroll() {
    const { context, state } = this;
    const shown = this.height - RULER_HEIGHT;
    const length = Math.max(20, (shown * shown) / this.contentHeight);
    const at = (this.scroll / (this.contentHeight - shown)) * (shown - length);
    context.fillStyle = state.palette.muted;
    context.fillRect(state.axis.gutter + state.axis.width - 4, RULER_HEIGHT + at, 3, length);
  }

  /** The row and slice at a point, or nothing. */
  hit(x, y) {
    const { axis, isHidden } = this.state;
    if (x < axis.gutter || y < RULER_HEIGHT) return null;
    for (const { row, y: top } of this.visibleRows()) {
      if (y < top - 1 || y > top + row.height + 1) continue;
      const slice = row.sliceAt(axis.time(x), 2 / axis.scale, isHidden);
      if (slice >= 0) return { row, slice };
    }
    return null;
  }
}

/** Faint lines at the times of the ruler. */
function drawGrid(context, { axis, palette }, top, bottom) {
  context.fillStyle = palette.grid;
  for (const at of axis.ticks(TICKS_APART).list) context.fillRect(Math.round(axis.x(at)), top, 1, bottom - top);
}

/** Tasks have the full height, nested ones less; activities are a thin line unless the lane has nothing else. */
function rowHeight(row, isFirst, height) {
  if (isFirst) return height;
  return row.isTasks ? Math.max(11, Math.round(height * 0.6)) : 7;
}

/** The name of an activity such as `host to cuda:0`, with its kind if the name does not include it. */
function activityText(run, row, slice) {
  return activityLabel(run, run.activities[row.lane][row.items[slice]]);
}

function activityLabel(run, { kind, name }) {
  const text = run.names.names[name] ?? "";
  return kind === 0 || kind === 4 ? text : `${ACTIVITIES[kind]}: ${text}`;
}
