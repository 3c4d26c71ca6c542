"use strict";
// The theme is that of the system, until the button changes it.
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : window.matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
});
// A click on a heading sorts the table: numbers by value before texts, and first the greatest.
const compare = (a, b) => {
  const isText = (value) => value === "" || !Number.isFinite(Number(value));
  if (isText(a) !== isText(b)) return isText(a) ? -1 : 1;
  return isText(a) ? a.localeCompare(b, undefined, { numeric: true }) : Number(a) - Number(b);
};
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const isNumber = body.rows[0]?.cells[column].classList.contains("number") ?? false;
    heading.classList.toggle("number", isNumber);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const descends = before === null ? isNumber : before === "ascending";
      const rows = [...body.rows].sort((a, b) => (descends ? compare(value(b), value(a)) : compare(value(a), value(b))));
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", descends ? "descending" : "ascending");
      body.append(...rows);
    });
  });
}
// The arrow keys move over the map of pages.
const map = document.getElementById("map");
if (map) {
  const detail = document.getElementById("detail");
  detail.textContent = "No page is selected.";
  const lanes = [];
  for (const box of map.querySelectorAll("rect")) {
    (lanes[box.dataset.lane] ??= []).push(box);
  }
  let lane = 0;
  let page = 0;
  let chosen = null;
  const choose = (box) => {
    chosen?.classList.remove("chosen");
    chosen = box;
    box.classList.add("chosen");
    detail.textContent = box.querySelector("title").textContent;
  };
  const show = () => choose(lanes[lane][page]);
  map.addEventListener("focus", show);
  map.addEventListener("click", (event) => {
    if (event.target.dataset?.lane === undefined) return;
    lane = Number(event.target.dataset.lane);
    page = lanes[lane].indexOf(event.target);
    show();
  });
  map.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const before = lanes[lane].length;
    lane = Math.min(Math.max(lane + move[0], 0), lanes.length - 1);
    page = move[0] ? Math.floor((page * lanes[lane].length) / before) : page + move[1];
    page = Math.min(Math.max(page, 0), lanes[lane].length - 1);
    show();
  });
}
