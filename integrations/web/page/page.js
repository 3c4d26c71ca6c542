// The page: it opens a file, and shows it in four views.

import { Grid } from "./grid.js";
import { remote } from "./remote.js";
import { bytes, count, element, shown } from "./text.js";
import { explanationText, histogram, schemaTree, statsRows } from "./views.js";

const $ = (id) => document.getElementById(id);
const EXAMPLE = new URL("example.parquet", import.meta.url);

const grid = new Grid($("rows"), fail);
let facts;
/** The condition that selects the rows in view. */
let condition = "";
let controller = new AbortController();

function say(text) {
  $("status").textContent = text;
}

function fail(error) {
  if (error.name === "AbortError") {
    say("Cancelled.");
    return;
  }
  const advice = {
    key: " Give the keys under “The file is encrypted”.",
    bug: " Please open the file again.",
  }[error.kind];
  $("error").textContent = `${shown(error.message)}${error.message.endsWith(".") ? "" : "."}${advice ?? ""}`;
  $("error").hidden = false;
  say("");
}

/** Runs a task that another task or the user may cancel. */
async function run(text, task) {
  controller.abort();
  controller = new AbortController();
  const own = controller;
  $("error").hidden = true;
  $("cancel").hidden = false;
  say(text);
  try {
    await task({ signal: own.signal, progress: (more) => own === controller && say(`${text} ${more}`) });
  } catch (error) {
    if (own === controller) fail(error);
  } finally {
    if (own === controller) $("cancel").hidden = true;
  }
}

/** Returns the keys that the user gave, as the members of a keys file. */
function keysOf() {
  const encode = (text) => ([16, 24, 32].includes(text.length) && !text.endsWith("=") ? btoa(text) : text);
  const footer = $("footer-key").value.trim();
  const lines = $("column-keys").value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (!footer && lines.length === 0) return undefined;
  const columns = lines.map((line) => {
    const end = line.indexOf("=");
    return [line.slice(0, end).trim(), encode(line.slice(end + 1).trim())];
  });
  return { ...(footer && { footer_key: encode(footer) }), ...(lines.length > 0 && { column_keys: Object.fromEntries(columns) }) };
}

function openFile(input) {
  grid.stop();
  return run("Opening…", async (options) => {
    $("opened").hidden = true;
    facts = await remote("open", { input, options: { keys: keysOf() } }, options);
    condition = "";
    $("where").value = "";
    $("explanation").hidden = true;
    $("name").textContent = shown(facts.name);
    document.title = `${shown(facts.name)} – Herringbone`;
    const summary = {
      size: bytes(facts.size),
      rows: facts.numRows.toLocaleString("en"),
      "row groups": facts.numRowGroups.toLocaleString("en"),
      columns: facts.numColumns.toLocaleString("en"),
      codec: facts.codecs.join(", "),
      "created by": shown(facts.createdBy ?? "unknown"),
    };
    $("summary").replaceChildren(
      ...Object.entries(summary).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
    );
    $("panel-schema").replaceChildren(schemaTree(facts.schema));
    $("report").removeAttribute("srcdoc");
    $("stats").tBodies[0].replaceChildren();
    $("opened").hidden = false;
    select("rows");
    grid.open(facts.schema, facts.numRows);
    $("name").focus({ preventScroll: true });
    const traffic = await remote("traffic");
    const fetched = traffic.requests > 0 ? `Fetched ${bytes(traffic.bytes)} in ${count(traffic.requests, "request")}. ` : "";
    say(`${fetched}${count(facts.numRows, "row")}.`);
  });
}

/** Shows one of the views. */
function select(name) {
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const isChosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !isChosen;
  }
  if (name === "report" && !$("report").hasAttribute("srcdoc")) report(false);
  if (name === "stats" && $("stats").tBodies[0].rows.length === 0) {
    run("Reading statistics…", async (options) => {
      $("stats").tBodies[0].replaceChildren(...statsRows(await remote("stats", {}, options)));
      say("");
    });
  }
}

function report(verify) {
  return run(verify ? "Reading all bytes…" : "Reading page indexes…", async (options) => {
    const { html } = await remote("report", { verify }, options);
    const theme = document.documentElement.dataset.theme;
    $("report").srcdoc = theme ? html.replace("<html ", `<html data-theme="${theme}" `) : html;
    say("");
  });
}

function filter() {
  return run("Filtering…", async (options) => {
    const where = $("where").value.trim();
    if (where === "") {
      grid.select(null, facts.numRows);
      condition = "";
      say(`${count(facts.numRows, "row")}.`);
      return;
    }
    const positions = await remote("positions", { where }, options);
    condition = where;
    grid.select(positions);
    say(`${count(positions.length, "row")} of ${facts.numRows.toLocaleString("en")}.`);
  });
}

function explain() {
  return run("Explaining…", async (options) => {
    const where = $("where").value.trim();
    const explained = await remote("explain", where === "" ? {} : { where }, options);
    $("explanation").textContent = explanationText(explained);
    $("explanation").hidden = false;
    say("");
  });
}

function save() {
  return run("Saving…", async (options) => {
    const format = $("format").value;
    const blob = await remote("save", { format, ...(condition && { where: condition }) }, options);
    const link = element("a", {
      href: URL.createObjectURL(blob),
      download: `${facts.name.replace(/\.parquet$/i, "")}.${format}`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    say(`Saved ${bytes(blob.size)}.`);
  });
}

function drawHistograms() {
  return run("Reading 10,000 rows…", async (options) => {
    const rows = await remote("rows", { limit: 10_000 }, options);
    const names = new Map(facts.schema.map(({ name }) => [shown(name), name]));
    for (const row of $("stats").tBodies[0].rows) {
      const name = names.get(row.cells[0].textContent);
      const picture = name === undefined ? null : histogram(rows.map((values) => values[name]));
      row.cells[5].replaceChildren(...(picture ? [picture] : []));
    }
    say(`The histograms are those of the first ${count(rows.length, "row")}.`);
  });
}

function submits(id, task) {
  $(id).addEventListener("submit", (event) => {
    event.preventDefault();
    task();
  });
}

$("file").addEventListener("change", () => {
  const [file] = $("file").files;
  if (file) openFile(file);
  // The browser reports a second choice of the same file only if nothing is chosen before.
  $("file").value = "";
});
submits("keys-form", () => undefined);
submits("open", () => $("url").value && openFile($("url").value));
$("example").addEventListener("click", () => openFile(EXAMPLE.href));
submits("filter", filter);
submits("save", save);
$("explain").addEventListener("click", explain);
$("cancel").addEventListener("click", () => controller.abort());
$("verify").addEventListener("click", () => report(true));
$("histograms").addEventListener("click", drawHistograms);

$("tabs").addEventListener("click", ({ target }) => target.id.startsWith("tab-") && select(target.id.slice(4)));
$("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const tabs = [...$("tabs").children];
  const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
  next.focus();
  select(next.id.slice(4));
});

$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
});

for (const name of ["dragenter", "dragover"]) {
  addEventListener(name, (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
}
addEventListener("dragleave", (event) => event.relatedTarget === null && document.body.classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  if (event.dataTransfer.files[0]) openFile(event.dataTransfer.files[0]);
});

const wanted = new URLSearchParams(location.search).get("url");
if (wanted) {
  $("url").value = wanted;
  openFile(wanted);
}
