// Starts the page, and says what it shows to whoever asks from outside: tests, the browser's console.

const began = performance.now();
const page = new Page();
const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

window.superscalarReport = {
  /** Milliseconds from the start of this script until the first frame was drawn. */
  loadMs: performance.now() - began,
  /** How many tasks there are. */
  tasks: page.state.run.tasks.count,
  /** Pixels of the canvas that the names of lanes take. */
  gutter: () => page.state.axis.gutter,
  /** The stretch of time in view, in nanoseconds from the start of the run. */
  view: () => ({ start: page.state.axis.start, end: page.state.axis.end }),
  /** Whether nothing moves and everything is drawn. */
  isStill: () => !page.isStale && !page.animation && !page.isOverlayStale,
  /** The number of the selected task, or -1, and those highlighted with it. */
  selected: () => {
    const { selected, run } = page.state;
    const numbers = (list) => list.map(({ task }) => run.tasks.number[task]).sort((a, b) => a - b);
    if (!(selected?.task >= 0)) return { task: -1, predecessors: [], successors: [] };
    const [predecessors, successors] = [numbers(selected.predecessors), numbers(selected.successors)];
    return { task: run.tasks.number[selected.task], predecessors, successors };
  },
  /** The middle of what is visible of a task, in pixels of the window. */
  middleOf: (number) => {
    const { run, axis } = page.state;
    const place = placeOfTask(page.state, taskOfNumber(run, number));
    const { x0, x1, y, height } = boxOf(page.gantt, place);
    const { left, top } = page.gantt.canvas.getBoundingClientRect();
    const x = (Math.max(x0, axis.gutter) + Math.min(x1, axis.gutter + axis.width)) / 2;
    return { x: left + x, y: top + y + height / 2 };
  },
  /** Draws a view at once and says how long that took, until its pixels can be read. */
  timeView: (start, end) => {
    const from = performance.now();
    page.state.axis.show({ start, end });
    page.draw();
    for (const { canvas } of [page.gantt, page.tracks, page.overview]) probe.drawImage(canvas, 0, 0, 1, 1);
    probe.getImageData(0, 0, 1, 1);
    return performance.now() - from;
  },
};
