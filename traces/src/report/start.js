// Starts the page, and exposes its state to tests and to the browser's console.

const began = performance.now();
const page = new Page();
const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

window.superscalarReport = {
  /** Milliseconds from the start of this script until the first frame was drawn. */
  loadMs: performance.now() - began,
  /** The number of tasks. */
  tasks: page.state.run.tasks.count,
  /** The width of the names of lanes, in pixels of the canvas. */
  gutter: () => page.state.axis.gutter,
  /** The visible time range, in nanoseconds from the start of the run. */
  view: () => ({ start: page.state.axis.start, end: page.state.axis.end }),
  /** Whether no animation is running and everything is drawn. */
  isStill: () => !page.isStale && !page.animation && !page.isOverlayStale,
  /** The number of the selected task, or -1, and those highlighted with it. */
  selected: () => {
    const { selected, run } = page.state;
    const numbers = (list) => list.map(({ task }) => run.tasks.number[task]).sort((a, b) => a - b);
    if (!(selected?.task >= 0)) return { task: -1, predecessors: [], successors: [] };
    const [predecessors, successors] = [numbers(selected.predecessors), numbers(selected.successors)];
    return { task: run.tasks.number[selected.task], predecessors, successors };
  },
  /** The middle of the visible part of a task, in pixels of the window. */
  middleOf: (number) => {
    const { run, axis } = page.state;
    const place = placeOfTask(page.state, taskOfNumber(run, number));
    const { x0, x1, y, height } = boxOf(page.gantt, place);
    const { left, top } = page.gantt.canvas.getBoundingClientRect();
    const x = (Math.max(x0, axis.gutter) + Math.min(x1, axis.gutter + axis.width)) / 2;
    return { x: left + x, y: top + y + height / 2 };
  },
  /** Draws a view immediately and returns how long that took, until its pixels can be read. */
  timeView: (start, end) => {
    const from = performance.now();
    page.state.axis.show({ start, end });
    page.draw();
    for (const { canvas } of [page.gantt, page.tracks, page.overview]) probe.drawImage(canvas, 0, 0, 1, 1);
    probe.getImageData(0, 0, 1, 1);
    return performance.now() - from;
  },
};
