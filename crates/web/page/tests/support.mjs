// What every test needs: a store, a folder, a server, a browser that counts requests.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, firefox } from "playwright-core";

export const RETRO = process.env.RETRO_BIN;
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Where this names one, the specs run in it instead of in Chromium. */
export const FIREFOX = process.env.FIREFOX;
const BROWSER = FIREFOX ?? CHROMIUM;
export const missing = !RETRO ? "RETRO_BIN names no program" : !existsSync(BROWSER) ? `no browser at ${BROWSER}` : false;

const clean = { ...process.env };
for (const name of Object.keys(clean)) if (name.startsWith("RETRO_")) delete clean[name];

export function retro(store, ...words) {
  const place = store ? ["--home", join(store, "home"), "--root", join(store, "store")] : [];
  return execFileSync(RETRO, [...place, ...words], { env: clean, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

/** The demo's sixty sessions, in a folder of their own. */
export function demo() {
  const said = execFileSync("sh", ["-c", '"$0" demo --keep 2>&1 >/dev/null', RETRO], { env: { ...clean, TMPDIR: mkdtempSync(join(tmpdir(), "retro-page-")) }, encoding: "utf8" });
  const place = said.match(/Kept in (\S+?)\. /)?.[1];
  if (!place) throw new Error(`the demo said ${said}`);
  return place;
}

const fresh = () => join(mkdtempSync(join(tmpdir(), "retro-page-")), "out");

export function build(store, ...words) {
  return buildIn(fresh(), store, ...words);
}

function buildIn(out, store, ...words) {
  retro(store, "dashboard", "build", "--no-sync", "--out", out, ...words);
  return { out, address: pathToFileURL(join(out, "index.html")).href };
}

export async function serve(store, ...words) {
  return serveFrom(fresh(), store, ...words);
}

async function serveFrom(out, store, ...words) {
  const child = spawn(RETRO, ["--home", join(store, "home"), "--root", join(store, "store"), "dashboard", "serve", "--out", out, ...words], { env: clean, stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (piece) => {
      text += piece;
      const found = text.match(/http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/);
      if (found) resolve(found[0]);
    });
    child.on("exit", () => reject(new Error("the server ended")));
  });
  return { address, base: new URL("/", address).href, stop: () => child.kill("SIGINT") };
}

export function launch() {
  if (FIREFOX) return firefox.launch({ channel: "moz-firefox", executablePath: FIREFOX });
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** A page that remembers whatever should not have happened. */
export async function watched(browser, base, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  // A trial has sessions that take a while.
  if (process.env.RETRO_TRIAL) page.setDefaultTimeout(180_000);
  const trouble = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) trouble.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss().catch(() => {}); });
  page.on("request", (request) => { if (!request.url().startsWith(base) && !request.url().startsWith("data:") && !request.url().startsWith("blob:")) trouble.push(`request: ${request.url()}`); });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`csp ${event.violatedDirective} ${event.blockedURI}`));
  });
  return { page, trouble, context };
}

/**
 * The page of a store, from its folder or from a server, with everything that ends it. A store
 * that is given may be large: its folder is made once and stays.
 */
export async function opened(browser, store, carrier, options = {}) {
  const place = store === process.env.RETRO_STORE ? join(store, "out") : fresh();
  const { address, out, base, stop } = carrier === "folder" ? buildIn(place, store) : await serveFrom(place, store, "--no-sync");
  return { ...(await visit(browser, { address, base: base ?? address.replace("index.html", "") }, options)), address, out, base, stop };
}

/** A page that is open and has its figures. */
export async function visit(browser, { address, base = address.replace("index.html", "") }, options = {}) {
  const seen = await watched(browser, base, options);
  await seen.page.goto(address);
  await seen.page.waitForSelector(".kpi strong");
  return seen;
}

export const json = (store, ...words) => JSON.parse(retro(store, ...words, "--json"));
export const sessionsOf = (store, ...flags) => json(store, "list", "--no-sync", "--limit", "0", ...flags);
export const memoriesOf = (store, ...flags) => json(store, "memory", "list", ...flags).memories;
export const place = (session, query = "") => `#/session/${session.agent}/${encodeURIComponent(session.session_id)}${query}`;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds serious or critical in these views. */
export async function findings(page, views) {
  const found = [];
  for (const [hash, selector] of views) {
    await show(page, hash, selector);
    // From disk no script may be evaluated into the page by its own policy; the driver may.
    await page.evaluate(axe).catch(() => {});
    found.push(...(await page.evaluate(async (where) => {
      const result = await globalThis.axe.run(document, { resultTypes: ["violations"], preload: false });
      return result.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${where} ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
    }, hash)));
  }
  return found;
}

/** Goes to a view and waits until it is drawn. */
export async function show(page, hash, selector) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await page.waitForSelector(selector);
}
