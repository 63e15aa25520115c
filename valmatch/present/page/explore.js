// Sliders over the points of a grid. Nothing is invented between points; names are texts alone.
const SECONDS = { s: 1, sec: 1, second: 1, m: 60, min: 60, minute: 60, h: 3600, hour: 3600, d: 86400, day: 86400 };
const LIMIT = /^\s*(\S+?)\s*(<=|>=|≤|≥|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(\S*)\s*$/i;
const seconds = (unit) => SECONDS[unit] || SECONDS[unit.replace(/s$/, "")];
const BOX = { left: 58, right: 428, top: 12, bottom: 256 }; // the chart of two responses

function create(parent, tag, text = "", attributes = {}) {
  const svg = parent.namespaceURI.endsWith("svg") || tag === "svg";
  const made = document.createElementNS(`http://www.w3.org/${svg ? "2000/svg" : "1999/xhtml"}`, tag);
  made.textContent = text;
  put(made, attributes);
  parent.append(made);
  return made;
}
function put(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
// A text "22.65 0.27", or "22.65 -0.20/+0.30" with unequal arms, "?" behind it where doubtful.
function mean(text) {
  const [value, half, doubt] = text.split(" ");
  const arms = half.split("/").map((arm) => Math.abs(parseFloat(arm)));
  const [below, above] = half ? [arms[0], arms[arms.length - 1]] : [NaN, NaN];
  const number = parseFloat(value);
  return { value, half, doubt, number, low: number - below, high: number + above };
}
function shown({ value, half }) {
  return half ? `${value} ${half.includes("/") ? "" : "± "}${half}` : value;
}
const clear = (change) => !change.doubt && (change.low > 0 || change.high < 0);
function ticks(low, high) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 4));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => (high - low) / size <= 5);
  const from = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - from + 1 }, (_, k) => +((from + k) * step).toPrecision(12));
}
function ends(means) {
  const all = means.flatMap((m) => [m.number, m.low, m.high]).filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const pad = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return all.length ? [low - pad, high + pad] : [0, 1];
}

