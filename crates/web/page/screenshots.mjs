// Pictures of every view, light, dark and on a phone, from the demo's sessions:
// node screenshots.mjs FOLDER [NAME,NAME...] (RETRO_BIN names the program)
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build, demo, launch, missing, retro } from "./tests/support.mjs";

if (missing) throw new Error(missing);
const to = process.argv[2] ?? "shots";
mkdirSync(to, { recursive: true });
const wanted = (process.argv[3] ?? "").split(",").filter(Boolean);
const store = process.env.RETRO_STORE ?? demo();
const memories = JSON.parse(retro(store, "memory", "list", "--json")).memories;
const rule = memories.find((memory) => memory.method === "user_rules" && memory.scope === "repo") ?? memories[0];
if (rule && !process.env.RETRO_STORE) {
  // Some of them were shown and judged, as they are after a while.
  const fix = memories.find((memory) => memory.method === "error_fix") ?? rule;
  retro(store, "memory", "accept", rule.id);
  for (const [one, rewards] of [[rule, [1, 1]], [fix, [1, 0]]]) for (const [n, reward] of rewards.entries()) {
    retro(store, "memory", "weave", "--query", one.text, ...(one.origin_repo ? ["--cwd", one.origin_repo] : []), "--session-id", `later-${one.method}-${n}`);
    retro(store, "memory", "update-utility", "--memory-id", one.id, "--reward", String(reward), "--reason", reward ? "the command passed" : "it could not be run");
  }
}
const { address } = build(store);
const sessions = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0", "--sort", "turns")).sessions;
const one = sessions.find((session) => session.session_id.startsWith(process.env.RETRO_SESSION ?? "~")) ?? sessions[0];
const browser = await launch();
const failed = sessions.find((session) => session.outcome === "failed") ?? one;
const at = (session, query = "") => `#/session/${session.agent}/${encodeURIComponent(session.session_id)}${query}`;
const shots = [
  ["overview", "#/", ".kpi"], ["sessions", "#/sessions", ".grid-table"], ["session", at(one), ".turn-head"], ["session-signals", at(failed, "?panel=signals"), ".readings"],
  ["session-money", at(one, "?panel=money"), ".ledger li"], ["cost", "#/cost", "tfoot"], ["signals", "#/signals", "table.signals"], ["signal", "#/signals/failed_command_ratio", ".spread"],
  ["search", "#/search?q=test", ".snippet"], ["health", "#/health", "dl.facts"],
  ["memory", "#/memory", "table.memories"], ["memory-item", `#/memory/${encodeURIComponent(rule?.id ?? "")}`, ".quote"], ["session-memory", at({ agent: rule?.evidence_refs[0]?.split("/")[0] ?? one.agent, session_id: rule?.evidence_refs[0]?.split("#")[0].split("/").slice(1).join("/") ?? one.session_id }, "?panel=memory"), ".remembered li"],
].filter(([name]) => wanted.length === 0 || wanted.includes(name));
const kinds = [
  ["light", { viewport: { width: 1360, height: 860 }, colorScheme: "light" }],
  ["dark", { viewport: { width: 1360, height: 860 }, colorScheme: "dark" }],
  ["phone", { viewport: { width: 360, height: 720 }, deviceScaleFactor: 2, colorScheme: "light", isMobile: true, hasTouch: true }],
];
for (const [kind, options] of kinds) {
  const page = await (await browser.newContext({ ...options, reducedMotion: "reduce" })).newPage();
  await page.goto(address);
  for (const [name, hash, selector] of shots) {
    await page.evaluate((place) => { location.hash = place; }, hash);
    await page.waitForSelector(selector);
    await page.evaluate(() => new Promise((done) => setTimeout(done, 400)));
    await page.screenshot({ path: join(to, `${name}-${kind}.png`) });
  }
}
await browser.close();
