// Sliders over the points of a grid. Nothing is invented between points; names are texts alone.
const SECONDS = { s: 1, sec: 1, second: 1, m: 60, min: 60, minute: 60, h: 3600, hour: 3600, d: 86400, day: 86400 };
const LIMIT = /^\s*(\S+?)\s*(<=|>=|≤|≥|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(\S*)\s*$/i;
const seconds = (unit) => SECONDS[unit] || SECONDS[unit.replace(/s$/, "")];
const BOX = { left: 58, right: 428, top: 12, bottom: 256 }; // the chart of two responses

function create(parent, tag, text = "", attributes = {}) {
  const svg = parent.namespaceURI.endsWith("svg") || tag === "svg";
  const made = document.createElementNS(`http://www.w3.org/${svg ? "2000/svg" : "1999/xhtml"}`, tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}
// What sets the paths of some classes in a drawing.
function pen(svg, kinds) {
  const paths = kinds.map((kind) => create(svg, "path", "", { class: kind }));
  return (...steps) => paths.forEach((path, k) => path.getAttribute("d") === steps[k] || path.setAttribute("d", steps[k]));
}
const dot = (x, y, r) => `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`;
const scale = ([low, high], from, to) => (value) => Math.round(10 * (from + ((value - low) / (high - low)) * (to - from))) / 10;
function ticks([low, high]) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 4));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => (high - low) / size <= 5);
  const from = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - from + 1 }, (_, k) => +((from + k) * step).toPrecision(12));
}
// A text "22.65 0.27", or "22.65 -0.20/+0.30" with unequal arms, "?" behind it where doubtful.
function mean(text) {
  const [value, half, doubt] = text.split(" ");
  const [below, above = below] = half.split("/").map((arm) => Math.abs(parseFloat(arm)));
  const number = parseFloat(value);
  return { value, half, doubt, number, low: number - below, high: number + above };
}
const shown = ({ value, half }) => (half ? `${value} ${half.includes("/") ? "" : "± "}${half}` : value);
const signed = (change) => `${change.number > 0 ? "+" : ""}${shown(change)}`;
const clear = (change) => !change.doubt && (change.low > 0 || change.high < 0);
const named = (name, unit) => name + (unit && ` [${unit}]`);
function ends(means) {
  const all = means.flatMap((m) => [m.number, m.low, m.high]).filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const pad = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return all.length ? [low - pad, high + pad] : [0, 1];
}

