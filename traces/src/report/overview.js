// The whole run in a narrow band, with a window that marks the range of the chart. The window can be dragged, and
// resized at its edges.

const OVERVIEW_HEIGHT = 46;
const EDGE = 6;

class Overview {
  constructor(canvas, state, onShow) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.state = state;
    this.axis = new Axis(state.run.limits, state.run.limits);
    this.onShow = onShow;
    this.height = OVERVIEW_HEIGHT;
    this.picture = null;
    canvas.addEventListener("pointerdown", (event) => this.grab(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("pointerup", () => (this.held = null));
    canvas.addEventListener("pointercancel", () => (this.held = null));
  }

  /** Redraws the picture after changes of colours, widths or hidden kernels. */
  forget() {
    this.picture = null;
  }

  makePicture() {
    const { rows, palette, ratio, axis } = this.state;
    Object.assign(this.axis, { gutter: axis.gutter, width: axis.width });
    const shown = rows.filter((row) => row.isTasks || row.depth === 0);
    const width = Math.max(1, Math.round(axis.width * ratio));
    const picture = document.createElement("canvas");
    [picture.width, picture.height] = [width, Math.max(shown.length, 1)];
    const image = new ImageData(width, picture.height);
    const pixels = new Uint32Array(image.data.buffer);
    const line = new StripLine(width, palette);
    const scale = width / this.axis.span;
    shown.forEach((row, at) => {
      walkRow(this.state, this.axis, row, { scale, wide: Infinity }, line, null);
      line.write(pixels.subarray(at * width, (at + 1) * width));
    });
    picture.getContext("2d").putImageData(image, 0, 0);
    this.picture = picture;
  }

  draw() {
    if (!this.picture) this.makePicture();
    const { context, state, axis } = this;
    const { palette } = state;
    const [left, width] = [axis.gutter, axis.width];
    context.clearRect(0, 0, left + width, OVERVIEW_HEIGHT);
    context.fillStyle = palette.faint;
    context.fillRect(left, 3, width, OVERVIEW_HEIGHT - 6);
    context.imageSmoothingEnabled = this.picture.height > OVERVIEW_HEIGHT;
    context.drawImage(this.picture, left, 4, width, OVERVIEW_HEIGHT - 8);
    const [x0, x1] = this.window();
    context.globalAlpha = 0.72;
    context.fillStyle = palette.ground;
    context.fillRect(left, 0, x0 - left, OVERVIEW_HEIGHT);
    context.fillRect(x1, 0, left + width - x1, OVERVIEW_HEIGHT);
    context.globalAlpha = 1;
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.strokeRect(x0 + 1, 1, Math.max(x1 - x0 - 2, 1), OVERVIEW_HEIGHT - 2);
    context.fillStyle = palette.muted;
    context.font = `12px ${state.font}`;
    context.textBaseline = "middle";
    context.fillText("whole run", 10, OVERVIEW_HEIGHT / 2);
  }

  /** The left and right edges of the window. */
  window() {
    const view = this.state.axis;
    const x0 = Math.max(this.axis.x(view.start), this.axis.gutter);
    const x1 = Math.min(this.axis.x(view.end), this.axis.gutter + this.axis.width);
    return [x0, Math.max(x1, x0 + 3)];
  }

  grab(event) {
    const [x0, x1] = this.window();
    const x = event.offsetX;
    this.canvas.setPointerCapture(event.pointerId);
    if (Math.abs(x - x0) <= EDGE && x1 - x0 > 3 * EDGE) this.held = { edge: "start" };
    else if (Math.abs(x - x1) <= EDGE && x1 - x0 > 3 * EDGE) this.held = { edge: "end" };
    else this.held = { from: x >= x0 && x <= x1 ? x - (x0 + x1) / 2 : 0 };
    this.drag(event);
  }

  drag(event) {
    if (!this.held) return;
    const { axis } = this.state;
    const at = this.axis.time(event.offsetX - (this.held.from ?? 0));
    if (this.held.edge === "start") this.onShow({ start: Math.min(at, axis.end - SPAN_NS_MIN), end: axis.end });
    else if (this.held.edge === "end") this.onShow({ start: axis.start, end: Math.max(at, axis.start + SPAN_NS_MIN) });
    else this.onShow({ start: at - axis.span / 2, end: at + axis.span / 2 });
  }
}
