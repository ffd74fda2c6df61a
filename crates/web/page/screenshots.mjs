// Pictures of every view, light and dark, from the demo's sessions:
// node screenshots.mjs FOLDER (RETRO_BIN names the program)
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build, demo, launch, missing, retro } from "./tests/support.mjs";

if (missing) throw new Error(missing);
const to = process.argv[2] ?? "shots";
mkdirSync(to, { recursive: true });
const store = process.env.RETRO_STORE ?? demo();
const { address } = build(store);
const sessions = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0", "--sort", "turns")).sessions;
const one = sessions.find((session) => session.session_id.startsWith(process.env.RETRO_SESSION ?? "~")) ?? sessions[0];
const browser = await launch();
const shots = [
  ["overview", "#/", ".kpi"], ["sessions", "#/sessions", ".grid-table a"], ["session", `#/session/${one.agent}/${one.session_id}`, ".turn-head"],
  ["session-money", `#/session/${one.agent}/${one.session_id}?panel=money`, ".ledger li"], ["cost", "#/cost", "tfoot"], ["search", "#/search?q=test", ".snippet"], ["health", "#/health", "dl.facts"],
];
for (const scheme of ["light", "dark"]) {
  const page = await (await browser.newContext({ viewport: { width: 1360, height: 860 }, colorScheme: scheme })).newPage();
  await page.goto(address);
  for (const [name, hash, selector] of shots) {
    await page.evaluate((place) => { location.hash = place; }, hash);
    await page.waitForSelector(selector);
    await page.waitForTimeout(250);
    await page.screenshot({ path: join(to, `${name}-${scheme}.png`) });
  }
}
const phone = await (await browser.newContext({ viewport: { width: 320, height: 640 }, deviceScaleFactor: 2 })).newPage();
await phone.goto(address);
for (const [name, hash, selector] of shots.slice(0, 3)) {
  await phone.evaluate((place) => { location.hash = place; }, hash);
  await phone.waitForSelector(selector.replace(" a", ""));
  await phone.waitForTimeout(250);
  await phone.screenshot({ path: join(to, `${name}-phone.png`) });
}
await browser.close();
