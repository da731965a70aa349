// The bar above the chart: search, zoom, switches and the legend; and the tabs of the tables.

class Controls {
  constructor(page) {
    this.page = page;
    const { state } = page;
    const byId = (id) => document.getElementById(id);
    this.search = byId("search");
    this.found = byId("found");
    this.range = byId("range");
    let pending = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(pending);
      pending = setTimeout(() => page.search(this.search.value), state.run.tasks.count > 50000 ? 150 : 0);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      clearTimeout(pending);
      if (this.search.value !== state.query) page.search(this.search.value);
      page.nextMatch(event.shiftKey ? -1 : 1);
    });
    const on = (id, action) => byId(id).addEventListener("click", action);
    on("match-previous", () => page.nextMatch(-1));
    on("match-next", () => page.nextMatch(1));
    on("zoom-in", () => page.zoomBy(1 / ZOOM_STEP));
    on("zoom-out", () => page.zoomBy(ZOOM_STEP));
    on("zoom-all", () => page.showAll());
    on("show-path", () => page.toggle("path"));
    on("show-patterns", () => page.toggle("patterns"));
    on("theme", () => page.setTheme(page.theme === "dark" ? "light" : "dark"));
    on("copy-tracing", (event) => copyText("chrome://tracing", event.currentTarget));
    this.makeLegend(byId("legend"));
    makeTabs(byId("tables"));
  }

  /** A switch for each kernel, in descending order of time, and for each kind of activity that occurs. */
  makeLegend(legend) {
    const { state } = this.page;
    const { palette, rows } = state;
    const kinds = new Set(rows.filter((row) => !row.isTasks).flatMap((row) => [...new Set(row.groups)]));
    const groups = [...palette.byTime, ...[...kinds].sort((a, b) => a - b)];
    this.legend = groups.map((group) => {
      const isKernel = group < palette.kernels.length;
      const name = isKernel ? palette.kernels[group] : ACTIVITIES[group - palette.kernels.length];
      const swatch = element("canvas", { class: "swatch", "aria-hidden": "true" });
      const properties = { type: "button", class: "chip", "data-group": String(group) };
      const button = element("button", properties, swatch, element("span", {}, name));
      button.addEventListener("click", () => this.page.toggleGroup(group));
      legend.append(element("li", {}, button));
      return { group, button, swatch };
    });
  }

  /** The legend's swatches look like slices: colour, hatching, letter. */
  paintLegend() {
    const { state } = this.page;
    const { palette } = state;
    for (const { group, swatch } of this.legend) {
      const [width, height, ratio] = [20, 16, state.ratio];
      [swatch.width, swatch.height] = [width * ratio, height * ratio];
      const context = swatch.getContext("2d");
      context.scale(ratio, ratio);
      context.fillStyle = palette.fill[group];
      context.fillRect(0, 0, width, height);
      const pattern = palette.patternOf(group, state.showPatterns);
      context.fillStyle = pattern > 0 ? palette.patternFill(context, group, pattern) : palette.fill[group];
      context.fillRect(0, 0, width, height);
      const letter = palette.letters[group];
      if (letter === undefined) continue;
      context.fillStyle = palette.fill[group];
      context.fillRect(5, 2, 10, 12);
      context.fillStyle = palette.text[group];
      context.font = `11px ${state.font}`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(letter, width / 2, height / 2 + 0.5);
    }
    for (const swatch of document.querySelectorAll(".swatch[data-kernel]")) {
      const kernel = Number(swatch.dataset.kernel);
      swatch.textContent = palette.letters[kernel];
      paintSwatch(swatch, palette, kernel);
    }
  }

  showTheme() {
    const isDark = this.page.theme === "dark";
    document.getElementById("theme").setAttribute("aria-pressed", String(isDark));
    this.showToggles();
  }

  showToggles() {
    const { state } = this.page;
    const press = (button, isPressed) => button.setAttribute("aria-pressed", String(isPressed));
    press(document.getElementById("show-path"), state.showPath);
    press(document.getElementById("show-patterns"), state.showPatterns);
    for (const { group, button } of this.legend) press(button, state.isHidden[group] === 0);
    this.paintLegend();
  }

  showFound(rank) {
    const { found } = this.page.state;
    const count = found?.count ?? 0;
    const of = rank === null ? countText(count) : `${countText(rank)} of ${countText(count)}`;
    this.found.textContent = found ? `${of} ${count === 1 ? "match" : "matches"}` : "";
    for (const id of ["match-previous", "match-next"]) document.getElementById(id).disabled = count === 0;
  }

  showRange() {
    const { axis } = this.page.state;
    this.range.textContent = `${timeText(axis.span)} in view, from ${timeText(axis.start)}`;
  }
}

/** Pages opened from a file may have no clipboard; then the text is selected, to be copied by hand. */
async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "selected";
  }
}

/** Tabs that follow the ARIA Authoring Practices: arrow keys move among them, and one is in the focus order. */
function makeTabs(root) {
  const tabs = [...root.querySelectorAll("[role=tab]")];
  const choose = (chosen, isFocused) => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isChosen;
    }
    if (isFocused) chosen.focus();
  };
  const moves = { ArrowRight: 1, ArrowLeft: -1 };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const ends = { Home: 0, End: tabs.length - 1 };
      const next = event.key in moves ? (at + moves[event.key] + tabs.length) % tabs.length : ends[event.key];
      if (next === undefined) return;
      event.preventDefault();
      choose(tabs[next], true);
    });
  });
  root.classList.add("tabbed");
  choose(tabs[0], false);
}
