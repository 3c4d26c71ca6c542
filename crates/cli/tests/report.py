#!/usr/bin/env python3
"""The pages of `herringbone report` in headless Chromium: screenshots in both themes and at two widths, keys, print.

    crates/cli/tests/report.py HERRINGBONE [FOLDER]

Screenshots are kept in FOLDER, which is target/report by default. Without Chromium, nothing is tested.
"""
import base64
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMMAND = str(Path(sys.argv[1]).resolve())
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "target/report").resolve()
BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
WIDTHS = {"wide": 1200, "phone": 390}
# A4 without margins, at 96 dots per inch.
PAPER = 794


class Browser:
    """Chromium, with the commands of its DevTools protocol over a pair of pipes."""

    def __init__(self, folder):
        (self.theirs, self.ours), (self.answers, theirs) = os.pipe(), os.pipe()
        quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync"]
        # The protocol has the descriptors 3 and 4.
        start = f'exec 3<&{self.theirs} 4>&{theirs}; exec "$@"'
        words = [BROWSER, "--headless", "--no-sandbox", *quiet, "--remote-debugging-pipe",
                 f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", start, "bash", *words], pass_fds=(self.theirs, theirs),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(self.theirs)
        os.close(theirs)
        self.answers = os.fdopen(self.answers, "rb")
        self.rest, self.id, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Network", "Runtime", "Log"]:
            self.call(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.rest:
            more = self.answers.read1(1 << 20)
            assert more, "Chromium has ended"
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.id += 1
        message = {"id": self.id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.ours, json.dumps(message).encode() + b"\0")
        while (answer := self.receive()).get("id") != self.id:
            self.events.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def show(self, width, theme, media="screen"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                  mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": theme}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(taken["data"]))

    def press(self, key):
        texts = {"Enter": "\r"}
        codes = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        event = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        if key in texts:
            event["text"] = texts[key]
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def problems(self):
        """Requests other than that of the page, errors, and violations of the content policy."""
        for event in self.events:
            method, it = event["method"], event["params"]
            if method == "Network.requestWillBeSent" and not it["request"]["url"].startswith("file:"):
                yield f"a request: {it['request']['url']}"
            if method in ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"]:
                yield json.dumps(it)


# Texts with a contrast to their background below 4.5, as the guidelines for accessibility compute it.
CONTRAST = """(() => {
  const channels = (color) => (color.match(/[0-9.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((it) => it / 255)
    .map((it) => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4)
    .reduce((sum, it, at) => sum + it * [0.2126, 0.7152, 0.0722][at], 0);
  const background = (element) => {
    for (let it = element; it; it = it.parentElement) {
      const color = channels(getComputedStyle(it).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((it) => it.nodeType === 3 && it.data.trim());
    if (!hasText || element.closest("title, script, style, .skip")) continue;
    const style = getComputedStyle(element);
    const inMap = element.closest(".treemap");
    const behind = inMap ? channels(getComputedStyle(element.parentElement.querySelector("rect")).fill)
      : background(element);
    const front = channels(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(front), light(behind)].sort((a, b) => b - a);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) bad.push(`${ratio.toFixed(2)}: ${element.outerHTML.slice(0, 100)}`);
  }
  return bad;
})()"""
# Elements that reach over the right edge of the page, except inside of an element that scrolls.
OVERFLOW = """(() => {
  const scrolls = (it) => it && (["auto", "scroll"].includes(getComputedStyle(it).overflowX) || scrolls(it.parentElement));
  return [...document.querySelectorAll("main *, header *")]
    .filter((it) => it.getBoundingClientRect().right > innerWidth + 1 && !scrolls(it))
    .map((it) => it.outerHTML.slice(0, 100));
})()"""
FIRST_NAMES = """[...document.querySelectorAll("#columns ~ .wide tbody tr")].map((it) => it.cells[0].textContent)"""


def herringbone(*words):
    subprocess.run([COMMAND, *map(str, words)], check=True)


def files(folder):
    """Yields an ordinary file, one with many columns and pages, and one without rows."""
    yield "ordinary", ROOT / "testdata/jobs/trips.parquet"
    random.seed(1)
    names = ["id", "name", "a very long name of a column that does not fit anywhere " * 2] + [f"measure_{i}" for i in range(150)]
    rows = [[str(i), f"text {random.random()} " * 8, "東京" * 30, *(f"{random.gauss(0, i + 1):.3f}" for _ in range(150))] for i in range(4000)]
    csv = folder / "wide.csv"
    csv.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    herringbone("convert", "-q", csv, folder / "wide.parquet", "--row-group-rows", 1000, "--page-rows", 100)
    yield "wide", folder / "wide.parquet"
    (folder / "none.csv").write_text("a,b\n")
    herringbone("convert", "-q", folder / "none.csv", folder / "none.parquet")
    yield "none", folder / "none.parquet"
    many = folder / "many"
    many.mkdir()
    for i in range(30):
        (folder / "part.csv").write_text(f"id,city,fare\n{i},Rome,{i / 2}\n" if i % 7 else f"id,town\n{i},Rome\n")
        herringbone("convert", "-q", folder / "part.csv", many / f"{i}.parquet")
    yield "directory", many


def check_looks(browser, name, page):
    browser.open(page)
    for width_name, width in WIDTHS.items():
        for theme in ["light", "dark"]:
            browser.show(width, theme)
            browser.screenshot(FOLDER / f"{name}-{width_name}-{theme}.png")
            assert not (found := browser.run(OVERFLOW)), (name, width, found[:5])
            assert browser.run("document.documentElement.scrollWidth <= innerWidth"), (name, width)
            assert not (found := browser.run(CONTRAST)), (name, theme, found[:5])
    browser.show(PAPER, "dark", media="print")
    browser.screenshot(FOLDER / f"{name}-print.png")
    assert not (found := browser.run(OVERFLOW)), (name, "print", found[:5])
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not (found := browser.run(CONTRAST)), (name, "print", found[:5])
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    assert pdf.startswith(b"%PDF")
    (FOLDER / f"{name}.pdf").write_bytes(pdf)
    browser.show(WIDTHS["wide"], "light")
    assert not (found := list(browser.problems())), found


def tab_to(browser, condition):
    """Presses the tab key until an element has the focus."""
    browser.run("document.activeElement.blur()")
    for _ in range(2000):
        browser.press("Tab")
        if browser.run(f"document.activeElement.matches({json.dumps(condition)})"):
            return
    raise AssertionError(f"the tab key does not lead to {condition}")


def check_keys(browser, page):
    browser.show(WIDTHS["wide"], "light")
    browser.open(page)
    sizes = """[...document.querySelectorAll("#columns ~ .wide tbody tr")].map((it) => +it.cells[2].dataset.value)"""
    assert (bytes_ := browser.run(sizes)) == sorted(bytes_, reverse=True), "the largest column is first"

    def measures():
        names = browser.run(FIRST_NAMES)
        return [int(name.split("_")[1]) for name in names if name.startswith("measure_")]

    tab_to(browser, "#columns ~ .wide th:first-child button")
    browser.press("Enter")
    assert measures() == list(range(150)), "Enter sorts by the name, with the numbers in it"
    assert browser.run("document.activeElement.parentElement.ariaSort") == "ascending"
    browser.press("Enter")
    assert measures() == list(range(149, -1, -1))
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert browser.run(outline) == "solid", "the focus can be seen"
    tab_to(browser, "#columns ~ .wide th:nth-child(3) button")
    browser.press("Enter")
    assert (bytes_ := browser.run(sizes)) == sorted(bytes_, reverse=True) and len(set(bytes_)) > 1
    tab_to(browser, "#map")
    first = browser.run("document.getElementById('detail').textContent")
    browser.press("ArrowRight")
    second = browser.run("document.getElementById('detail').textContent")
    browser.press("ArrowDown")
    third = browser.run("document.getElementById('detail').textContent")
    assert "page 0" in first and "page 1" in second and len({first, second, third}) == 3, (first, second, third)
    tab_to(browser, "#theme")
    color = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(color)
    browser.press("Enter")
    assert browser.run(color) != light
    tab_to(browser, ".treemap a")
    browser.press("Enter")
    assert browser.run("location.hash").startswith("#column-")
    assert browser.run("document.querySelector('tr:target') !== null")
    assert not (found := list(browser.problems())), found


def main():
    if BROWSER is None:
        print("skipped: no Chromium")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.ExitStack() as stack:
        browser = Browser(Path(folder) / "profile")
        stack.callback(browser.process.wait)
        stack.callback(browser.process.terminate)
        for name, file in files(Path(folder)):
            page = Path(folder) / f"{name}.html"
            herringbone("report", "-q", file, "-f", "-o", page)
            print(f"{name}: {page.stat().st_size >> 10} KiB")
            check_looks(browser, name, page)
            if name == "wide":
                assert "The map shows the first 100 of 153 columns only." in page.read_text()
                check_keys(browser, page)
    print(f"screenshots are in {FOLDER}")


main()
