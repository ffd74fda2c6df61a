// The budgets of the page, measured in Chromium: node bench.mjs [--large] (RETRO_BIN names the program,
// AGENTSVIEW and RETRO_AI others to measure beside, where they are installed).
// Prints tables in markdown. --large takes very large sessions and very many rows, and holds the
// tests of the page against them too.
//
// Work is counted in the browser's own trace as CPU time of the page's thread, so a busy machine
// does not add to it. Times that a reader waits are the best of some runs.
import { spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { beside } from "./peers.mjs";
import { large, published, rows, size, WORDS } from "./stores.mjs";
import { launch, missing, retro, watched } from "./tests/support.mjs";
import { traced } from "./trace.mjs";

if (missing) throw new Error(missing);
const isLarge = process.argv.includes("--large");
const option = (name, otherwise) => Number(process.argv[process.argv.indexOf(`--${name}`) + 1] ?? Number.NaN) || otherwise;
const SESSIONS = option("sessions", 2_000);
const ROWS = option("rows", 50_000);
const MEGABYTES = option("megabytes", isLarge ? 100 : 12);
const EVENTS = option("events", isLarge ? 100_000 : 5_000);
const RUNS = option("runs", 3);
const named = (number) => number.toLocaleString("en-US");

const table = [];

function measured(what, value, unit, bar, holds) {
  table.push([what, `${value} ${unit}`.trim(), bar, bar ? (holds ? "yes" : "no") : ""]);
  process.stderr.write(`${what}: ${value} ${unit} (${bar}) ${holds ? "" : "BROKEN"}\n`);
}
const atMost = (what, value, unit, most, digits = 0) => measured(what, value.toFixed(digits), unit, `at most ${named(most)} ${unit}`.trim(), value <= most);
const timed = (act) => { const began = process.hrtime.bigint(); const value = act(); return [Number(process.hrtime.bigint() - began) / 1e9, value]; };
const below = (folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)).filter((path) => statSync(path).isFile());

/** Opens the page, and says what it took. */
async function open(browser, address) {
  const { page, context, trouble } = await watched(browser, address.replace("index.html", ""));
  let bytes = 0;
  page.on("requestfinished", (request) => { bytes += statSync(new URL(request.url().split("?")[0])).size; });
  await page.goto(address);
  await page.waitForSelector(".kpi strong");
  const [paint, shown] = await page.evaluate(() => [performance.getEntriesByType("paint").find((one) => one.name === "first-contentful-paint")?.startTime ?? 0, performance.now()]);
  return { page, context, trouble, paint, shown, bytes };
}

/** The best of some runs, each with a page of its own. */
async function best(browser, address, act) {
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) {
    const opened = await open(browser, address);
    runs.push(await act(opened));
    await opened.context.close();
  }
  return Object.fromEntries(Object.keys(runs[0]).map((name) => [name, Math.min(...runs.map((run) => run[name]))]));
}

async function firstPage(browser, address, sessions, most) {
  const { paint, shown, bytes } = await best(browser, address, (opened) => opened);
  const of = `${named(sessions)} sessions`;
  atMost(`first paint, ${of}`, paint, "ms", 300);
  atMost(`figures there, ${of}`, shown, "ms", most);
  if (sessions <= 2_000) atMost(`read before the first click, ${of}`, bytes / 1e6, "MB", 1, 2);
}

/** Goes to a place and waits, in the page, until something is there. */
const reach = (page, hash, selector) => page.evaluate(async ([to, wanted]) => {
  const began = performance.now();
  location.hash = to;
  while (!document.querySelector(wanted)) await new Promise((done) => requestAnimationFrame(done));
  return performance.now() - began;
}, [hash, selector]);

