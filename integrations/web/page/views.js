// Explanations, schemas and statistics.

import { bytes, cellText, count, element, shown } from "./text.js";

const STEPS = {
  Statistics: "statistics",
  BloomFilters: "bloom filters",
  Dictionaries: "dictionaries",
  ColumnIndexes: "column indexes",
  PageMaps: "offset indexes",
};
const BINS = 20;

/** Returns the text of an explanation, summed over the row groups. */
export function explanationText(rowGroups) {
  const lines = [];
  const sum = (value) => rowGroups.reduce((all, rowGroup) => all + value(rowGroup), 0);
  lines.push(`${count(sum((it) => it.rows), "row")} in ${count(rowGroups.length, "row group")}`);
  for (const [step, name] of Object.entries(STEPS)) {
    let [ruledOut, accepted, read, looked] = [0, 0, 0, 0];
    for (const { steps } of rowGroups) {
      const at = steps.findIndex((it) => it.step === step);
      if (at < 0) continue;
      const before = steps[at - 1] ?? { ruled_out: 0, accepted: 0 };
      looked += 1;
      ruledOut += steps[at].ruled_out - before.ruled_out;
      accepted += steps[at].accepted - before.accepted;
      read += steps[at].bytes;
    }
    if (looked === 0 || (step !== "Statistics" && read === 0)) continue;
    lines.push(`${name}: ${count(ruledOut, "row")} ruled out, ${accepted.toLocaleString("en")} accepted; read ${bytes(read)}`);
  }
  lines.push(`left to test: ${count(sum((it) => it.rows_to_test), "row")}`);
  lines.push(`to fetch: ${bytes(sum((it) => it.fetched_bytes))} in ${count(sum((it) => it.requests), "request")}`);
  return lines.join("\n");
}

/** Returns the schema as a tree. */
export function schemaTree(fields) {
  const items = fields.map((field) => {
    const type = field.children.length > 0 ? field.type.replace(/\(.*$/s, "") : field.type;
    const text = ` ${shown(type)}${field.extension ? ` (${shown(field.extension)})` : ""}${field.nullable ? "" : ", never null"}`;
    const label = [element("strong", {}, shown(field.name)), element("span", { class: "quiet" }, text)];
    if (field.children.length === 0) return element("li", {}, ...label);
    return element("li", {}, element("details", { open: "" }, element("summary", {}, ...label), schemaTree(field.children)));
  });
  return element("ul", {}, ...items);
}

const isLess = (a, b) => (typeof a === typeof b || typeof a === "bigint" || typeof b === "bigint" ? a < b : String(a) < String(b));

/** Returns a row of the table of statistics for each column. */
export function statsRows(stats) {
  return stats.map(({ path, type, rowGroups }) => {
    const known = rowGroups ?? [];
    const nulls = known.every(({ null_count }) => null_count !== null) && known.length > 0 ? known.reduce((sum, it) => sum + it.null_count, 0) : null;
    const all = (name) => known.map((it) => it[name]).filter((value) => value !== null && value !== undefined);
    const pick = (values, isBetter) => (values.length > 0 ? cellText(values.reduce((best, it) => (isBetter(it, best) ? it : best))) : "");
    const least = pick(all("min"), isLess);
    const greatest = pick(all("max"), (a, b) => isLess(b, a));
    const name = path.map(shown).join(".");
    const cells = [shown(type), nulls === null ? "unknown" : nulls.toLocaleString("en"), least, greatest, ""];
    return element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((text) => element("td", {}, text)));
  });
}

/** Returns a histogram of values as a picture, or null if there is none. */
export function histogram(values) {
  const present = values.filter((value) => value !== null && value !== undefined);
  if (present.length === 0) return null;
  const numbers = present.map(Number);
  const isNumeric = present.every((value) => typeof value === "number" || typeof value === "bigint");
  const bars = isNumeric ? numberBars(numbers) : textBars(present);
  const most = Math.max(...bars.map(({ size }) => size));
  const width = 100 / bars.length;
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("class", "histogram");
  svg.setAttribute("viewBox", "0 0 100 40");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", bars.map(({ label, size }) => `${label}: ${size}`).slice(0, 5).join("; "));
  bars.forEach(({ label, size }, at) => {
    const bar = document.createElementNS(namespace, "rect");
    const height = (size / most) * 38;
    const place = { x: at * width + 0.4, y: 40 - height, width: Math.max(0.5, width - 0.8), height };
    for (const [key, value] of Object.entries(place)) bar.setAttribute(key, value);
    const title = document.createElementNS(namespace, "title");
    title.textContent = `${label}: ${count(size, "row")}`;
    bar.append(title);
    svg.append(bar);
  });
  return svg;
}

function numberBars(numbers) {
  let [low, high] = [Infinity, -Infinity];
  for (const number of numbers) [low, high] = [Math.min(low, number), Math.max(high, number)];
  if (low === high) return [{ label: String(low), size: numbers.length }];
  const sizes = new Array(BINS).fill(0);
  for (const number of numbers) sizes[Math.min(BINS - 1, Math.floor(((number - low) / (high - low)) * BINS))] += 1;
  const edge = (at) => Number((low + ((high - low) * at) / BINS).toPrecision(4));
  return sizes.map((size, at) => ({ label: `${edge(at)} to ${edge(at + 1)}`, size }));
}

/** Counts the most frequent texts, and all others together. */
function textBars(values) {
  const counts = new Map();
  for (const value of values) {
    const text = cellText(value);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const bars = sorted.slice(0, 10).map(([label, size]) => ({ label, size }));
  const rest = sorted.slice(10).reduce((sum, [, size]) => sum + size, 0);
  return rest > 0 ? [...bars, { label: `${sorted.length - 10} other values`, size: rest }] : bars;
}
