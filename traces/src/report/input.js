// Translates wheel, pointer and keys into calls of the page. The page's help lists their effects.

const CLICK_PIXELS_MAX = 4;
const ZOOM_STEP = 1.6;
const PAN_STEP = 0.15;

class Input {
  constructor(page) {
    this.page = page;
    this.pointers = new Map();
    this.gesture = null;
    const canvas = page.gantt.canvas;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    page.tracks.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => page.hover(null, null));
    canvas.addEventListener("dblclick", () => page.zoomToSelection());
    page.tracks.canvas.addEventListener("pointermove", (event) => page.hover(event.offsetX, null));
    page.tracks.canvas.addEventListener("pointerleave", () => page.hover(null, null));
    canvas.addEventListener("keydown", (event) => this.chartKey(event));
    document.addEventListener("keydown", (event) => this.pageKey(event));
  }

  /** Zooms at the pointer. Input without an effect here (zooming out of the whole run) scrolls the page. */
  wheel(event) {
    const { page } = this;
    const { axis } = page.state;
    const unit = event.deltaMode === 1 ? 32 : event.deltaMode === 2 ? 400 : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const isPan = event.shiftKey || Math.abs(dx) > Math.abs(dy);
    if (event.offsetX < axis.gutter && !event.ctrlKey) {
      if (page.scrollBy(dy)) event.preventDefault();
      return;
    }
    const at = Math.max(axis.time(event.offsetX), axis.start);
    const factor = Math.exp(dy * (event.ctrlKey ? 0.01 : 0.002));
    const wanted = isPan ? axis.panned((dx || dy) / axis.scale) : axis.zoomed(factor, at);
    if (wanted.start === axis.start && wanted.end === axis.end && !event.ctrlKey) return;
    event.preventDefault();
    page.show(wanted);
  }

  down(event) {
    if (event.button !== 0) return;
    const { page } = this;
    page.gantt.canvas.focus({ preventScroll: true });
    page.gantt.canvas.setPointerCapture(event.pointerId);
    const point = { x: event.offsetX, y: event.offsetY };
    this.pointers.set(event.pointerId, point);
    const { axis } = page.state;
    if (this.pointers.size === 2) this.gesture = { kind: "pinch" };
    else if (this.pointers.size === 1) {
      const isRange = event.shiftKey || point.y < RULER_HEIGHT;
      this.gesture = { kind: isRange ? "range" : "pan", first: point, moved: 0, from: axis.time(point.x) };
    }
  }

  move(event) {
    const { page, gesture } = this;
    const point = { x: event.offsetX, y: event.offsetY };
    const before = this.pointers.get(event.pointerId);
    if (!before || !gesture) {
      page.hover(point.x, point.y);
      return;
    }
    if (gesture.kind === "pinch") this.pinch(event.pointerId, point);
    else this.drag(before, point);
    this.pointers.set(event.pointerId, point);
  }

  drag(before, point) {
    const { page, gesture } = this;
    const { axis } = page.state;
    gesture.moved = Math.max(gesture.moved, Math.hypot(point.x - gesture.first.x, point.y - gesture.first.y));
    if (gesture.moved < CLICK_PIXELS_MAX) return;
    if (gesture.kind === "range") page.selectRange([gesture.from, axis.time(Math.max(point.x, axis.gutter))]);
    else {
      page.show(axis.panned((before.x - point.x) / axis.scale));
      page.scrollBy(before.y - point.y);
    }
  }

  /** Two fingers: the times under them stay under them. */
  pinch(pointer, point) {
    const { axis } = this.page.state;
    const still = [...this.pointers].find(([id]) => id !== pointer)?.[1];
    if (!still) return;
    const before = Math.abs(this.pointers.get(pointer).x - still.x);
    const after = Math.abs(point.x - still.x);
    if (before < 8 || after < 8) return;
    this.page.show(axis.zoomed(before / after, axis.time(still.x)));
  }

  up(event) {
    const { page, gesture } = this;
    if (gesture?.kind === "range") page.endRange(gesture.moved >= CLICK_PIXELS_MAX);
    else if (gesture?.kind === "pan" && gesture.moved < CLICK_PIXELS_MAX) page.click(event.offsetX, event.offsetY);
    this.release(event);
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.gesture = null;
    this.page.endRange(false);
  }

  /** Keys while the chart has the focus. */
  chartKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { page } = this;
    const actions = {
      ArrowLeft: () => page.panBy(-PAN_STEP),
      ArrowRight: () => page.panBy(PAN_STEP),
      ArrowUp: () => page.stepLane(-1),
      ArrowDown: () => page.stepLane(1),
      PageUp: () => page.scrollBy(-0.8 * page.gantt.height),
      PageDown: () => page.scrollBy(0.8 * page.gantt.height),
      Home: () => page.showAll(),
      Enter: () => page.enter(),
    };
    this.run(actions[event.key], event);
  }

  /** Keys while the chart, its panel or nothing has the focus. */
  pageKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { page } = this;
    const focus = document.activeElement;
    if (event.key === "Escape") return this.run(() => page.escape(), event);
    const isOurs = focus === document.body || focus === page.gantt.canvas || page.panel.contains(focus);
    if (!isOurs) return undefined;
    const actions = {
      "+": () => page.zoomBy(1 / ZOOM_STEP),
      "=": () => page.zoomBy(1 / ZOOM_STEP),
      "-": () => page.zoomBy(ZOOM_STEP),
      0: () => page.showAll(),
      "[": () => page.stepTask(-1),
      "]": () => page.stepTask(1),
      p: () => page.stepHazard("predecessors"),
      s: () => page.stepHazard("successors"),
      f: () => page.zoomToSelection(),
      n: () => page.nextMatch(1),
      N: () => page.nextMatch(-1),
      c: () => page.toggle("path"),
      "/": () => page.focusSearch(),
    };
    return this.run(actions[event.key], event);
  }

  run(action, event) {
    if (!action) return;
    event.preventDefault();
    action();
  }
}
