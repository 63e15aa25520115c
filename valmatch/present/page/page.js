"use strict";
// Tables are sorted by their heads; without scripts they stand as they are.
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const first = [...body.rows];
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const next = { none: "ascending", ascending: "descending", descending: "none" }[now];
      heads.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", next);
      const rows = [...first];
      if (next !== "none") {
        const sign = next === "ascending" ? 1 : -1;
        const keys = new Map(rows.map((row) => [row, key(row.cells[place].textContent)]));
        rows.sort((a, b) => compared(keys.get(a), keys.get(b), sign));
      }
      body.append(...rows);
    });
  });
}
function key(text) {
  const plain = text.trim().replace(/,(?=\d{3})/g, "").replace("−", "-");
  const number = /^[-+]?(\d|\.\d)/.test(plain) ? parseFloat(plain) : NaN;
  return { text: plain, number };
}
function compared(a, b, sign) {
  const numbers = [Number.isNaN(a.number), Number.isNaN(b.number)];
  if (!numbers[0] && !numbers[1]) return sign * (a.number - b.number);
  if (numbers[0] !== numbers[1]) return numbers[0] ? 1 : -1; // what is no number stands last
  return sign * a.text.localeCompare(b.text);
}
// Values beside the pointer: titles of marks, and the nearest point of a line.
const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;
document.body.append(tip);
function digits(value) {
  return String(+value.toPrecision(4));
}
function nearest(svg, event) {
  const box = svg.getScreenCTM().inverse();
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(box);
  let best = null;
  for (const line of svg.querySelectorAll("path[data-name]")) {
    for (const [, x, y] of line.getAttribute("d").matchAll(/([-\d.]+),([-\d.]+)/g)) {
      const far = Math.hypot(x - at.x, y - at.y);
      if (far < 24 && (!best || far < best.far)) best = { far, x, y, name: line.dataset.name };
    }
  }
  if (!best) return "";
  const [left, right, low, high] = svg.dataset.ends.split(" ").map(Number);
  // The margins of svg.py.
  const x = left + ((best.x - 52) / 298) * (right - left);
  const y = low + ((192 - best.y) / 184) * (high - low);
  return `${best.name ? best.name + ", " : ""}${digits(x)}: ${digits(y)}`;
}
document.addEventListener("pointermove", (event) => {
  const svg = event.target.closest ? event.target.closest("svg") : null;
  const title = svg && event.target.querySelector(":scope > title");
  let text = title ? title.textContent : "";
  if (!text && svg && svg.dataset.ends) text = nearest(svg, event);
  tip.hidden = !text;
  tip.textContent = text;
  const left = Math.min(event.pageX + 12, document.documentElement.clientWidth - tip.offsetWidth - 4);
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${event.pageY + 14}px`;
});
window.addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
