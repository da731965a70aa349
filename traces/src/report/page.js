// Assembles the page: the shared state, and the actions that change it.

const GUTTER = 132;
const GUTTER_NARROW = 92;
const NARROW = 700;
const ANIMATION_MS = 140;
/** The preferred height of the details; the chart beside them grows to it. */
const DESK_HEIGHT = 460;

class Page {
  constructor() {
    const run = readRun();
    const rows = makeRows(run);
    const timeOfKernel = new Float64Array(run.names.kernels.length);
    for (let task = 0; task < run.tasks.count; task++) {
      timeOfKernel[run.tasks.group[task]] += run.tasks.end[task] - run.tasks.start[task];
    }
    const palette = new Palette(run.names.kernels, timeOfKernel);
    this.state = {
      run,
      rows,
      palette,
      axis: new Axis(run.limits, { start: 0, end: Math.max(run.names.end_ns, 1) }),
      isHidden: new Uint8Array(palette.groupCount),
      timeOfGroup: new Float64Array(palette.groupCount),
      taskRowsOfLane: run.names.lanes.map((_, lane) => rows.filter((row) => row.isTasks && row.lane === lane)),
      isOnPath: new Uint8Array(run.tasks.count),
      pathStarts: null,
      font: getComputedStyle(document.body).fontFamily,
      ratio: 1,
      marks: null,
      query: "",
      found: null,
      selected: null,
      hover: null,
      pointerTime: null,
      range: null,
      showPath: true,
      showPatterns: false,
    };
    run.path.sort((a, b) => run.tasks.start[a] - run.tasks.start[b]);
    this.state.pathStarts = Float64Array.from(run.path, (task) => run.tasks.start[task]);
    for (const task of run.path) this.state.isOnPath[task] = 1;
    this.build();
    this.makeParts();
    this.makeControls();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    this.resize();
    this.followHash();
  }

  build() {
    const { rows, isHidden, palette } = this.state;
    for (const row of rows) row.build(isHidden, palette.groupCount);
  }

  makeParts() {
    const { state } = this;
    const canvas = (id) => document.getElementById(id);
    this.gantt = new Gantt(canvas("gantt"), state);
    this.overlay = canvas("overlay");
    this.tracks = new Tracks(canvas("tracks"), state);
    this.overview = new Overview(canvas("overview"), state, (view) => this.show(view));
    this.panel = document.getElementById("details");
    this.tip = document.getElementById("tip");
    this.spoken = document.getElementById("spoken");
    this.list = new TaskList(state, (task) => this.select(task));
    this.input = new Input(this);
    this.controls = new Controls(this);
  }

  makeControls() {
    new ResizeObserver(() => this.resize()).observe(document.getElementById("canvases"));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.setTheme(dark.matches ? "dark" : "light"));
    addEventListener("hashchange", () => this.followHash());
    // A link to the current address changes nothing in it, but the view may have moved since.
    addEventListener("click", ({ target }) => {
      if (target.closest?.("a")?.hash === location.hash && location.hash) this.followHash();
    });
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  // What is drawn, and when.

