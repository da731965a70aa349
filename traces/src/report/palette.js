// Colours, patterns and letters of kernels and activities.
//
// Both sets of eight colours were found by a search that keeps the CIE76 distance of any two at 20 or more, for normal
// sight and simulated protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes, 2009). Each colour has
// a contrast of 3:1 to its background and 4.5:1 to black or white text. Kernels after the eighth reuse the colours with
// a hatching; with the button "Hatching", and in print, every kernel has one. A letter in each slice helps where
// neither can be seen.

const COLOURS = {
  light: ["#27618c", "#9d865d", "#254134", "#c27a93", "#688fdc", "#604916", "#799723", "#2a1353"],
  dark: ["#737ae2", "#ce782a", "#6be1a6", "#b16a92", "#c0eaf2", "#8e7e54", "#d4d531", "#b4abeb"],
};
/** Transfer, eviction, stall, allocation, host span: their thin rows distinguish them from kernels. */
const ACTIVITY_COLOURS = {
  light: ["#0b7285", "#a61e4d", "#868e96", "#c2410c", "#868e96"],
  dark: ["#3bc9db", "#f783ac", "#868e96", "#ff922b", "#868e96"],
};
const PATTERN_COUNT = 8;
const SHADES = 16;

class Palette {
  constructor(kernels, timeOfKernel) {
    this.kernels = kernels;
    const byTime = kernels.map((_, kernel) => kernel).sort((a, b) => timeOfKernel[b] - timeOfKernel[a] || a - b);
    this.byTime = byTime;
    this.rank = [];
    byTime.forEach((kernel, rank) => (this.rank[kernel] = rank));
    this.letters = lettersFor(kernels, byTime);
    this.groupCount = kernels.length + ACTIVITIES.length;
  }

  /** Reads the colours from the page's style. */
  setTheme(theme, style) {
    const colour = (name) => style.getPropertyValue(name).trim();
    this.ink = colour("--ink");
    this.muted = colour("--muted");
    this.rule = colour("--rule");
    this.faint = colour("--faint");
    this.grid = colour("--grid");
    this.ground = colour("--ground");
    this.accent = colour("--accent");
    this.danger = colour("--danger");
    const ofKernel = (kernel) => COLOURS[theme][this.rank[kernel] % COLOURS[theme].length];
    this.fill = this.kernels.map((_, kernel) => ofKernel(kernel)).concat(ACTIVITY_COLOURS[theme]);
    this.text = this.fill.map(textOn);
    const ground = parseColour(this.ground);
    this.dimFill = this.fill.map((fill) => cssColour(mix(parseColour(fill), ground, 0.82)));
    this.shades = new Uint32Array(this.groupCount * SHADES * 2);
    this.fill.forEach((fill, group) => this.setShades(group, parseColour(fill), ground));
    this.patterns = null;
  }

  /** A group's colours by the busy part of a pixel's time; then those of slices that a search excludes. */
  setShades(group, colour, ground) {
    for (let shade = 1; shade < SHADES; shade++) {
      const busy = 0.28 + (0.72 * shade) / (SHADES - 1);
      const shown = mix(ground, colour, busy);
      this.shades[group * 2 * SHADES + shade] = packedColour(shown);
      this.shades[(group * 2 + 1) * SHADES + shade] = packedColour(mix(shown, ground, 0.82));
    }
  }

  /** The hatching of a group; 0 is none. */
  patternOf(group, everywhere) {
    if (group >= this.kernels.length) return 0;
    const rank = this.rank[group];
    return (everywhere ? rank : Math.floor(rank / COLOURS.light.length)) % PATTERN_COUNT;
  }

  /** The hatching as a canvas pattern, in the colour of text, so that it is visible on the fill. */
  patternFill(context, group, pattern) {
    this.patterns ??= new Map();
    const key = `${pattern} ${this.text[group]}`;
    if (!this.patterns.has(key)) this.patterns.set(key, makePattern(context, pattern, this.text[group]));
    return this.patterns.get(key);
  }
}

/** A letter for each kernel: one of its own name if free; kernels with the most time choose first. */
function lettersFor(kernels, byTime) {
  const letters = [];
  const taken = new Set();
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  for (const kernel of byTime) {
    const own = kernels[kernel].toUpperCase().replace(/[^A-Z0-9]/g, "");
    const letter = [...own, ...alphabet].find((candidate) => !taken.has(candidate)) ?? "·";
    taken.add(letter);
    letters[kernel] = letter;
  }
  return letters;
}

/** A repeated square of 8 by 8 pixels. */
function makePattern(context, pattern, colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const ink = tile.getContext("2d");
  ink.strokeStyle = ink.fillStyle = colour;
  ink.globalAlpha = 0.55;
  ink.lineWidth = 1.2;
  const line = (x0, y0, x1, y1) => {
    ink.beginPath();
    ink.moveTo(x0, y0);
    ink.lineTo(x1, y1);
    ink.stroke();
  };
  const rising = () => [-8, 0, 8].forEach((x) => line(x - 1, 9, x + 9, -1));
  const falling = () => [-8, 0, 8].forEach((x) => line(x - 1, -1, x + 9, 9));
  const draw = [
    () => {},
    rising,
    falling,
    () => ink.fillRect(2, 2, 2, 2) || ink.fillRect(6, 6, 2, 2),
    () => line(0, 4, 8, 4),
    () => line(4, 0, 4, 8),
    () => rising() || falling(),
    () => line(0, 4, 8, 4) || line(4, 0, 4, 8),
  ];
  draw[pattern]();
  return context.createPattern(tile, "repeat");
}

/** `#rrggbb` as three numbers. */
function parseColour(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

function mix(from, to, part) {
  return from.map((value, at) => value + (to[at] - value) * part);
}

function cssColour(colour) {
  return `rgb(${colour.map(Math.round).join(" ")})`;
}

/** As in image data: red, green, blue, opacity; for machines with the lowest byte first. */
function packedColour([red, green, blue]) {
  return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
}

/** Black or white, whichever has more contrast on a colour (WCAG 2, relative luminance). */
function textOn(fill) {
  const linear = parseColour(fill).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.0555 ? "#ffffff" : "#101418";
}
