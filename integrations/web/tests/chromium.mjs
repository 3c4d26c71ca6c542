// Drives Chromium by its protocol, through a pipe.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Returns the browser of this machine, or undefined. */
export function chromium() {
  return ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);
}

export class Browser {
  #process;
  #folder = mkdtempSync(join(tmpdir(), "chromium-"));
  #last = 0;
  #waiting = new Map();
  #session;
  /** What the page wrote to its console, and its uncaught errors. */
  messages = [];

  constructor(program) {
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe"];
    this.#process = spawn(program, [...flags, `--user-data-dir=${this.#folder}`, "about:blank"], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    let rest = "";
    this.#process.stdio[4].setEncoding("utf8").on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  #receive({ id, result, error, method, params }) {
    if (method === "Runtime.consoleAPICalled") this.messages.push(params.args.map((it) => it.value).join(" "));
    if (method === "Runtime.exceptionThrown") this.messages.push(params.exceptionDetails.exception?.description);
    if (method === "Log.entryAdded") this.messages.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) call?.reject(new Error(error.message));
    else call?.resolve(result);
  }

  send(method, params = {}) {
    this.#last += 1;
    const id = this.#last;
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.#session })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Opens a tab of a size, and goes to a page. */
  async open(url, { width = 1200, height = 900, isDark = false } = {}) {
    if (!this.#session) {
      const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
      this.#session = (await this.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
      for (const domain of ["Page", "Runtime", "Log", "DOM"]) await this.send(`${domain}.enable`);
    }
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    const features = [{ name: "prefers-color-scheme", value: isDark ? "dark" : "light" }];
    await this.send("Emulation.setEmulatedMedia", { features });
    const { errorText } = await this.send("Page.navigate", { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await this.until(`location.href === ${JSON.stringify(url)} && document.readyState === "complete"`);
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true. */
  async until(expression, seconds = 30) {
    const end = Date.now() + 1000 * seconds;
    while (!(await this.evaluate(expression).catch(() => false))) {
      if (Date.now() > end) {
        const text = await this.evaluate("document.body.innerText.slice(0, 600)");
        throw new Error(`not so after ${seconds} seconds: ${expression}\n${text}\n${this.messages.join("\n")}`);
      }
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }

  async choose(selector, path) {
    const { root } = await this.send("DOM.getDocument");
    const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector });
    await this.send("DOM.setFileInputFiles", { nodeId, files: [path] });
  }

  async press(key) {
    for (const type of ["keyDown", "keyUp"]) await this.send("Input.dispatchKeyEvent", { type, key, code: key });
  }

  async screenshot(path) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  async close() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    await this.send("Browser.close").catch(() => undefined);
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
