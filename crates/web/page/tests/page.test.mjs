// The same specification against the folder on disk and against the server.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";
import { build, demo, launch, missing, retro, serve, show, watched } from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser, store;
before(async () => { if (!missing) { store = demo(); browser = await launch(); } });
after(async () => { await browser?.close(); if (store) rmSync(store, { recursive: true, force: true }); });

for (const carrier of ["folder", "server"]) {
  describe(carrier, { skip: missing }, () => {
    let address, base, stop, page, trouble, context, out;
    before(async () => {
      if (carrier === "folder") {
        ({ out, address } = build(store));
        base = address.replace("index.html", "");
      } else ({ address, base, stop } = await serve(store, "--no-sync"));
      ({ page, trouble, context } = await watched(browser, base));
      await page.goto(address);
      await page.waitForSelector(".kpi strong");
    });
    after(async () => { await context?.close(); stop?.(); });

    it("shows the same totals as the commands", async () => {
      const usage = JSON.parse(retro(store, "usage", "daily", "--json", "--no-sync"));
      const text = await page.textContent(".kpi strong");
      assert.equal(text.replace(/^≥ /, ""), `$${usage.totals.cost_usd.toFixed(2)}`);
      const list = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0"));
      assert.match(await page.textContent(".population"), new RegExp(`^\\s*${list.total} of ${list.total} sessions`));
    });

    it("agrees with the commands under every chip", async () => {
      for (const [name, values] of [["agent", ["claude", "codex", "grok"]], ["project", ["shop", "notes", "infra"]]]) {
        for (const value of values) {
          const usage = JSON.parse(retro(store, "usage", "model", "--json", "--no-sync", `--${name}`, value));
          const list = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0", `--${name}`, value));
          await show(page, `#/cost?${name}=${value}`, "tfoot");
          const cost = usage.totals.cost_usd === null ? "—" : `$${usage.totals.cost_usd.toFixed(2)}`;
          await page.waitForFunction((wanted) => document.querySelector("tfoot td:nth-last-child(2)")?.textContent.replace("≥ ", "").startsWith(wanted.slice(0, 4)), cost);
          assert.equal((await page.textContent("tfoot td:nth-child(3)")).replaceAll(",", ""), String(usage.totals.responses));
          await show(page, `#/sessions?${name}=${value}`, ".grid-table");
          assert.match(await page.textContent(".population"), new RegExp(`^\\s*${list.total} of`));
        }
      }
    });

    it("opens a session, reads it, goes back", async () => {
      await show(page, "#/sessions?sort=-turns", ".grid-table a.grid-row");
      await page.click("a.grid-row");
      await page.waitForSelector(".turn-head");
      assert.ok((await page.locator(".prompt").count()) > 0);
      assert.ok((await page.locator(".outline-turn").count()) > 1);
      await page.goBack();
      await page.waitForSelector(".grid-table");
    });

    it("leads from a moment to its event, and a link lands there", async () => {
      const sessions = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0")).sessions;
      let shown = 0;
      for (const one of sessions) {
        await show(page, `#/session/${one.agent}/${one.session_id}?panel=moments`, ".turn-head");
        await page.waitForSelector(".panel");
        const first = page.locator(".moments li .link").first();
        if ((await first.count()) === 0) continue;
        await first.click();
        await page.waitForSelector(".flash, .slot:focus");
        const at = new URL(page.url().replace("#/", "")).searchParams.get("at");
        const seen = await page.evaluate((id) => {
          const node = document.querySelector(`[data-id="${CSS.escape(id)}"], [data-result="${CSS.escape(id)}"]`);
          const box = node?.getBoundingClientRect();
          return box ? box.top >= 0 && box.top < innerHeight : document.querySelector(".slot:focus") !== null;
        }, at);
        assert.ok(seen, `${one.session_id} ${at}`);
        if (++shown >= 6) break;
      }
      assert.ok(shown > 2);
    });

    it("finds folded text, and searches all turns", async () => {
      await show(page, "#/search?q=VAT", ".hits li");
      assert.ok((await page.locator(".hits li").count()) > 1);
      await page.waitForSelector(".snippet mark");
      await page.locator("a.hit").first().click();
      await page.waitForSelector(".turn-head");
      await page.keyboard.press("/");
      await page.fill(".find input", "vat");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => /\d+ of \d+/.test(document.querySelector(".find")?.textContent ?? ""));
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

    it("says so when an event or a session is not there", async () => {
      await show(page, "#/session/claude/nobody", ".state");
      assert.match(await page.textContent(".state"), /no such session/);
    });

    for (const theme of ["light", "dark"]) {
      it(`has no serious finding of axe, ${theme}`, async () => {
        await page.emulateMedia({ colorScheme: theme });
        const session = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0")).sessions[2];
        for (const [hash, selector] of [["#/", ".kpi"], ["#/sessions", ".grid-table"], ["#/cost", "tfoot"], ["#/health", "dl.facts"], ["#/search?q=test", ".hits"], [`#/session/${session.agent}/${session.session_id}?panel=money`, ".turn-head"]]) {
          await show(page, hash, selector);
          // From disk no script may be evaluated into the page by its own policy; the driver may.
          await page.evaluate(axe).catch(() => {});
          const findings = await page.evaluate(async () => {
            const result = await globalThis.axe.run(document, { resultTypes: ["violations"], preload: false });
            return result.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
          });
          assert.deepEqual(findings, [], hash);
        }
      });
    }

    it("fits a phone without a sideways scroll", async () => {
      await page.setViewportSize({ width: 320, height: 640 });
      const session = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0")).sessions[1];
      for (const [hash, selector] of [["#/", ".kpi"], ["#/sessions", ".grid-table"], ["#/cost", "tfoot"], [`#/session/${session.agent}/${session.session_id}`, ".turn-head"]]) {
        await show(page, hash, selector);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), hash);
      }
      await page.setViewportSize({ width: 1360, height: 860 });
    });

    it("asked nobody else for anything, and nothing complained", () => {
      assert.deepEqual(trouble, []);
    });

    it("says what is missing when a chunk is gone", { skip: carrier === "server" }, async () => {
      rmSync(`${out}/data/s`, { recursive: true, force: true });
      await page.reload();
      const session = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0")).sessions[3];
      await show(page, `#/session/${session.agent}/${session.session_id}`, ".state");
      assert.match(await page.textContent(".state"), /built without the text/);
    });
  });
}

describe("one file", { skip: missing }, () => {
  it("holds a session and opens at it", async () => {
    const { out } = build(store);
    const session = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0")).sessions[0];
    const { execFileSync } = await import("node:child_process");
    const { RETRO } = await import("./support.mjs");
    const name = execFileSync(RETRO, ["--home", `${store}/home`, "--root", `${store}/store`, "dashboard", "build", "--no-sync", "--out", out, "--single-file", session.agent, session.session_id], { cwd: store, encoding: "utf8" }).trim();
    const base = `file://${store}/${name}`;
    const { page, trouble, context } = await watched(browser, base);
    await page.goto(base);
    await page.waitForSelector(".turn-head");
    assert.deepEqual(trouble, []);
    await context.close();
  });
});