async function oneSession(browser, address, name, label) {
  const times = await best(browser, address, async ({ page }) => {
    await reach(page, "#/sessions", ".grid-table");
    const first = await reach(page, `#/session/claude/${name}`, ".turn-head");
    await page.waitForSelector(".outline [data-turn]");
    await page.evaluate(() => { document.querySelector(".outline .windowed").scrollTop = 1e9; });
    const last = await page.locator(".outline [data-turn] .num").nth(-2).textContent();
    const jump = await page.evaluate(async (turn) => {
      const began = performance.now();
      location.hash = `${location.hash.split("?")[0]}?at=turn:${turn}`;
      const isThere = () => [...document.querySelectorAll(".turn-head")].some((node) => { const { top } = node.getBoundingClientRect(); return top > 0 && top < innerHeight && new RegExp(`\\b${turn}$`).test(node.querySelector("strong").textContent); });
      while (!isThere() && performance.now() - began < 10_000) await new Promise((done) => requestAnimationFrame(done));
      return performance.now() - began;
    }, last);
    return { first, jump };
  });
  atMost(`open to the first turn, ${label}`, times.first, "ms", 300);
  atMost(`jump to the last turn, ${label}`, times.jump, "ms", 400);
  const { page, context } = await open(browser, address);
  await reach(page, `#/session/claude/${name}`, ".turn-head");
  await page.waitForSelector(".outline [data-turn]");
  await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
  let nodes = 0;
  const work = await traced(browser, page, async () => {
    nodes = await page.evaluate(async () => {
      const box = document.querySelector(".turns");
      let most = 0;
      for (let frame = 0; frame < 240; frame += 1) {
        box.scrollTop += 120;
        await new Promise((done) => requestAnimationFrame(done));
        if (frame % 20 === 0) most = Math.max(most, document.querySelectorAll("*").length);
      }
      return most;
    });
  });
  atMost(`script, style and layout a frame while scrolling, ${label}`, work.frame, "ms", 8, 1);
  measured(`tasks over 50 ms while scrolling, ${label}`, work.long, "", "none", work.long === 0);
  atMost(`nodes, ${label}`, nodes, "", 4_000);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable");
  const { metrics } = await cdp.send("Performance.getMetrics");
  atMost(`heap, ${label}`, metrics.find((one) => one.name === "JSHeapUsedSize").value / 1e6, "MB", 250);
  await context.close();
}

async function manySessions(browser) {
  const store = large({ sessions: SESSIONS, megabytes: MEGABYTES, events: EVENTS });
  const [logs, out] = [size(join(store, "home")), join(store, "out")];
  const build = (...words) => timed(() => JSON.parse(retro(store, "dashboard", "build", "--no-sync", "--out", out, "--json", ...words)));
  const made = `${(logs / 1e6).toFixed(0)} MB of logs`;
  const first = () => (rmSync(out, { recursive: true, force: true }), build()[0]);
  const took = Math.min(...Array.from({ length: RUNS }, first));
  measured(`first build, ${made}`, (logs / 1e6 / took).toFixed(1), "MB/s", "at least 30 MB/s", logs / 1e6 / took >= 30);
  const folder = size(out);
  atMost(`size of the folder, of ${made}`, folder / logs, "", 0.45, 2);
  const index = below(join(out, "data/q")).map((path) => statSync(path).size).sort((a, b) => a - b);
  measured("words to search from disk, of these logs", ((index.reduce((a, b) => a + b, 0) * 100) / logs).toFixed(1), "%", "", true);
  atMost("one shard of words, p50", index[index.length >> 1] / 1e3, "kB", 32, 1);
  const [, again] = build();
  measured("sessions made again when nothing changed", again.rebuilt, "", "0", again.rebuilt === 0);
  const one = below(join(store, "home")).find((path) => path.endsWith("s000007.jsonl"));
  appendFileSync(one, readFileSync(one, "utf8").split("\n")[0].replaceAll("s000007-0", "s000007-next") + "\n");
  retro(store, "sync");
  const [grown, after] = build();
  measured("sessions made again after one grew", after.rebuilt, "", "1", after.rebuilt === 1);
  measured("time of that build", grown.toFixed(1), "s", "", true);
  const address = pathToFileURL(join(out, "index.html")).href;
  await firstPage(browser, address, SESSIONS, 1_500);
  await oneSession(browser, address, "big-session", `one of ${MEGABYTES} MB`);
  await oneSession(browser, address, "many-events", `one of ${named(EVENTS)} events`);
  const head = below(join(out, "data/s")).find((path) => path.endsWith("big-session.h.js"));
  atMost(`head of the session of ${MEGABYTES} MB`, statSync(head).size / 1e3, "kB", 60);
  const words = [3, 90, 700].map((n) => WORDS[n]).join("+");
  const search = await best(browser, address, async ({ page, trouble }) => {
    await reach(page, "#/search", ".state");
    await reach(page, `#/search?q=${words}`, ".population q");
    const ms = (await page.textContent(".population")).match(/([\d,]+) ms/)?.[1];
    return { ms: Number(ms?.replaceAll(",", "")), trouble: trouble.length };
  });
  atMost("search of three words, to the titles", search.ms, "ms", 150);
  measured("complaints in the console and requests elsewhere", search.trouble, "", "0", search.trouble === 0);
  if (isLarge) specified(store, `${named(SESSIONS + 2)} sessions`, WORDS[700], ["page", "states", "lists"]);
  rmSync(store, { recursive: true, force: true });
}

