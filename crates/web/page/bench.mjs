// The budgets of the page, measured in Chromium: node bench.mjs [--large] (RETRO_BIN names the program).
// Prints a table in markdown. --large takes more sessions, one of 100 MB and one of 100,000 events,
// and ends with 1 if a budget is broken.
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { launch, missing, retro, watched } from "./tests/support.mjs";

if (missing) throw new Error(missing);
const large = process.argv.includes("--large");
const option = (name, otherwise) => Number(process.argv[process.argv.indexOf(`--${name}`) + 1] ?? Number.NaN) || otherwise;
const SESSIONS = option("sessions", 2_000);
const ROWS = option("rows", large ? 50_000 : 0);
const MEGABYTES = option("megabytes", large ? 100 : 12);
const EVENTS = option("events", large ? 100_000 : 5_000);

// Words by a small generator, so that every run has the same logs.
let seed = 7;
const random = (most) => { seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff; return seed % most; };
const WORDS = Array.from({ length: 4_000 }, (_, n) => `${"abcdefghijklmnop"[n % 16]}${(n * 2_654_435_761 >>> 0).toString(36)}`);
const text = (many) => Array.from({ length: many }, () => WORDS[random(WORDS.length)]).join(" ");

const folderOf = (home, project) => join(home, `.claude/projects/-home-dev-${project}`);
function session(home, id, start, turns, words, calls) {
  const project = `p${random(12)}`;
  mkdirSync(folderOf(home, project), { recursive: true });
  const file = openSync(join(folderOf(home, project), `${id}.jsonl`), "a");
  let parent = null;
  let time = start;
  const put = (type, n, message, extra = {}) => {
    const uuid = `${id}-${n}-${type}`;
    time += 4_000 + random(9_000);
    writeSync(file, `${JSON.stringify({ type, uuid, parentUuid: parent, sessionId: id, cwd: `/home/dev/${project}`, gitBranch: "main", version: "2.0.0", timestamp: new Date(time).toISOString(), ...extra, message })}\n`);
    parent = uuid;
  };
  const use = () => ({ input_tokens: random(900), output_tokens: random(700), cache_read_input_tokens: random(90_000), cache_creation_input_tokens: random(2_000) });
  for (let turn = 0; turn < turns; turn += 1) {
    put("user", `${turn}p`, { role: "user", content: text(6 + random(14)) });
    for (let call = 0; call < calls; call += 1) {
      const name = `t${turn}-${call}`;
      put("assistant", `${turn}c${call}`, { id: `${id}${name}`, role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "tool_use", id: name, name: "Bash", input: { command: `cargo test ${WORDS[random(400)]}` } }], usage: use() }, { requestId: `${id}${name}` });
      put("user", `${turn}r${call}`, { role: "user", content: [{ type: "tool_result", tool_use_id: name, is_error: random(9) === 0, content: text(words).replaceAll(" a", "\n a") }] });
    }
    put("assistant", `${turn}a`, { id: `${id}a${turn}`, role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: `${text(30)}\n\n- ${text(9)}\n- ${text(8)}` }], usage: use() }, { requestId: `${id}a${turn}` });
  }
  closeSync(file);
}
const size = (path) => (statSync(path).isDirectory() ? readdirSync(path).reduce((all, name) => all + size(join(path, name)), 0) : statSync(path).size);

function make(sessions, turns, words, calls) {
  const store = mkdtempSync(join(tmpdir(), "retro-bench-"));
  const home = join(store, "home");
  for (let n = 0; n < sessions; n += 1) session(home, `s${String(n).padStart(6, "0")}`, 1_760_000_000_000 + n * 1_500_000, turns, words, calls);
  return { store, home };
}

const rows = [];
let broken = 0;
function measured(what, value, unit, bar, holds) {
  if (!holds) broken += 1;
  rows.push([what, `${value} ${unit}`.trim(), bar, holds ? "yes" : "no"]);
  process.stderr.write(`${what}: ${value} ${unit} (${bar}) ${holds ? "" : "BROKEN"}\n`);
}

