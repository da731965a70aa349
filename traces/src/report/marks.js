// The marks over the slices: the critical path, the selected task with its hazards, the pointer.

/** The maximum number of arrows in each direction; the details list all hazards. */
const ARROWS_MAX = 60;
const ARROW_LABELS_MAX = 24;
const DASHES = [[], [6, 4], [2, 3]];

/** The row and the slice of a task. */
function placeOfTask(state, task) {
  const { tasks } = state.run;
  for (const row of state.taskRowsOfLane[tasks.lane[task]]) {
    const start = tasks.start[task];
    for (let at = row.firstStartingFrom(start, 0); at < row.count && row.starts[at] === start; at++) {
      if (row.items[at] === task) return { row, slice: at };
    }
  }
  return null;
}

/** The position of a slice on the canvas. */
function boxOf(gantt, { row, slice }) {
  const { axis } = gantt.state;
  const [x0, x1] = [axis.x(row.starts[slice]), axis.x(row.ends[slice])];
  return { x0, x1, y: RULER_HEIGHT + row.y - gantt.scroll, height: row.height };
}

/** Outlines the tasks of the critical path and connects them by lines; small tasks get one mark per pixel. */
function drawPath(gantt, context) {
  const { state } = gantt;
  const { axis, palette, run } = state;
  const starts = state.pathStarts;
  let at = Math.max(0, firstAtLeast(starts.length, (place) => starts[place] >= axis.start) - 1);
  context.strokeStyle = context.fillStyle = palette.ink;
  let previous = null;
  while (at < starts.length && starts[at] < axis.end) {
    const box = boxOf(gantt, placeOfTask(state, run.path[at]));
    const left = Math.max(box.x0, axis.gutter - 3);
    const width = Math.min(box.x1, axis.gutter + axis.width + 3) - left;
    if (width >= RECTANGLE_MIN) {
      context.lineWidth = 2;
      context.strokeRect(left + 0.5, box.y + 1, width - 2, box.height - 2);
      if (previous && previous.y !== box.y) drawLink(context, previous, box);
      previous = box;
      at++;
    } else {
      context.fillRect(Math.max(left, axis.gutter), box.y + box.height - 3, Math.max(width, 1), 3);
      previous = null;
      const next = axis.time(Math.floor(Math.max(box.x0, axis.gutter)) + 1);
      at += Math.max(1, firstAtLeast(starts.length - at, (place) => starts[at + place] >= next));
    }
  }
}

function drawLink(context, from, to) {
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(from.x1, from.y + from.height / 2);
  context.lineTo(to.x0, to.y + to.height / 2);
  context.stroke();
}

/** The layer above the chart: it is redrawn when the pointer moves, while the chart stays. */
function drawOverlay(gantt, canvas) {
  const { state } = gantt;
  const { axis } = state;
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, axis.gutter + axis.width, gantt.height);
  context.save();
  context.beginPath();
  context.rect(axis.gutter, RULER_HEIGHT, axis.width, gantt.height - RULER_HEIGHT);
  context.clip();
  if (state.selected?.task >= 0) drawHazards(gantt, context);
  if (state.selected) outline(gantt, context, state.selected.place, state.palette.accent, 3);
  if (state.hover) outline(gantt, context, state.hover, state.palette.ink, 1.5);
  drawPointer(context, state, RULER_HEIGHT, gantt.height);
  context.restore();
  drawRange(gantt, context);
}

/** The time at the pointer, across all canvases. */
function drawPointer(context, { axis, palette, pointerTime }, top, bottom) {
  if (pointerTime === null) return;
  context.fillStyle = palette.muted;
  context.fillRect(Math.round(axis.x(pointerTime)), top, 1, bottom - top);
}

/** The time range of a drag in progress. */
function drawRange(gantt, context) {
  const { range, axis, palette } = gantt.state;
  if (!range) return;
  const [x0, x1] = [axis.x(Math.min(...range)), axis.x(Math.max(...range))];
  context.globalAlpha = 0.18;
  context.fillStyle = palette.accent;
  context.fillRect(x0, 0, x1 - x0, gantt.height);
  context.globalAlpha = 1;
  context.fillRect(x0, 0, 1, gantt.height);
  context.fillRect(x1, 0, 1, gantt.height);
}