/** How small the folder of real logs is: in made ones nothing repeats as it does there. */
function realLogs() {
  const store = published();
  if (!store) return;
  const out = join(store, "out");
  retro(store, "dashboard", "build", "--no-sync", "--out", out);
  const logs = JSON.parse(retro(store, "list", "--no-sync", "--limit", "0", "--json")).sessions.reduce((sum, session) => sum + session.bytes, 0);
  const of = `published logs of ${(logs / 1e6).toFixed(0)} MB`;
  atMost(`size of the folder, ${of}`, size(out) / logs, "", 0.45, 2);
  atMost(`words to search from disk, ${of}`, (size(join(out, "data/q")) * 100) / logs, "%", 2.5, 1);
  rmSync(store, { recursive: true, force: true });
}

/** Holds the specification of the page against a store that is larger than tests have time for. */
function specified(store, of, word, names) {
  const env = { ...process.env, RETRO_STORE: store, RETRO_WORD: word, RETRO_TRIAL: "1" };
  const ran = spawnSync(process.execPath, ["--test", "--test-concurrency=1", "--test-reporter=tap", ...names.map((name) => `tests/${name}.test.mjs`)], { env, cwd: new URL(".", import.meta.url), encoding: "utf8", maxBuffer: 1 << 28 });
  const number = (what) => Number(ran.stdout.match(new RegExp(`^# ${what} (\\d+)`, "m"))?.[1] ?? 0);
  for (const line of ran.stdout.split("\n")) if (/^\s*(not ok|error:|\+ )/.test(line)) process.stderr.write(`${line}\n`);
  measured(`tests of the page that pass, ${of}`, `${number("pass")} of ${number("tests") - number("skipped")}`, "", "all", ran.status === 0 && number("pass") > 0);
}

async function manyRows(browser) {
  const store = rows(ROWS);
  const out = join(store, "out");
  retro(store, "dashboard", "build", "--no-sync", "--out", out);
  await firstPage(browser, pathToFileURL(join(out, "index.html")).href, ROWS, 1_500);
  specified(store, `${named(ROWS)} sessions`, WORDS[700], ["page", "lists"]);
  rmSync(store, { recursive: true, force: true });
}

const browser = await launch();
const assets = new URL("../assets/", import.meta.url);
atMost("program of the page, packed", ["app.js", "app.css"].reduce((all, name) => all + gzipSync(readFileSync(new URL(name, assets))).length, 0) / 1e3, "kB", 120, 1);
await manySessions(browser);
if (!isLarge) realLogs();
if (isLarge) await manyRows(browser);
const print = (head, list) => { console.log(`| ${head.join(" | ")} |\n| ${head.map((_, n) => (n ? "---:" : "---")).join(" | ")} |`); for (const row of list) console.log(`| ${row.join(" | ")} |`); console.log(); };
print(["What", "Measured", "Budget", "Holds"], table);
console.log("Script, style, layout and tasks are CPU time of the page's thread, from Chromium's trace. The first build and waiting times are the best of " + RUNS + " runs; the load of the machine is above.\n");
if (!isLarge) {
  const others = await beside(browser, RUNS);
  print(["The same logs", "Requests", "Read before the first click", "Time to the list", "Time to open the largest session"], others.rows);
  console.log(others.text);
}
await browser.close();