const timed = (act) => { const began = process.hrtime.bigint(); const value = act(); return [Number(process.hrtime.bigint() - began) / 1e9, value]; };
const browser = await launch();
const assets = new URL("../assets/", import.meta.url);
const packed = ["app.js", "app.css"].reduce((all, name) => all + gzipSync(readFileSync(new URL(name, assets))).length, 0);
measured("program of the page, packed", (packed / 1e3).toFixed(1), "kB", "at most 120 kB", packed <= 120e3);

async function opened(address, most, bar) {
  const { page, context, trouble } = await watched(browser, address.replace("index.html", ""));
  let read = 0;
  page.on("requestfinished", (request) => { if (request.url().startsWith("file:")) read += statSync(new URL(request.url().split("?")[0])).size; });
  await page.goto(address);
  await page.waitForSelector(".kpi strong");
  const paint = await page.evaluate(() => performance.getEntriesByType("paint").find((one) => one.name === "first-contentful-paint")?.startTime ?? 0);
  const shown = await page.evaluate(() => performance.now());
  measured(`first paint, ${bar}`, Math.round(paint), "ms", "at most 300 ms", paint <= 300);
  measured(`figures there, ${bar}`, Math.round(shown), "ms", `at most ${most} ms`, shown <= most);
  return { page, context, trouble, read: () => read };
}

// Many sessions, and one that is large.
const { store, home } = make(SESSIONS, 3, 40, 2);
const big = "big-session";
const until = MEGABYTES * 1e6;
// A turn of twelve calls that print 600 words each is about 50 kB.
session(home, big, 1_764_000_000_000, Math.round(until / 54_000), 600, 12);
session(home, "many-events", 1_764_900_000_000, Math.round(EVENTS / 22), 4, 10);
const logs = size(home);
process.stderr.write(`${(logs / 1e6).toFixed(0)} MB of logs, ${SESSIONS + 2} sessions\n`);
retro(store, "sync");
const out = join(store, "out");
const [took] = timed(() => retro(store, "dashboard", "build", "--no-sync", "--out", out));
measured("logs read by a first build", (logs / 1e6 / took).toFixed(1), "MB/s", "at least 30 MB/s", logs / 1e6 / took >= 30);
const folder = size(out);
measured("size of the folder, of the logs", (folder / logs).toFixed(2), "", "at most 0.45", folder / logs <= 0.45);
const [, again] = timed(() => JSON.parse(retro(store, "dashboard", "build", "--no-sync", "--out", out, "--json")));
measured("sessions made again when nothing changed", again.rebuilt, "", "0", again.rebuilt === 0);
const address = pathToFileURL(join(out, "index.html")).href;
const main = await opened(address, 1_500, `${SESSIONS.toLocaleString("en-US")} sessions`);
measured("read before the first click", (main.read() / 1e6).toFixed(2), "MB", "at most 1 MB", main.read() <= 1e6);