function explore(root, data) {
  const { factors, grid, today } = data;
  const responses = data.responses.map((r) => ({ ...r, means: r.means.map(mean), changes: r.changes.map(mean) }));
  for (const r of responses) r.ends = ends(r.means);
  const state = factors.map((factor) => factor.start);
  const strides = factors.map((_, k) => factors.slice(k + 1).reduce((product, f) => product * f.texts.length, 1));
  const index = (levels) => levels.reduce((sum, level, k) => sum + level * strides[k], 0);
  const levelsAt = (at) => factors.map((f, k) => Math.floor(at / strides[k]) % f.texts.length);
  const levelsOf = new Map(grid.map((point, at) => [point, levelsAt(at)]));
  const beside = today !== null && !levelsOf.has(today);
  const points = beside ? [...grid, today] : grid;
  const named = (f) => f.name + (f.unit && ` [${f.unit}]`);
  const where = (point) => factors.map((f, k) => `${f.name}=${levelsOf.has(point) ? f.texts[levelsOf.get(point)[k]] : f.today}`).join(", ");
  let limits = [];
  const breaks = (point) => limits.some(({ r, most, bound }) => (most ? r.means[point].low > bound : r.means[point].high < bound));

  // Sliders and limits.
  const live = document.createElement("div");
  live.className = "live";
  root.prepend(live);
  root.querySelector("details").open = false;
  const knobs = create(live, "div", "", { class: "knobs" });
  const outputs = factors.map((factor, k) => {
    const label = create(knobs, "label", named(factor));
    const output = create(label, "output");
    const marks = `m${Math.random().toString(36).slice(2)}`;
    const slider = create(label, "input", "", { type: "range", min: 0, max: factor.texts.length - 1, list: marks });
    slider.addEventListener("input", () => { state[k] = +slider.value; update(); });
    const at = factor.texts.indexOf(factor.today);
    if (at >= 0) create(create(label, "datalist", "", { id: marks }), "option", "", { value: at, label: factor.today });
    if (today !== null) create(label, "small", `today ${factor.today}${at < 0 ? ", not on the slider" : ""}`);
    return [slider, output];
  });
  const limited = create(knobs, "label", "Limits");
  const field = create(limited, "input", "", { type: "text", spellcheck: "false", placeholder: `${responses[0].name} <= ${responses[0].means[grid[0]].value} ${responses[0].unit}`.trim() });
  const held = create(knobs, "p", "", { class: "held note", role: "status" });
  let wrong = "";
  field.addEventListener("input", () => {
    const parts = field.value.split(/[,;]/).filter((part) => part.trim());
    const read = parts.map((part) => {
      const [, name, sign, number, unit] = part.match(LIMIT) || [];
      const r = responses.find((other) => other.name === name);
      const scale = !unit || (r && unit === r.unit) ? 1 : r && seconds(unit) / seconds(r.unit);
      return r && scale ? { r, most: /[<≤]/.test(sign), bound: number * scale, text: part.trim() } : part.trim();
    });
    limits = read.filter((limit) => limit.r);
    wrong = read.filter((limit) => !limit.r).map((part) => `not understood: ${part} (such as ${field.placeholder})`).join("; ");
    layout();
  });
  const summary = create(live, "p", "", { class: "summary", role: "status" });

  // A card for each response.
  const [large, map, small] = ["cards large", "map", "cards"].map((kind) => create(live, "div", "", { class: kind }));
  for (const r of responses) {
    const card = create(r.large ? large : small, "article", "", { "data-response": r.name });
    create(card, "h4", r.name, { title: r.meaning });
    const line = create(card, "p", "", { class: "big" });
    r.now = create(line, "span");
    create(line, "small", r.unit && ` ${r.unit}`);
    r.was = create(card, "p", "", { class: "note" });
    r.change = create(card, "p", "", { class: "change" });
    const curves = create(card, "div", "", { class: "curves" });
    r.curves = factors.map((factor) => {
      const figure = create(curves, "div");
      const svg = create(figure, "svg", "", { viewBox: "0 0 120 44", role: "img", "aria-label": `${r.name} over ${factor.name}` });
      create(figure, "small", factor.name);
      return [..."lbo"].map((kind) => create(svg, "path", "", { class: kind })).concat(create(svg, "circle", "", { r: 3.5 }));
    });
  }

  // The chart of two responses.
  const axes = ["across", "up"].map((way, k) => {
    const label = create(map, "label", `${way} `);
    const choice = create(label, "select");
    responses.forEach((r, at) => create(choice, "option", r.name, { value: at }));
    choice.value = Math.min(k, responses.length - 1);
    const better = create(label, "select", "", { "aria-label": `better ${way}` });
    for (const [sign, text] of [[1, "less is better"], [-1, "more is better"]]) create(better, "option", text, { value: sign });
    for (const select of [choice, better]) select.addEventListener("change", layout);
    return () => ({ r: responses[choice.value], sign: +better.value });
  });
  const chart = create(map, "svg", "", { viewBox: "0 0 440 300", role: "img", "aria-label": "two responses at all points" });
  const [frame, dots] = [create(chart, "g"), create(chart, "g")];
  const circles = new Map(points.map((point) => [point, create(dots, "circle", "", { r: 4 })]));
  const cross = create(chart, "path", "", { class: "cross" });
  const here = create(chart, "circle", "", { class: "here", r: 8 });
  create(map, "p", `Filled: the front of those that break no limit, by their means. Square: ${today === null ? "today's rule is not among the points (valmatch explore adds it)" : "today's rule"}. Large: the current point. Click a point to choose it.`, { class: "note" });
  let spots = [];
  chart.addEventListener("click", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    const far = (spot) => Math.hypot(spot.x - at.x, spot.y - at.y);
    const near = spots.filter((spot) => levelsOf.has(spot.point)).sort((a, b) => far(a) - far(b))[0];
    if (!near || far(near) > 24) return;
    levelsOf.get(near.point).forEach((level, k) => { state[k] = level; });
    update();
  });

  // The rule.
  const rule = create(live, "details", "", { class: "rule" });
  create(rule, "summary", "The rule as a config");
  const code = create(rule, "pre");
  create(rule, "button", "Copy", { type: "button" }).addEventListener("click", () => {
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  });
  rule.hidden = !data.rule.length;
  create(live, "p", `Intervals hold at ${data.level} each, not all together: the best of many points looks better than it is. Differences are paired, point - today.`, { class: "note" });

  const across = (r, x) => BOX.left + ((x - r.ends[0]) / (r.ends[1] - r.ends[0])) * (BOX.right - BOX.left);
  const up = (r, y) => BOX.bottom - ((y - r.ends[0]) / (r.ends[1] - r.ends[0])) * (BOX.bottom - BOX.top);
  function layout() {
    const [x, y] = axes.map((axis) => axis());
    frame.replaceChildren();
    create(frame, "path", "", { class: "a", d: `M${BOX.left},${BOX.top}V${BOX.bottom}H${BOX.right}` });
    for (const at of ticks(...x.r.ends)) create(frame, "text", String(at), { x: across(x.r, at), y: 272, class: "m" });
    for (const at of ticks(...y.r.ends)) create(frame, "text", String(at), { x: 52, y: up(y.r, at) + 4, class: "e" });
    create(frame, "text", named(x.r), { x: BOX.right, y: 292, class: "e" });
    create(frame, "text", named(y.r), { x: BOX.left + 6, y: 20 });
    spots = points.map((point) => ({ point, x: across(x.r, x.r.means[point].number), y: up(y.r, y.r.means[point].number) }))
      .filter((spot) => Number.isFinite(spot.x + spot.y));
    const inOrder = spots.filter((spot) => !breaks(spot.point)).sort((a, b) => x.sign * (a.x - b.x) || y.sign * (b.y - a.y));
    const front = new Set();
    let best = Infinity;
    for (const spot of inOrder) {
      if (y.sign * -spot.y < best) front.add(spot.point);
      best = Math.min(best, y.sign * -spot.y);
    }
    for (const circle of circles.values()) circle.setAttribute("visibility", "hidden");
    for (const spot of spots) {
      const circle = circles.get(spot.point);
      put(circle, { cx: spot.x, cy: spot.y, visibility: "visible", class: (breaks(spot.point) ? "off" : "") + (front.has(spot.point) ? "front" : "") });
      circle.replaceChildren();
      create(circle, "title", `${where(spot.point)}: ${shown(x.r.means[spot.point])}, ${shown(y.r.means[spot.point])}`);
    }
    const now = spots.find((spot) => spot.point === today);
    if (now) create(frame, "rect", "", { class: "today", x: now.x - 8, y: now.y - 8, width: 16, height: 16 });
    update();
  }
  function curve(r, k, [line, bars, off, circle]) {
    const { values } = factors[k];
    const [first, last] = [values[0], values[values.length - 1]];
    const paths = ["", "", ""];
    values.forEach((value, level) => {
      const point = grid[index(state.map((other, j) => (j === k ? level : other)))];
      const { number, low, high } = r.means[point];
      if (Number.isNaN(number)) return;
      const x = (6 + ((value - first) / (last - first)) * 108).toFixed(1);
      const y = (at) => (40 - ((at - r.ends[0]) / (r.ends[1] - r.ends[0])) * 36).toFixed(1);
      paths[0] += `${paths[0] ? "L" : "M"}${x},${y(number)}`;
      paths[breaks(point) ? 2 : 1] += Number.isNaN(low) ? `M${x},${y(number)}h1` : `M${x},${y(low)}V${y(high)}`;
      if (level === state[k]) put(circle, { cx: x, cy: y(number) });
    });
    [line, bars, off].forEach((path, j) => path.setAttribute("d", paths[j]));
    circle.setAttribute("visibility", Number.isNaN(r.means[grid[index(state)]].number) ? "hidden" : "visible");
  }
  function update() {
    const point = grid[index(state)];
    outputs.forEach(([slider, output], k) => {
      slider.value = state[k];
      output.textContent = factors[k].texts[state[k]];
      slider.setAttribute("aria-valuetext", named(factors[k]).replace(factors[k].name, factors[k].texts[state[k]]));
    });
    const changes = [];
    for (const r of responses) {
      r.now.textContent = shown(r.means[point]);
      if (today !== null) {
        const change = r.changes[point];
        r.was.textContent = `today ${shown(r.means[today])}`;
        const text = `${change.number > 0 ? "+" : ""}${shown(change)}`;
        const remark = change.doubt ? " (few values differ)" : clear(change) || !change.half ? "" : " (not clear)";
        r.change.textContent = point === today ? "this is today's rule" : text + remark;
        r.change.classList.toggle("sure", point !== today && clear(change));
        if (r.large && point !== today) changes.push(`${r.name} ${clear(change) ? `${change.number < 0 ? "falls" : "rises"} (${text}${r.unit && ` ${r.unit}`})` : "does not clearly change"}`);
      }
      r.curves.forEach((parts, k) => curve(r, k, parts));
    }
    summary.textContent = changes.length ? `Against today's rule: ${changes.join("; ")}.` : "";
    const states = limits.map(({ r, most, bound, text }) => {
      const { low, high } = r.means[point];
      const holds = most ? high <= bound : low >= bound;
      return `${text}: ${(most ? low > bound : high < bound) ? "broken" : holds ? "holds" : "open"}`;
    });
    held.textContent = [...states, wrong].filter(Boolean).join("; ");
    live.classList.toggle("off", breaks(point));
    const [x, y] = axes.map((axis) => axis());
    const [a, b] = [x.r.means[point], y.r.means[point]];
    const [cx, cy] = [across(x.r, a.number), up(y.r, b.number)];
    const seen = Number.isFinite(cx + cy);
    here.setAttribute("visibility", seen ? "visible" : "hidden");
    if (seen) put(here, { cx, cy });
    const bars = [Number.isNaN(a.low) ? "" : `M${across(x.r, a.low)},${cy}H${across(x.r, a.high)}`, Number.isNaN(b.low) ? "" : `M${cx},${up(y.r, b.low)}V${up(y.r, b.high)}`];
    cross.setAttribute("d", seen ? bars.join("") : "");
    code.textContent = data.rule.map((part, k) => (k % 2 ? factors[part].yaml[state[part]] : part)).join("");
  }
  layout();
}
for (const root of document.querySelectorAll(".explorer")) explore(root, JSON.parse(root.querySelector("script").textContent));
