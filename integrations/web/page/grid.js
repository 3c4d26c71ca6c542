// The table of rows. It has elements for the rows in view alone.

import { cellText, element, shown } from "./text.js";
import { remote } from "./remote.js";

const ROW_HEIGHT = 28;
/** The rows of one request. */
const BLOCK = 200;
/** The blocks that are kept. */
const MAX_BLOCKS = 60;
/** Browsers end an element after some more pixels. Beyond, a pixel of scrolling is more than a pixel of rows. */
const MAX_HEIGHT = 12_000_000;
const MAX_COLUMNS = 200;

export class Grid {
  #view;
  #space;
  #table;
  #columns = [];
  /** True for each column of numbers. */
  #numbers = [];
  #numRows = 0;
  /** The positions of the selected rows, or null for all rows. */
  #positions = null;
  #blocks = new Map();
  #controllers = new Map();
  #first = -1;
  #failed;

  constructor(view, failed) {
    this.#view = view;
    this.#failed = failed;
    this.#space = view.querySelector("#space");
    this.#table = view.querySelector("table");
    view.addEventListener("scroll", () => this.#draw());
    view.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw(true)).observe(view);
  }

  /** Shows all rows of another file. */
  open(schema, numRows) {
    this.#columns = schema.slice(0, MAX_COLUMNS);
    const isNumber = ({ type }) => /^(U?Int|Float|Decimal)/.test(type);
    const headings = this.#columns.map((field) => {
      const heading = element("th", { scope: "col", title: shown(field.type) }, shown(field.name));
      heading.classList.toggle("number", isNumber(field));
      return heading;
    });
    const more = schema.length - this.#columns.length;
    const rest = more > 0 ? [element("th", { scope: "col" }, `and ${more} more columns`)] : [];
    const corner = element("th", { scope: "col" }, element("span", { class: "visually-hidden" }, "row"));
    this.#table.tHead.replaceChildren(element("tr", {}, corner, ...headings, ...rest));
    this.#numbers = this.#columns.map(isNumber);
    this.select(null, numRows);
  }

  /** Ends all reads. A change of the view starts none, because there are no rows until the next selection. */
  stop() {
    for (const controller of this.#controllers.values()) controller.abort();
    this.#controllers.clear();
    this.#numRows = 0;
  }

  /** Shows the rows at these positions, or all rows. */
  select(positions, numRows) {
    this.stop();
    this.#blocks.clear();
    this.#positions = positions;
    this.#numRows = positions ? positions.length : numRows;
    this.#table.setAttribute("aria-rowcount", this.#numRows + 1);
    this.#space.style.height = `${Math.min(MAX_HEIGHT, (this.#numRows + 1) * ROW_HEIGHT)}px`;
    this.#view.scrollTop = 0;
    this.#draw(true);
  }

  get #visible() {
    return Math.max(1, Math.floor(this.#view.clientHeight / ROW_HEIGHT) - 1);
  }

  get #lastFirst() {
    return Math.max(0, this.#numRows - this.#visible);
  }

  /** The first row in view. */
  get #top() {
    const most = this.#view.scrollHeight - this.#view.clientHeight;
    if (this.#view.scrollHeight < MAX_HEIGHT) return Math.min(this.#lastFirst, Math.round(this.#view.scrollTop / ROW_HEIGHT));
    return Math.round((this.#view.scrollTop / most) * this.#lastFirst);
  }

  #scrollTo(row) {
    const first = Math.min(this.#lastFirst, Math.max(0, row));
    const most = this.#view.scrollHeight - this.#view.clientHeight;
    const isLong = this.#view.scrollHeight >= MAX_HEIGHT;
    this.#view.scrollTop = isLong ? (first / this.#lastFirst) * most : first * ROW_HEIGHT;
    // A row may be less than a pixel.
    this.#draw(true, first);
  }

  #key(event) {
    const first = Math.max(0, this.#first);
    const to = {
      ArrowDown: first + 1,
      ArrowUp: first - 1,
      PageDown: first + this.#visible,
      PageUp: first - this.#visible,
      Home: 0,
      End: this.#lastFirst,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.#scrollTo(to);
  }

  #draw(isForced = false, top = this.#top) {
    const first = top;
    if (first === this.#first && !isForced) return;
    this.#first = first;
    const end = Math.min(this.#numRows, first + this.#visible + 1);
    const rows = [];
    for (let at = first; at < end; at += 1) rows.push(this.#row(at));
    this.#table.tBodies[0].replaceChildren(...rows);
    const [from, to] = [Math.floor(first / BLOCK), Math.floor(Math.max(first, end - 1) / BLOCK)];
    for (const [block, controller] of this.#controllers) {
      if (block < from || block > to) controller.abort();
    }
    for (let block = from; block <= to && this.#numRows > 0; block += 1) this.#fetch(block);
  }

  #row(at) {
    const block = this.#blocks.get(Math.floor(at / BLOCK));
    const values = block?.[at % BLOCK];
    const position = this.#positions ? this.#positions[at] : at;
    const cells = this.#columns.map(({ name }, column) => {
      if (!values) return element("td", {}, column === 0 ? "…" : "");
      const value = values[name];
      const cell = element("td", {}, value === null ? "null" : cellText(value));
      cell.classList.toggle("null", value === null);
      cell.classList.toggle("number", this.#numbers[column]);
      if (typeof value === "string" && value.length > 30) cell.title = cell.textContent;
      return cell;
    });
    return element("tr", { "aria-rowindex": at + 2 }, element("th", { scope: "row" }, position.toLocaleString("en")), ...cells);
  }

  async #fetch(block) {
    if (this.#blocks.has(block) || this.#controllers.has(block)) return;
    const controller = new AbortController();
    this.#controllers.set(block, controller);
    const [start, end] = [block * BLOCK, Math.min(this.#numRows, (block + 1) * BLOCK)];
    const rowRanges = this.#positions
      ? Array.from(this.#positions.subarray(start, end), (position) => [position, position + 1])
      : [[start, end]];
    const columns = this.#columns.map(({ name }) => name);
    try {
      const rows = await remote("rows", { columns, rowRanges }, controller);
      if (controller.signal.aborted) return;
      this.#blocks.set(block, rows);
      if (this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value);
      this.#draw(true, this.#first);
    } catch (error) {
      if (!controller.signal.aborted) this.#failed(error);
    } finally {
      if (this.#controllers.get(block) === controller) this.#controllers.delete(block);
    }
  }
}