function outline(gantt, context, place, colour, width) {
  const { axis, palette } = gantt.state;
  const { x0, x1, y, height } = boxOf(gantt, place);
  const left = Math.max(x0, axis.gutter - 8) - 1;
  const right = Math.min(Math.max(x1, x0 + 2), axis.gutter + axis.width + 8);
  context.strokeStyle = palette.ground;
  context.lineWidth = width + 2;
  context.strokeRect(left, y - 0.5, right - left, height + 1);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(left, y - 0.5, right - left, height + 1);
}

/** Arrows from direct predecessors and to direct successors, with the hazard's name. */
function drawHazards(gantt, context) {
  const { selected, palette } = gantt.state;
  const into = selected.predecessors.slice(0, ARROWS_MAX);
  const outOf = selected.successors.slice(0, ARROWS_MAX);
  const hasLabels = into.length + outOf.length <= ARROW_LABELS_MAX;
  const self = boxOf(gantt, selected.place);
  for (const { task, kinds } of into) {
    const place = placeOfTask(gantt.state, task);
    outline(gantt, context, place, palette.ink, 2);
    drawArrow(gantt, context, boxOf(gantt, place), self, kinds, hasLabels);
  }
  for (const { task, kinds } of outOf) {
    const place = placeOfTask(gantt.state, task);
    outline(gantt, context, place, palette.accent, 1.5);
    drawArrow(gantt, context, self, boxOf(gantt, place), kinds, hasLabels);
  }
}

function drawArrow(gantt, context, from, to, kinds, hasLabel) {
  const { palette, axis } = gantt.state;
  const clampX = (x) => Math.min(Math.max(x, axis.gutter - 40), axis.gutter + axis.width + 40);
  const [x0, x1] = [clampX(from.x1), clampX(to.x0)];
  const [y0, y1] = [from.y + from.height / 2, to.y + to.height / 2];
  const bend = Math.max(14, Math.min(90, Math.abs(x1 - x0) / 2));
  // Within a row, the arrow passes below, so that the slices in between stay readable.
  const dip = y0 === y1 ? from.height * 0.9 + Math.min(40, Math.abs(x1 - x0) * 0.06) : 0;
  const curve = [x0, y0, x0 + bend, y0 + dip, x1 - bend, y1 + dip, x1 - 5, y1];
  const stroke = (colour, width) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(curve[0], curve[1]);
    context.bezierCurveTo(...curve.slice(2));
    context.stroke();
  };
  context.setLineDash([]);
  stroke(palette.ground, 4);
  context.setLineDash(DASHES[kinds[0]]);
  stroke(palette.ink, 1.5);
  context.setLineDash([]);
  context.fillStyle = palette.ink;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 8, y1 - 4);
  context.lineTo(x1 - 8, y1 + 4);
  context.fill();
  if (hasLabel) drawArrowLabel(gantt, context, curve, kinds);
}

/** The middle of the visible part of the curve. */
function drawArrowLabel(gantt, context, [x0, y0, x1, y1, x2, y2, x3, y3], kinds) {
  const { palette, axis, font } = gantt.state;
  const point = (t) => {
    const s = 1 - t;
    const weigh = (a, b, c, d) => s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
    return [weigh(x0, x1, x2, x3), weigh(y0, y1, y2, y3)];
  };
  const points = Array.from({ length: 21 }, (_, at) => point(at / 20));
  const visible = points.filter(([x]) => x > axis.gutter + 20 && x < axis.gutter + axis.width - 20);
  if (visible.length === 0) return;
  const [x, y] = visible[visible.length >> 1];
  const text = kinds.map((kind) => HAZARDS[kind]).join(" ");
  context.font = `600 10px ${font}`;
  const width = context.measureText(text).width + 8;
  context.fillStyle = palette.ground;
  context.strokeStyle = palette.muted;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(x - width / 2, y - 7.5, width, 15, 3);
  context.fill();
  context.stroke();
  context.fillStyle = palette.ink;
  context.textBaseline = "middle";
  context.fillText(text, x - width / 2 + 4, y + 0.5);
}
