// Pages of other programs, measured on the same logs as ours: agentsview and retro-ai's dashboard.
// AGENTSVIEW and RETRO_AI name their programs. Each gets a home of its own, and nothing but this machine.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { large } from "./stores.mjs";
import { build } from "./tests/support.mjs";

const SESSIONS = 200;
const MEGABYTES = 4;

/** Opens a page at its list, then its largest session. Only this machine answers. */
async function opened(browser, { address, list, open, text, least = 40 }, said) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
  await context.route((url) => !["file:", "data:", "blob:"].includes(url.protocol) && url.hostname !== "127.0.0.1", (route) => route.abort());
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  let [requests, bytes] = [0, 0];
  cdp.on("Network.loadingFinished", (event) => { requests += 1; if (!address.startsWith("file:")) bytes += event.encodedDataLength; });
  page.on("requestfinished", (request) => { if (request.url().startsWith("file:")) bytes += statSync(new URL(request.url().split("?")[0])).size; });
  await page.goto(address, { waitUntil: "commit" });
  await page.waitForSelector(list);
  const shown = await page.evaluate(() => performance.now());
  await page.waitForLoadState("load");
  const read = { requests, bytes };
  const took = await page.evaluate(async ([clicks, wanted, chars, words]) => {
    const began = performance.now();
    for (const click of clicks) {
      const find = () => [...document.querySelectorAll(click.split("@")[0])].find((node) => node.textContent.includes(click.split("@")[1] ?? ""));
      while (!find()) await new Promise((done) => requestAnimationFrame(done));
      find().click();
    }
    const isThere = () => [...document.querySelectorAll(wanted)].some((node) => node.textContent.length > chars && node.textContent.includes(words));
    while (!isThere() && performance.now() - began < 20_000) await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - began;
  }, [open, text, least, said]);
  await context.close();
  return { ...read, shown, took };
}

async function agentsview(program, store, port) {
  const env = { PATH: process.env.PATH, HOME: join(store, "agentsview"), AGENTSVIEW_DATA_DIR: join(store, "agentsview-data"), DO_NOT_TRACK: "1" };
  cpSync(join(store, "home"), env.HOME, { recursive: true });
  const child = spawn(program, ["serve", "--no-browser", "--no-update-check", "--port", String(port)], { env, stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (piece) => { if (/Sync complete/.test((said += piece))) resolve(); });
    child.on("exit", () => reject(new Error(`agentsview ended: ${said}`)));
  });
  const address = `http://127.0.0.1:${port}/`;
  for (let round = 0; round < 100 && !(await fetch(address).then((answer) => answer.ok, () => false)); round += 1) await new Promise((done) => setTimeout(done, 100));
  return { how: { address, list: ".session-row", open: [".session-row"], text: ".message-body" }, stop: () => child.kill("SIGINT") };
}

function retroAi(program, store, title) {
  const env = { PATH: process.env.PATH, HOME: join(store, "retro-ai") };
  cpSync(join(store, "home"), env.HOME, { recursive: true });
  for (const words of [["sync"], ["dashboard", "build"]]) execFileSync(program, words, { env, stdio: "ignore" });
  const page = join(env.HOME, ".local/share/retro/dashboard/index.html");
  return { how: { address: pathToFileURL(page).href, list: "tr.host-claude-code", open: [`tr.host-claude-code@${title}`, "#tabTranscript"], text: "pre", least: 20_000 }, stop: () => {} };
}

/** Rows for a table, and what must be said of them. */
export async function beside(browser, runs) {
  const store = large({ sessions: SESSIONS, megabytes: MEGABYTES, events: 500 });
  const { address } = build(store);
  const title = JSON.parse(execFileSync(process.env.RETRO_BIN, ["--home", join(store, "home"), "--root", join(store, "store"), "list", "--json", "--no-sync", "--limit", "1", "--sort", "size"], { encoding: "utf8" })).sessions[0].title.slice(0, 20);
  const kinds = [
    ["retro, from disk", () => ({ how: { address: `${address}#/sessions`, list: "a.open", open: [`a.open@${title}`], text: ".turns .prompt" }, stop: () => {} })],
    ["agentsview", process.env.AGENTSVIEW && (() => agentsview(process.env.AGENTSVIEW, store, 18_437))],
    ["retro-ai", process.env.RETRO_AI && (() => retroAi(process.env.RETRO_AI, store, title))],
  ];
  const [rows, absent] = [[], []];
  for (const [name, start] of kinds) {
    if (!start) { absent.push(name); continue; }
    const { how, stop } = await start();
    const all = [];
    for (let run = 0; run < runs; run += 1) all.push(await opened(browser, how, title));
    stop();
    const best = (what) => Math.min(...all.map((one) => one[what]));
    rows.push([process.env[`${name.toUpperCase().replace("-", "_")}_NAME`] ?? name, best("requests"), `${(best("bytes") / 1e6).toFixed(2)} MB`, `${Math.round(best("shown"))} ms`, `${Math.round(best("took"))} ms`]);
    process.stderr.write(`${rows.at(-1).join(", ")}\n`);
  }
  rmSync(store, { recursive: true, force: true });
  const missing = absent.length ? ` ${absent.join(" and ")}: not installed.` : "";
  return { rows, text: `${SESSIONS + 2} sessions, the largest of ${MEGABYTES} MB. agentsview is a server; the others are read from disk. Requests to other machines are blocked.${missing}\n` };
}