const { page } = main;
const cdp = await page.context().newCDPSession(page);
await cdp.send("Performance.enable");
const metrics = async () => Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map((one) => [one.name, one.value]));
async function reach(hash, selector) {
  return page.evaluate(async ([to, wanted]) => {
    const began = performance.now();
    location.hash = to;
    while (!document.querySelector(wanted)) await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - began;
  }, [hash, selector]);
}
const heads = [];
for (const below of readdirSync(join(out, "data/s"))) for (const file of readdirSync(join(out, "data/s", below))) if (file.endsWith(".h.js")) heads.push([statSync(join(out, "data/s", below, file)).size, file]);
const ofBig = heads.find(([, file]) => file.includes(big)) ?? heads.sort((a, b) => b[0] - a[0])[0];
for (const [name, label] of [[big, `one of ${MEGABYTES} MB`], ["many-events", `one of ${EVENTS.toLocaleString("en-US")} events`]]) {
  await reach("#/sessions", ".grid-table");
  const first = await reach(`#/session/claude/${name}`, ".turn-head");
  measured(`open to the first turn, ${label}`, Math.round(first), "ms", "at most 300 ms", first <= 300);
  const last = await page.evaluate(() => document.querySelector(".outline li:last-child .outline-turn .num")?.textContent ?? "1");
  const jump = await page.evaluate(async (turn) => {
    const began = performance.now();
    location.hash = `${location.hash.split("?")[0]}?at=turn:${turn}`;
    const there = () => [...document.querySelectorAll(".turn-head")].some((node) => { const box = node.getBoundingClientRect(); return box.top > 0 && box.top < innerHeight && node.textContent.trim().startsWith(String(turn)); }) || document.querySelector(".slot:focus");
    while (!there() && performance.now() - began < 10_000) await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - began;
  }, last);
  measured(`jump to the last turn, ${label}`, Math.round(jump), "ms", "at most 400 ms", jump <= 400);
  const before = await metrics();
  const scroll = await page.evaluate(async () => {
    const long = [];
    const watcher = new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)));
    watcher.observe({ entryTypes: ["longtask"] });
    const box = document.querySelector(".turns");
    box.scrollTop = 0;
    let nodes = 0;
    for (let frame = 0; frame < 120; frame += 1) {
      box.scrollTop += 160;
      await new Promise((done) => requestAnimationFrame(done));
      nodes = Math.max(nodes, document.querySelectorAll("*").length);
    }
    watcher.disconnect();
    return { long, nodes };
  });
  const now = await metrics();
  const frame = ((now.ScriptDuration + now.LayoutDuration + now.RecalcStyleDuration - before.ScriptDuration - before.LayoutDuration - before.RecalcStyleDuration) * 1_000) / 120;
  measured(`script, style and layout a frame while scrolling, ${label}`, frame.toFixed(1), "ms", "at most 8 ms", frame <= 8);
  measured(`tasks over 50 ms while scrolling, ${label}`, scroll.long.length, "", "none", scroll.long.length === 0);
  measured(`nodes at most, ${label}`, scroll.nodes, "", "at most 4,000", scroll.nodes <= 4_000);
  measured(`heap, ${label}`, (now.JSHeapUsedSize / 1e6).toFixed(0), "MB", "at most 250 MB", now.JSHeapUsedSize <= 250e6);
}
if (ofBig) measured(`head of the session of ${MEGABYTES} MB`, (ofBig[0] / 1e3).toFixed(0), "kB", "at most 60 kB", ofBig[0] <= 60e3);
await reach("#/search", ".state");
await reach(`#/search?q=${WORDS[3]}+${WORDS[90]}+${WORDS[700]}`, ".population");
const search = Number((await page.textContent(".population")).match(/([\d,]+) ms/)?.[1].replaceAll(",", "") ?? Number.NaN);
measured("search of three words, to the titles", search, "ms", "at most 150 ms", search <= 150);
measured("complaints in the console and requests elsewhere", main.trouble.length, "", "0", main.trouble.length === 0);
await main.context.close();
rmSync(store, { recursive: true, force: true });

if (ROWS) {
  const many = make(ROWS, 1, 2, 0);
  retro(many.store, "sync");
  const place = join(many.store, "out");
  retro(many.store, "dashboard", "build", "--no-sync", "--out", place);
  const list = await opened(pathToFileURL(join(place, "index.html")).href, 1_500, `${ROWS.toLocaleString("en-US")} sessions`);
  await list.context.close();
  rmSync(many.store, { recursive: true, force: true });
}
await browser.close();
console.log("| What | Measured | Budget | Holds |\n| --- | ---: | ---: | --- |");
for (const row of rows) console.log(`| ${row.join(" | ")} |`);
process.exitCode = large && broken ? 1 : 0;