function explore(root, { factors, today, level, rule, ...data }) {
  const responses = data.responses.map((r) => ({ ...r, means: r.means.map(mean), changes: r.changes.map(mean) }));
  for (const r of responses) r.ends = ends(r.means);
  // The levels of each point, those of the last factor first; today's rule may be one more point.
  const levels = factors.reduce((rows, f) => rows.flatMap((row) => f.texts.map((_, k) => [...row, k])), [[]]);
  const index = (state) => state.reduce((sum, at, k) => sum * factors[k].texts.length + at, 0);
  const where = (point) => factors.map((f, k) => `${f.name}=${levels[point] ? f.texts[levels[point][k]] : f.today}`).join(", ");
  let state = factors.map((f) => f.start);
  let [limits, broken, spots] = [[], [], []];
  const example = `${responses[0].name} <= ${responses[0].means[0].value} ${responses[0].unit}`.trim();
  function verdict({ r, most, bound }, point) {
    if (!r) return `not understood (such as ${example})`;
    const { low, high } = r.means[point];
    if (most ? low > bound : high < bound) return "broken";
    return (most ? high <= bound : low >= bound) ? "holds" : "open";
  }

  // Sliders and limits.
  const live = document.createElement("div");
  live.className = "live";
  root.prepend(live);
  root.querySelector("details").open = false;
  const knobs = create(live, "div", "", { class: "knobs" });
  const sliders = factors.map((f, k) => {
    const label = create(knobs, "label", named(f.name, f.unit));
    const output = create(label, "output");
    const marks = `m${Math.random().toString(36).slice(2)}`;
    const slider = create(label, "input", "", { type: "range", min: 0, max: f.texts.length - 1, list: marks });
    slider.addEventListener("input", () => { state[k] = +slider.value; draw(); });
    const at = f.texts.indexOf(f.today);
    if (at >= 0) create(create(label, "datalist", "", { id: marks }), "option", "", { value: at, label: f.today });
    if (today !== null) create(label, "small", `today ${f.today}${at < 0 ? ", not on the slider" : ""}`);
    return [slider, output];
  });
  const field = create(create(knobs, "label", "Limits"), "input", "", { type: "text", spellcheck: "false", placeholder: example });
  const held = create(knobs, "p", "", { class: "held note", role: "status" });
  field.addEventListener("input", () => {
    limits = field.value.split(/[,;]/).filter((part) => part.trim()).map((part) => {
      const [, name, sign, number, unit] = part.match(LIMIT) || [];
      const r = responses.find((other) => other.name === name);
      const factor = !unit || (r && unit === r.unit) ? 1 : r && seconds(unit) / seconds(r.unit);
      return { r: factor && r, most: /[<≤]/.test(sign), bound: number * factor, text: part.trim() };
    });
    broken = responses[0].means.map((_, point) => limits.some((limit) => verdict(limit, point) === "broken"));
    drawMap();
  });
  const summary = create(live, "p", "", { class: "summary", role: "status" });

  // A card for each response, and the chart of two.
  const [large, map, small] = ["cards large", "map", "cards"].map((kind) => create(live, "div", "", { class: kind }));
  for (const r of responses) {
    const card = create(r.large ? large : small, "article", "", { "data-response": r.name });
    create(card, "h4", r.name, { title: r.meaning });
    const line = create(card, "p", "", { class: "big" });
    r.now = create(line, "span");
    create(line, "small", r.unit && ` ${r.unit}`);
    if (today !== null) create(card, "p", `today ${shown(r.means[today])}`, { class: "note" });
    r.change = create(card, "p", "", { class: "change" });
    const curves = create(card, "div", "", { class: "curves" });
    r.curves = factors.map((f) => {
      const figure = create(curves, "div");
      const svg = create(figure, "svg", "", { viewBox: "0 0 120 44", role: "img", "aria-label": `${r.name} over ${f.name}` });
      create(figure, "small", f.name);
      return pen(svg, ["l", "bars", "bars off", "here"]);
    });
  }
  const axes = ["across", "up"].map((way, k) => {
    const label = create(map, "label", `${way} `);
    const [choice, better] = [{}, { "aria-label": `better ${way}` }].map((names) => create(label, "select", "", names));
    responses.forEach((r, at) => create(choice, "option", r.name, { value: at }));
    choice.value = Math.min(k, responses.length - 1);
    for (const [sign, text] of [[1, "less is better"], [-1, "more is better"]]) create(better, "option", text, { value: sign });
    for (const select of [choice, better]) select.addEventListener("change", drawMap);
    return () => [responses[choice.value], +better.value];
  });
  const chart = create(map, "svg", "", { viewBox: "0 0 440 300", role: "img", "aria-label": "two responses at all points" });
  const [frame, tip] = [create(chart, "g"), create(chart, "title")];
  const [dots, cross] = [["dots", "dots off", "dots front", "today"], ["cross", "here"]].map((kinds) => pen(chart, kinds));
  create(map, "p", `Filled: the front of those that break no limit, by their means. Square: ${today === null ? "today's rule is not among the points (valmatch explore adds it)" : "today's rule"}. Large: the current point. Click a point to choose it.`, { class: "note" });
  function near(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    const far = (spot) => Math.hypot(spot.x - at.x, spot.y - at.y);
    return spots.filter((spot) => far(spot) < 24).sort((a, b) => far(a) - far(b));
  }
  chart.addEventListener("pointermove", (event) => {
    const [spot] = near(event);
    tip.textContent = spot ? spot.text : "";
  });
  chart.addEventListener("click", (event) => {
    const spot = near(event).find(({ point }) => levels[point]);
    if (spot) state = [...levels[spot.point]];
    draw();
  });

  // The rule.
  const details = create(live, "details", "", { class: "rule" });
  create(details, "summary", "The rule as a config");
  const code = create(details, "pre");
  create(details, "button", "Copy", { type: "button" }).addEventListener("click", () => {
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  });
  details.hidden = !rule.length;
  create(live, "p", `Intervals hold at ${level} each, not all together: the best of many points looks better than it is. Differences are paired, point - today.`, { class: "note" });

  function draw() {
    const point = index(state);
    sliders.forEach(([slider, output], k) => {
      slider.value = state[k];
      output.textContent = factors[k].texts[state[k]];
      slider.setAttribute("aria-valuetext", named(output.textContent, factors[k].unit));
    });
    for (const r of responses) drawCard(r, point);
    const changes = responses.filter((r) => r.large && r.changes.length && point !== today).map(({ name, unit, changes }) => {
      const change = changes[point];
      const way = `${change.number < 0 ? "falls" : "rises"} (${signed(change)}${unit && ` ${unit}`})`;
      return `${name} ${clear(change) ? way : "does not clearly change"}`;
    });
    summary.textContent = changes.length ? `Against today's rule: ${changes.join("; ")}.` : "";
    held.textContent = limits.map((limit) => `${limit.text}: ${verdict(limit, point)}`).join("; ");
    live.classList.toggle("off", broken[point]);
    const spot = spots.find((other) => other.point === point);
    cross(spot ? spot.bars : "", spot ? dot(spot.x, spot.y, 8) : "");
    code.textContent = rule.map((part, k) => (k % 2 ? factors[part].yaml[state[part]] : part)).join("");
  }
  function drawCard(r, point) {
    r.now.textContent = shown(r.means[point]);
    if (today !== null) {
      const change = r.changes[point];
      const remark = change.doubt ? " (few values differ)" : clear(change) || !change.half ? "" : " (not clear)";
      r.change.textContent = point === today ? "this is today's rule" : signed(change) + remark;
      r.change.classList.toggle("sure", point !== today && clear(change));
    }
    factors.forEach(({ values }, k) => {
      const [across, up] = [scale([values[0], values[values.length - 1]], 6, 114), scale(r.ends, 40, 4)];
      let [line, bars, off, here] = ["", "", "", ""];
      values.forEach((value, at) => {
        const other = index(state.map((now, j) => (j === k ? at : now)));
        const { number, low, high } = r.means[other];
        if (Number.isNaN(number)) return;
        const [x, y] = [across(value), up(number)];
        const bar = Number.isNaN(low) ? `M${x},${y}h1` : `M${x},${up(low)}V${up(high)}`;
        line += `${line ? "L" : "M"}${x},${y}`;
        if (broken[other]) off += bar;
        else bars += bar;
        if (other === point) here = dot(x, y, 3.5);
      });
      r.curves[k](line, bars, off, here);
    });
  }
  function drawMap() {
    const [[a, better], [b, higher]] = axes.map((axis) => axis());
    const [across, up] = [scale(a.ends, BOX.left, BOX.right), scale(b.ends, BOX.bottom, BOX.top)];
    frame.replaceChildren();
    create(frame, "path", "", { class: "a", d: `M${BOX.left},${BOX.top}V${BOX.bottom}H${BOX.right}` });
    for (const at of ticks(a.ends)) create(frame, "text", at, { x: across(at), y: 272, class: "m" });
    for (const at of ticks(b.ends)) create(frame, "text", at, { x: 52, y: up(at) + 4, class: "e" });
    create(frame, "text", named(a.name, a.unit), { x: BOX.right, y: 292, class: "e" });
    create(frame, "text", named(b.name, b.unit), { x: BOX.left + 6, y: 20 });
    spots = a.means.map((one, point) => {
      const other = b.means[point];
      const [x, y] = [across(one.number), up(other.number)];
      const wide = Number.isNaN(one.low) ? "" : `M${across(one.low)},${y}H${across(one.high)}`;
      const tall = Number.isNaN(other.low) ? "" : `M${x},${up(other.low)}V${up(other.high)}`;
      const costs = [better * one.number, higher * other.number];
      return { point, x, y, costs, bars: wide + tall, text: `${where(point)}: ${shown(one)}, ${shown(other)}` };
    }).filter(({ x, y }) => Number.isFinite(x + y));
    let [open, off, front, square, least] = ["", "", "", "", Infinity];
    for (const { point, x, y, costs } of spots.sort((s, t) => s.costs[0] - t.costs[0] || s.costs[1] - t.costs[1])) {
      const mark = dot(x, y, 4);
      if (broken[point]) off += mark;
      else if (costs[1] < least) [front, least] = [front + mark, costs[1]];
      else open += mark;
      if (point === today) square = `M${x - 8},${y - 8}h16v16h-16z`;
    }
    dots(open, off, front, square);
    draw();
  }
  drawMap();
}
for (const root of document.querySelectorAll(".explorer")) explore(root, JSON.parse(root.querySelector("script").textContent));
