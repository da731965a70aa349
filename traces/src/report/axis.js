// The time axis: the visible time range, and the formats of times and amounts.

/** The shortest time range that can be shown. */
const SPAN_NS_MIN = 20;

/** The time range that all canvases share. */
class Axis {
  constructor(limits, home) {
    this.limits = limits;
    this.home = home;
    this.start = home.start;
    this.end = home.end;
    this.gutter = 0;
    this.width = 1;
  }

  get span() {
    return this.end - this.start;
  }

  /** Pixels per nanosecond. */
  get scale() {
    return this.width / this.span;
  }

  x(at) {
    return this.gutter + (at - this.start) * this.scale;
  }

  time(x) {
    return this.start + (x - this.gutter) / this.scale;
  }

  /** The time range nearest to a wanted one that is neither too short nor beyond the limits. */
  fit(start, end) {
    const most = this.limits.end - this.limits.start;
    const span = Math.min(Math.max(end - start, Math.min(SPAN_NS_MIN, most)), most);
    const middle = (start + end) / 2;
    const from = Math.min(Math.max(middle - span / 2, this.limits.start), this.limits.end - span);
    return { start: from, end: from + span };
  }

  show({ start, end }) {
    Object.assign(this, this.fit(start, end));
  }

  /** Zooms by a factor (below 1: in) around a fixed time. */
  zoomed(factor, at) {
    const most = this.limits.end - this.limits.start;
    const bounded = Math.min(Math.max(this.span * factor, SPAN_NS_MIN), most);
    const actual = bounded / this.span;
    return this.fit(at - (at - this.start) * actual, at + (this.end - at) * actual);
  }

  panned(by) {
    return this.fit(this.start + by, this.end + by);
  }

  /** Round times at least this many pixels apart. */
  ticks(apart) {
    const step = roundStep(apart / this.scale);
    const list = [];
    for (let at = Math.ceil(this.start / step) * step; at <= this.end; at += step) list.push(at);
    return { step, list };
  }
}

/** The smallest of 1, 2 or 5 times a power of ten that is not below a value. */
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= value * 0.999);
}

const UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A length of time, with four digits: `1.234 ms`. */
function timeText(ns) {
  if (ns === 0) return "0";
  const [factor, unit] = UNITS.find(([factor]) => Math.abs(ns) >= factor) ?? UNITS[3];
  const value = ns / factor;
  const decimals = factor === 1 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.max(Math.abs(value), 1))));
  return `${value.toFixed(decimals)} ${unit}`;
}

/** A time with the digits that a step of the axis needs, in the unit of the largest one shown. */
function momentText(ns, step, most) {
  const [factor, unit] = UNITS.find(([factor]) => Math.max(Math.abs(most), step) >= factor) ?? UNITS[3];
  const decimals = Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9));
  const text = (ns / factor).toFixed(Math.min(decimals, 9));
  return `${Number(text) === 0 ? "0" : text} ${unit}`;
}

/** A number with an SI prefix: `1.234 G`; the unit follows. */
function amountText(value) {
  const prefixes = [
    [1e12, " T"],
    [1e9, " G"],
    [1e6, " M"],
    [1e3, " k"],
  ];
  const [factor, prefix] = prefixes.find(([factor]) => Math.abs(value) >= factor) ?? [1, " "];
  return `${Number((value / factor).toPrecision(4))}${prefix}`;
}

/** A counter's value: short whole numbers in full. */
function valueText(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? countText(value) : amountText(value).trim();
}

/** A whole number in groups of three digits. */
function countText(value) {
  return value.toLocaleString("en").replaceAll(",", "\u202f");
}