  /** Adjusts all canvases to the current widths and the screen's resolution. */
  resize() {
    const { state } = this;
    const width = document.getElementById("canvases").clientWidth;
    if (width === 0) return;
    state.ratio = Math.min(devicePixelRatio || 1, 2);
    state.axis.gutter = width < NARROW ? GUTTER_NARROW : GUTTER;
    state.axis.width = Math.max(width - state.axis.gutter, 50);
    const wanted = DESK_HEIGHT - this.overview.height - this.tracks.height;
    this.gantt.layout(Math.min(Math.max(innerHeight * 0.62, 220), 1000), wanted);
    const sized = (canvas, height) => {
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * state.ratio);
      canvas.height = Math.round(height * state.ratio);
      canvas.getContext("2d").setTransform(state.ratio, 0, 0, state.ratio, 0, 0);
    };
    sized(this.gantt.canvas, this.gantt.height);
    sized(this.overlay, this.gantt.height);
    sized(this.tracks.canvas, this.tracks.height);
    sized(this.overview.canvas, this.overview.height);
    this.overview.forget();
    this.draw();
  }

  /** Draws everything immediately. */
  draw() {
    this.isStale = false;
    this.gantt.draw();
    drawOverlay(this.gantt, this.overlay);
    this.tracks.draw();
    this.overview.draw();
    this.controls.showRange();
  }

  /** Draws everything with the screen's next frame. */
  refresh() {
    if (this.isStale) return;
    this.isStale = true;
    requestAnimationFrame(() => this.isStale && this.draw());
  }

  refreshOverlay() {
    if (this.isOverlayStale) return;
    this.isOverlayStale = true;
    requestAnimationFrame(() => {
      this.isOverlayStale = false;
      drawOverlay(this.gantt, this.overlay);
      this.tracks.draw();
    });
  }

  /** Light or dark; the canvases take their colours from the page's style. */
  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    this.theme = theme;
    this.state.palette.setTheme(theme, getComputedStyle(document.documentElement));
    this.controls.showTheme();
    showDetails(this.state, this.panel, (task) => this.select(task));
    this.overview.forget();
    this.refresh();
  }

  /** In print: light, with hatchings. */
  print(isPrinting) {
    if (isPrinting) this.beforePrint = { theme: this.theme, patterns: this.state.showPatterns };
    const { theme, patterns } = isPrinting ? { theme: "light", patterns: true } : this.beforePrint;
    this.state.showPatterns = patterns;
    this.setTheme(theme);
    this.draw();
  }

  // The stretch of time in view.

  show(view) {
    this.animation = null;
    this.state.axis.show(view);
    this.refresh();
  }

  /** Moves to a view with an animation, unless the reader prefers reduced motion. */
  glide(view) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.show(view);
    const { axis } = this.state;
    const [from, to] = [{ start: axis.start, end: axis.end }, axis.fit(view.start, view.end)];
    const animation = (this.animation = { to });
    const began = performance.now();
    const step = () => {
      if (this.animation !== animation) return;
      const part = Math.min(1, (performance.now() - began) / ANIMATION_MS);
      const eased = 1 - (1 - part) ** 3;
      if (part === 1) return this.show(to);
      const between = (a, b) => a + (b - a) * eased;
      Object.assign(axis, { start: between(from.start, to.start), end: between(from.end, to.end) });
      this.draw();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
    return undefined;
  }

  /** The target of an animation, or the current view: the origin of further steps. */
  aim() {
    const { axis } = this.state;
    const aim = new Axis(axis.limits, axis.home);
    const view = this.animation?.to ?? { start: axis.start, end: axis.end };
    return Object.assign(aim, view, { gutter: axis.gutter, width: axis.width });
  }

  zoomBy(factor) {
    const { selected } = this.state;
    const aim = this.aim();
    const middle = selected ? (selected.start + selected.end) / 2 : NaN;
    this.glide(aim.zoomed(factor, middle >= aim.start && middle <= aim.end ? middle : (aim.start + aim.end) / 2));
  }

  panBy(part) {
    const aim = this.aim();
    this.glide(aim.panned(aim.span * part));
  }

  showAll() {
    this.glide(this.state.axis.home);
  }

  /** Returns whether there was anything to scroll. */
  scrollBy(pixels) {
    const before = this.gantt.scroll;
    this.gantt.scrollTo(before + pixels);
    if (this.gantt.scroll === before) return false;
    this.refresh();
    return true;
  }

  selectRange(range) {
    this.state.range = range;
    this.refreshOverlay();
  }

  endRange(isTaken) {
    const { range } = this.state;
    if (!range) return;
    this.state.range = null;
    if (isTaken) this.glide({ start: Math.min(...range), end: Math.max(...range) });
    this.refreshOverlay();
  }

  // The pointer.

  hover(x, y) {
    const { state } = this;
    const isInside = x !== null && x >= state.axis.gutter;
    state.pointerTime = isInside ? state.axis.time(x) : null;
    state.hover = isInside && y !== null ? this.gantt.hit(x, y) : null;
    this.showTip(x, y);
    this.refreshOverlay();
  }

  showTip(x, y) {
    const { state, tip } = this;
    tip.hidden = state.pointerTime === null;
    if (tip.hidden) return;
    const first = state.hover ? sliceSummary(state, state.hover) : timeText(state.pointerTime);
    const moment = state.hover ? [`at ${timeText(state.pointerTime)}`] : [];
    const rest = y === null ? this.tracks.valuesAt(state.pointerTime) : moment;
    tip.replaceChildren(element("strong", {}, first), ...rest.map((line) => element("div", {}, line)));
    const top = y === null ? this.tracks.canvas.offsetTop : this.gantt.canvas.offsetTop + y;
    const isRight = x > state.axis.gutter + state.axis.width - 240;
    tip.style.left = isRight ? "" : `${x + 14}px`;
    tip.style.right = isRight ? `${state.axis.gutter + state.axis.width - x + 14}px` : "";
    tip.style.top = `${top + 16}px`;
  }

  click(x, y) {
    const place = this.gantt.hit(x, y);
    if (!place) return this.deselect();
    if (place.row.isTasks) this.select(place.row.items[place.slice], false);
    else this.selectActivity(place);
    return undefined;
  }

  // The selection.

  select(task, isRevealed = true) {
    const { state } = this;
    const { tasks } = state.run;
    const selection = selectionOf(state, task);
    state.selected = { ...selection, start: tasks.start[task], end: tasks.end[task] };
    if (isRevealed) this.reveal();
    const [before, after] = [selection.predecessors.length, selection.successors.length];
    const name = `${taskText(state.run, task)} number ${tasks.number[task]}`;
    this.afterSelection(`${name}, ${before} predecessors, ${after} successors`);
  }

  selectActivity(place) {
    const { row, slice } = place;
    const activity = this.state.run.activities[row.lane][row.items[slice]];
    this.state.selected = { place, activity, start: row.starts[slice], end: row.ends[slice] };
    this.afterSelection(activityLabel(this.state.run, activity));
  }

  deselect() {
    this.state.selected = null;
    this.afterSelection("");
  }

  afterSelection(words) {
    showDetails(this.state, this.panel, (task) => this.select(task));
    this.spoken.textContent = words;
    this.refresh();
  }

  /** Brings the selection into view: pans, zooms in if it would be too narrow, and scrolls to its row. */
  reveal() {
    const { selected } = this.state;
    const { gantt } = this;
    const aim = this.aim();
    const { start, end } = selected;
    const middle = (start + end) / 2;
    let span = aim.span;
    if (end - start < span * 0.01) span = Math.max((end - start) * 25, SPAN_NS_MIN);
    if (end - start > span * 0.8) span = (end - start) * 2;
    const isInside = start >= aim.start && end <= aim.end;
    if (!isInside || span !== aim.span) this.glide({ start: middle - span / 2, end: middle + span / 2 });
    const { row } = selected.place;
    const top = RULER_HEIGHT + row.y - gantt.scroll;
    if (top < RULER_HEIGHT || top + row.height > gantt.height) gantt.scrollTo(row.y - gantt.height / 2);
  }

  zoomToSelection() {
    const { selected } = this.state;
    if (!selected) return;
    const length = Math.max(selected.end - selected.start, SPAN_NS_MIN);
    this.glide({ start: selected.start - length * 2, end: selected.end + length * 2 });
  }

  /** Enter: selects the task nearest to the middle of the view, or moves from a selection to its details. */
  enter() {
    if (this.state.selected) return this.panel.querySelector("h2").focus();
    this.selectNear(this.state.rows.filter((row) => row.isTasks));
    return undefined;
  }

  /** Selects, in the first row with a task, the task nearest to the selection or to the middle of the view. */
  selectNear(rows) {
    const { selected, axis, isHidden } = this.state;
    const at = selected ? (selected.start + selected.end) / 2 : (axis.start + axis.end) / 2;
    for (const row of rows) {
      const slice = nearestSlice(row, at, isHidden);
      if (slice >= 0) return this.select(row.items[slice]);
    }
    return undefined;
  }

  /** The previous or next task of the selected one's row. */
  stepTask(step) {
    const { selected, isHidden } = this.state;
    if (!selected || !selected.place.row.isTasks) return this.enter();
    const { row, slice } = selected.place;
    let next = slice + step;
    while (next >= 0 && next < row.count && isHidden[row.groups[next]]) next += step;
    if (next >= 0 && next < row.count) this.select(row.items[next]);
    return undefined;
  }

  /** Selects in the row above or below, near the same time; without a selection the chart scrolls. */
  stepLane(step) {
    const { selected, rows } = this.state;
    if (!selected) return this.scrollBy(step * 40);
    const at = rows.indexOf(selected.place.row);
    const further = step > 0 ? rows.slice(at + 1) : rows.slice(0, at).reverse();
    return this.selectNear(further.filter((row) => row.isTasks));
  }

  /** Follows the hazards: to the predecessor that ended last, or to the successor that started first. */
  stepHazard(direction) {
    const { state } = this;
    if (!(state.selected?.task >= 0)) return;
    const pick = direction === "predecessors" ? lastPredecessor : firstSuccessor;
    const pair = pick(state, state.selected);
    if (pair) this.select(pair.task);
  }

  // Search and switches.

  search(text) {
    const { state } = this;
    state.query = text;
    state.found = findTasks(state.run, text);
    state.marks = state.found && state.found.count > 0 ? state.found.marks : null;
    for (const row of state.rows) row.mark(state.marks);
    this.overview.forget();
    this.controls.showFound(null);
    this.list.fill(0);
    this.refresh();
  }

  nextMatch(step) {
    const { state } = this;
    if (!state.found) return;
    const match = nextMatch(state.run, state.found, state.selected?.task ?? -1, step);
    if (!match) return;
    this.select(match.task);
    this.controls.showFound(match.rank);
  }

  focusSearch() {
    this.controls.search.focus();
    this.controls.search.select();
  }

  /** Esc: ends a drag, a search, or the selection, one at a time. */
  escape() {
    if (this.state.range) return this.endRange(false);
    if (this.state.found || this.controls.search.value) {
      this.controls.search.value = "";
      this.search("");
    } else this.deselect();
    return this.gantt.canvas.focus({ preventScroll: true });
  }

  toggle(what) {
    if (what === "path") this.state.showPath = !this.state.showPath;
    else this.state.showPatterns = !this.state.showPatterns;
    this.controls.showToggles();
    this.refresh();
  }

  /** Shows or hides a group of slices. */
  toggleGroup(group) {
    const { state } = this;
    state.isHidden[group] = state.isHidden[group] ? 0 : 1;
    this.build();
    this.overview.forget();
    this.controls.showToggles();
    this.refresh();
  }

  /** Links within the page: `#task-42`, `#time-START-END` in nanoseconds. */
  followHash() {
    const { hash } = location;
    const task = hash.match(/^#task-(\d+)$/);
    const time = hash.match(/^#time-(-?\d+)-(-?\d+)$/);
    if (task) {
      const found = taskOfNumber(this.state.run, Number(task[1]));
      if (found >= 0) this.select(found);
    }
    if (time) this.glide({ start: Number(time[1]), end: Number(time[2]) });
    if (task || time) document.getElementById("chart").scrollIntoView({ block: "nearest" });
  }
}

/** The visible slice of a row nearest to a time, or -1. */
function nearestSlice(row, at, isHidden) {
  let after = row.firstEndingAfter(at);
  let before = after - 1;
  while (after < row.count && isHidden[row.groups[after]]) after++;
  while (before >= 0 && isHidden[row.groups[before]]) before--;
  if (after === row.count) return before;
  return before >= 0 && at - row.ends[before] < row.starts[after] - at ? before : after;
}
