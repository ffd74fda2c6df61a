// The same specification against the folder on disk and against the server, on every store.
import assert from "node:assert/strict";
import { renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { STORES } from "../stores.mjs";
import { build, findings, json, launch, memoriesOf, missing, opened, place, sessionsOf, show, watched } from "./support.mjs";

let browser;
before(async () => { if (!missing) browser = await launch(); });
after(() => browser?.close());

/** Sets of filters by a small generator, so that every run has the same. */
function chipSets(sessions, many) {
  let seed = 11;
  const random = (most) => { seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff; return (seed >> 4) % most; };
  const sets = [];
  while (sets.length < many) {
    // Each fits at least the session that it is made of.
    const one = sessions[random(sessions.length)];
    const set = {};
    if (random(2)) set.agent = one.agent;
    if (random(2) && one.project) set.project = one.project;
    if (random(3) === 0 && one.started_at) set.since = one.started_at.slice(0, 10);
    if (random(3) === 0 && one.ended_at) set.until = one.ended_at.slice(0, 10);
    sets.push(set);
  }
  return sets;
}
const flags = (set) => Object.entries(set).flatMap(([name, value]) => [`--${name}`, value]);
const plain = (text) => text.replaceAll(",", "").replace(/^≥ /, "").trim();
const dollars = (value) => (value === null ? "—" : `$${value >= 10_000 ? Math.round(value) : value.toFixed(value !== 0 && value < 0.01 ? 4 : 2)}`);
/** Whether an event comes in sight, or the row that holds it gets the focus. */
const isSeen = (page, id) => page.waitForFunction((event) => {
  const node = document.querySelector(`[data-id="${CSS.escape(event)}"], [data-result="${CSS.escape(event)}"]`);
  const box = node?.getBoundingClientRect();
  return box ? box.bottom > 0 && box.top < innerHeight : document.querySelector(".slot:focus") !== null;
}, id, { timeout: 5_000 }).then(() => true, () => false);

for (const { name, make, word, file, skip, first, keep } of STORES) {
  describe(name, { skip }, () => {
    let store;
    before(() => { store = make(); });
    after(() => { if (store && !keep) rmSync(store, { recursive: true, force: true }); });

    for (const carrier of ["folder", "server"]) {
      describe(carrier, () => {
        let page, trouble, context, stop, out, sessions, memories;
        before(async () => {
          ({ page, trouble, context, stop, out } = await opened(browser, store, carrier));
          sessions = sessionsOf(store, "--sort", "turns").sessions;
          memories = memoriesOf(store);
        });
        after(async () => { await context?.close(); stop?.(); if (out && !keep) rmSync(out, { recursive: true, force: true }); });
        const counts = (total) => page.waitForFunction((wanted) => document.querySelector(".population")?.textContent.replaceAll(",", "").trim().startsWith(`${wanted} of`), total);

        it("shows the same totals as the commands, in every view", async () => {
          const usage = json(store, "usage", "daily", "--no-sync");
          // Until then the page says that it is still reading older ones.
          await counts(sessions.length);
          assert.equal(plain(await page.textContent(".kpi strong")), dollars(usage.totals.cost_usd));
          for (const [hash, selector] of [["#/sessions", "a.open"], ["#/cost", "tfoot"], ["#/signals", "table.signals"], ["#/signals/failed_command_ratio", ".spread"], ["#/health", "dl.facts"]]) {
            await show(page, hash, selector);
            if (["#/sessions", "#/cost"].includes(hash)) await counts(sessions.length);
          }
        });

        it("agrees with the commands under every set of filters", async (test) => {
          let seen = 0;
          for (const set of chipSets(sessions, first && carrier === "folder" ? 20 : 5)) {
            const query = new URLSearchParams(set);
            const list = sessionsOf(store, ...flags(set));
            await show(page, `#/sessions?${query}`, ".population");
            await counts(list.total);
            const { totals } = json(store, "usage", "model", "--no-sync", ...flags(set));
            await show(page, `#/cost?${query}`, ".population");
            if (totals.responses === 0) continue;
            await page.waitForFunction((wanted) => document.querySelector("tfoot td:nth-child(3)")?.textContent.replaceAll(",", "") === wanted, String(totals.responses));
            assert.equal(plain(await page.textContent("tfoot td:nth-last-child(2)")), dollars(totals.cost_usd), JSON.stringify(set));
            seen += 1;
          }
          test.diagnostic(`${seen} sets with use`);
          assert.ok(seen > 1);
        });

        it("opens a session, reads it, goes back to the place", async () => {
          await show(page, "#/sessions?sort=-turns", ".grid-table a.open");
          await page.evaluate(() => { document.querySelector(".grid-scroll").scrollTop = 64; });
          await page.locator("a.open").nth(3).click();
          await page.waitForSelector(".turn-head");
          await page.waitForSelector(".outline-turn");
          assert.ok((await page.locator(".prompt").count()) > 0);
          await page.goBack();
          await page.waitForSelector(".grid-table");
          assert.match(page.url(), /sort=-turns/);
        });

        it("leads from a moment to its event, and a link lands there", async () => {
          let shown = 0;
          for (const one of sessions.slice(0, 40)) {
            await show(page, place(one, "?panel=moments"), ".turn-head");
            await page.waitForSelector(".panel .moments li, .panel p:has-text('Nothing failed')");
            const first = page.locator(".moments li .link").first();
            if ((await first.count()) === 0) continue;
            await first.click();
            await page.waitForSelector(".flash, .slot:focus");
            const at = new URL(page.url().replace("#/", "")).searchParams.get("at");
            assert.ok(await isSeen(page, at), `${one.session_id} ${at}`);
            if (++shown >= 5) break;
          }
          assert.ok(shown > 1);
        });

        it("opens at whatever signals and memories rest on, in every depth", async () => {
          const places = [];
          for (const one of sessions.slice(0, 12)) {
            const { readings } = json(store, "signal", "show", one.agent, one.session_id, "--no-sync");
            for (const id of new Set(readings.flatMap((row) => row.evidence_refs.slice(0, 2)))) places.push([one, id.replace(`${one.agent}/${one.session_id}#`, "").replace(/^[^/#]*\//, "")]);
          }
          for (const memory of memories.filter((one) => one.evidence_refs.length).slice(0, 6)) {
            const [whole, event] = [memory.evidence_refs[0].slice(0, memory.evidence_refs[0].lastIndexOf("#")), memory.evidence_refs[0].split("#").at(-1)];
            const [agent, ...id] = whole.split("/");
            places.push([{ agent, session_id: id.join("/") }, event]);
          }
          const step = Math.max(1, Math.floor(places.length / 15));
          for (const [n, [one, id]] of places.filter((_, n) => n % step === 0).entries()) {
            const depth = ["talk", "work", "all"][n % 3];
            await show(page, `${place(one)}?depth=${depth}&at=${encodeURIComponent(id)}`, ".slot:focus");
            assert.equal(await page.locator(".notice").filter({ hasText: "There is no event" }).count(), 0, `${one.session_id} ${id}`);
            assert.ok(await isSeen(page, id), `${one.session_id} ${id} ${depth}`);
          }
        });

        it("opens a link into a folded sub-agent at its event", async (test) => {
          await show(page, "#/sessions", "a.open");
          const named = await page.evaluate(async () => {
            const box = document.querySelector(".grid-scroll");
            for (box.scrollTop = 0; ; box.scrollTop += 400) {
              await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
              const found = [...document.querySelectorAll(".session-row")].find((row) => /sub-agent/.test(row.querySelector(".title").textContent));
              if (found) return found.querySelector("a.open").getAttribute("href").split("?")[0];
              if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1 || box.scrollTop > 4_000) return null;
            }
          });
          if (!named) { test.skip("no session here has a sub-agent"); return; }
          await show(page, `${named}?line=1&depth=all`, ".slot [data-id]");
          await page.waitForSelector(".crumbs");
          const id = await page.evaluate(() => [...document.querySelectorAll(".slot [data-id]")].map((node) => node.dataset.id).filter((one) => !one.startsWith("run:")).at(-1));
          await show(page, "#/sessions", "a.open");
          await show(page, `${named}?at=${encodeURIComponent(id)}`, ".slot:focus");
          assert.ok(await isSeen(page, id), id);
          await page.waitForSelector(".card[aria-expanded=true], .crumbs");
          await page.goBack();
          await page.waitForSelector("a.open");
        });

        it("searches all turns, and finds folded text", async () => {
          await show(page, `#/search?q=${word}`, ".hits li");
          await page.waitForSelector(".snippet mark");
          await page.locator("a.hit").first().click();
          await page.waitForSelector(".turn-head");
          await page.keyboard.press("/");
          await page.fill(".find input", word);
          await page.keyboard.press("Enter");
          await page.waitForFunction(() => /\d+ of \d+/.test(document.querySelector(".find")?.textContent ?? ""));
          await page.keyboard.press("Escape");
        });

        it("names the sessions that changed a file", { skip: !file }, async () => {
          await show(page, `#/search?q=${file}`, ".by-file summary");
          await page.click(".by-file summary");
          assert.ok((await page.textContent(".by-file code")).includes(file));
          await page.locator(".by-file li a").first().click();
          await page.waitForSelector(".files li");
          assert.ok((await page.textContent(".files")).includes(file));
        });

        it("works by keyboard alone", async () => {
          await show(page, "#/sessions", ".grid-table");
          await page.keyboard.press("j");
          await page.keyboard.press("Enter");
          await page.waitForSelector(".turn-head");
          await page.keyboard.press("3");
          await page.waitForFunction(() => location.hash.includes("depth=all"));
          await page.keyboard.press("1");
          await page.waitForFunction(() => location.hash.includes("depth=talk"));
          await page.keyboard.press("?");
          await page.waitForSelector("dialog[open]");
          await page.keyboard.press("Escape");
          await page.waitForSelector("dialog", { state: "detached" });
        });

        it("opens each response of a cost down to tokens times price", async () => {
          await show(page, "#/cost?by=session", "tbody a");
          await page.locator("tbody a").first().click();
          await page.waitForSelector(".ledger .row");
          await page.locator(".ledger .row").first().click();
          await page.waitForSelector(".drawer");
          assert.match(await page.textContent(".drawer"), /× \$[\d.]+ \/ M/);
        });

        it("counts memories as the command does", async (test) => {
          if (memories.length === 0) { test.skip("nothing is remembered here"); return; }
          await show(page, "#/memory", "table.memories");
          assert.match((await page.textContent(".population")).replaceAll(",", ""), new RegExp(`^\\s*${memories.length} of ${memories.length} memories`));
        });

        it("says so when an event or a session is not there", async () => {
          await show(page, "#/session/claude/nobody", ".state");
          assert.match(await page.textContent(".state"), /no such session/);
          await show(page, place(sessions[0], "?at=m%3A99999999x"), ".notice:has-text('There is no event')");
        });

        for (const theme of first ? ["light", "dark"] : [carrier === "folder" ? "dark" : "light"]) {
          it(`has no serious finding of axe, ${theme}`, async () => {
            await page.emulateMedia({ colorScheme: theme });
            assert.deepEqual(await findings(page, [["#/", ".kpi"], ["#/sessions", ".grid-table"], ["#/cost", "tfoot"], ["#/health", "dl.facts"], [`#/search?q=${word}`, ".hits"], [place(sessions[2] ?? sessions[0], "?panel=money"), ".turn-head"]]), []);
          });
        }

        it("fits a phone without a sideways scroll", async () => {
          await page.setViewportSize({ width: 320, height: 640 });
          for (const [hash, selector] of [["#/", ".kpi"], ["#/sessions", ".grid-table"], ["#/cost", "tfoot"], ["#/health", "dl.facts"], [place(sessions[0]), ".turn-head"]]) {
            await show(page, hash, selector);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), hash);
          }
          await page.setViewportSize({ width: 1360, height: 860 });
        });

        it("asked nobody else for anything, and nothing complained", () => {
          assert.deepEqual(trouble, []);
        });

        it("says what is missing when a chunk is gone", { skip: carrier === "server" }, async (test) => {
          renameSync(`${out}/data/s`, `${out}/data/gone`);
          test.after(() => renameSync(`${out}/data/gone`, `${out}/data/s`));
          await page.reload();
          await show(page, place(sessions[0]), ".state");
          assert.match(await page.textContent(".state"), /built without the text/);
        });
      });
    }

    it("goes into one file, which opens at the session", { skip: !first }, async () => {
      const session = sessionsOf(store).sessions[0];
      const { out } = build(store);
      const path = resolve(json(store, "dashboard", "build", "--no-sync", "--out", out, "--single-file", session.agent, session.session_id).path);
      const { page, trouble, context } = await watched(browser, `file://${path}`);
      await page.goto(`file://${path}`);
      await page.waitForSelector(".turn-head");
      assert.deepEqual(trouble, []);
      await context.close();
      rmSync(path, { force: true });
    });
  });
}
