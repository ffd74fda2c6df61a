// What a reader does with lists: groups, hides columns, marks, compares, previews, chooses a
// stretch of time. From the folder and from the server.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { STORES } from "../stores.mjs";
import { findings, json, launch, missing, opened, place, sessionsOf, show } from "./support.mjs";

const { name, make, keep, word } = STORES[0];
let browser, store, sessions;
before(async () => {
  if (missing) return;
  browser = await launch();
  store = make();
  ({ sessions } = sessionsOf(store, "--sort", "turns"));
});
after(async () => { await browser?.close(); if (store && !keep) rmSync(store, { recursive: true, force: true }); });

for (const carrier of ["folder", "server"]) {
  describe(`lists, ${name}, ${carrier}`, { skip: missing }, () => {
    let page, trouble, context, stop, out;
    before(async () => { ({ page, trouble, context, stop, out } = await opened(browser, store, carrier)); });
    after(async () => { await context?.close(); stop?.(); if (out && !keep) rmSync(out, { recursive: true, force: true }); });
    const texts = (selector) => page.evaluate((what) => [...document.querySelectorAll(what)].map((node) => node.textContent.trim()), selector);
    const all = (total) => page.waitForFunction((wanted) => document.querySelector(".population")?.textContent.replaceAll(",", "").trim().startsWith(`${wanted} of`), total);
    /** Every heading of the list, whatever of it is drawn: after as many sessions as one says comes the next. */
    const headings = () => page.evaluate(async () => {
      const box = document.querySelector(".grid-scroll");
      const lines = Number(document.querySelector(".grid-table").getAttribute("aria-rowcount")) - 1;
      const [found, due] = [new Map(), []];
      const look = async (line) => {
        box.scrollTop = (line / lines) * box.scrollHeight;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        for (const node of document.querySelectorAll(".grid-row.group")) found.set(Number(node.getAttribute("aria-rowindex")) - 2, { text: node.textContent, sessions: Number.parseInt(node.querySelector(".muted").textContent.replaceAll(",", "")) });
        if (document.querySelectorAll("*").length > 4_000) throw new Error("too many nodes");
      };
      let line = 0;
      while (line < lines) {
        await look(line);
        if (!found.has(line)) throw new Error(`line ${line} is no heading`);
        due.push(found.get(line).text);
        line += 1 + found.get(line).sessions;
      }
      await look(lines);
      if (line !== lines || found.size !== due.length) throw new Error(`${line} of ${lines} lines, ${due.length} of ${found.size} headings`);
      box.scrollTop = 0;
      return due;
    });

    it("groups sessions by project, and every session is in its group", async () => {
      await show(page, "#/sessions?group=project", ".grid-row.group");
      await all(sessions.length);
      const counted = new Map();
      for (const one of sessions) counted.set(one.project ?? "no project", (counted.get(one.project ?? "no project") ?? 0) + 1);
      const first = (await headings())[0];
      const [project] = [...counted.keys()].sort((a, b) => a.localeCompare(b));
      assert.ok(first.startsWith(project), `${first} is not of ${project}`);
      assert.match(first.replaceAll(",", ""), new RegExp(`\\b${counted.get(project)} sessions?\\b`));
      const rows = await page.getAttribute(".grid-table", "aria-rowcount");
      assert.equal(Number(rows), sessions.length + counted.size + 1);
    });

    it("groups sessions by day, newest first, and draws only what is in sight", async () => {
      await show(page, "#/sessions?group=day", ".grid-row.group");
      await all(sessions.length);
      const days = (await headings()).map((text) => text.match(/^[\d-]{10}|^undated/)[0]);
      assert.deepEqual(days, [...new Set(days)].sort().reverse());
      assert.ok((await page.locator(".grid-row").count()) < 80);
    });

    it("begins another order at its beginning", async () => {
      await show(page, "#/sessions?group=day", ".grid-row.group");
      await all(sessions.length);
      const top = () => page.evaluate(() => document.querySelector(".grid-scroll").scrollTop);
      for (const button of [".window button:has-text('project')", ".grid-table [role=columnheader] button"]) {
        await page.evaluate(() => { document.querySelector(".grid-scroll").scrollTop = 400; });
        await page.locator(button).first().click();
        assert.equal(await top(), 0, button);
      }
    });

    it("shows sub-agents under their sessions, and opens at one", async (test) => {
      await show(page, "#/sessions?group=tree", ".session-row");
      await all(sessions.length);
      await page.click(".window button:has-text('tree')");
      const kid = page.locator(".kid-link").first();
      await page.evaluate(async () => {
        const box = document.querySelector(".grid-scroll");
        while (!document.querySelector(".kid-link") && box.scrollTop + box.clientHeight < box.scrollHeight - 1 && box.scrollTop < 40_000) {
          box.scrollTop += 400;
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }
      });
      if ((await kid.count()) === 0) { test.skip("no sub-agent here is a session of its own"); return; }
      await kid.click();
      await page.waitForSelector(".crumbs");
      await page.waitForSelector(".turn-head");
    });

    it("leaves out the columns that were hidden, also after a reload", async () => {
      await show(page, "#/sessions", ".session-row");
      const heads = () => texts(".grid-row.head [role=columnheader]");
      assert.ok((await heads()).includes("Tokens"));
      await page.click(".columns summary");
      await page.click(".columns label:has-text('Tokens')");
      assert.ok(!(await heads()).includes("Tokens"));
      await page.reload();
      await page.waitForSelector(".session-row");
      assert.ok(!(await heads()).includes("Tokens"));
      assert.equal(await page.locator(".session-row").first().locator("[role=cell]").count(), (await heads()).length);
      await page.click(".columns summary");
      await page.click(".columns label:has-text('Tokens')");
      assert.ok((await heads()).includes("Tokens"));
    });

    it("marks rows by keyboard, copies them as text, compares two, and forgets them", async () => {
      await show(page, "#/sessions?sort=-turns", ".session-row");
      await all(sessions.length);
      for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
      await page.waitForSelector(".marked:has-text('2 sessions marked')");
      const ids = (await page.getAttribute(".marked button:has-text('Copy ids')", "title")).split("\n");
      assert.equal(ids.length, 2);
      const marked = ids.map((line) => sessions.find((one) => line === `${one.agent} ${one.session_id}`));
      assert.ok(marked.every(Boolean), ids.join());
      const links = (await page.getAttribute(".marked button:has-text('Copy links')", "title")).split("\n");
      marked.forEach((one, n) => assert.ok(links[n].includes(`#/session/${one.agent}/${one.session_id}`), links[n]));
      const resumable = marked.filter((one) => one.resume);
      if (resumable.length) assert.deepEqual((await page.getAttribute(".marked button:has-text('resume command')", "title")).split("\n"), resumable.map((one) => one.resume));
      await page.click(".marked button:has-text('Compare')");
      const turns = await texts(".compare tbody td");
      for (const one of marked) assert.ok(turns.includes(one.turns.toLocaleString("en-US")), `${one.turns} in ${turns}`);
      await page.keyboard.press("Escape");
      await page.waitForSelector(".compare", { state: "detached" });
      await page.keyboard.press("Escape");
      await page.waitForSelector(".marked", { state: "detached" });
      // A pointer can mark too.
      await page.locator(".marker").first().click();
      await page.waitForSelector(".marked:has-text('1 session marked')");
      await page.click(".marked button:has-text('Unmark all')");
    });

    it("previews the turn of a hit beside the list, by keyboard", async () => {
      await show(page, `#/search?q=${word}`, "a.hit");
      await page.waitForSelector(".snippet mark");
      await page.evaluate(() => document.getElementById("main").focus());
      await page.keyboard.press("j");
      await page.keyboard.press(" ");
      await page.waitForSelector(".preview-body [data-id]");
      // A server also finds by meaning, and in the rest of long outputs.
      if (carrier === "folder" || !keep) assert.ok((await page.textContent(".preview-body")).toLowerCase().includes(word));
      const shown = await page.textContent(".preview header");
      if ((await page.locator("a.hit").count()) > 3) {
        for (let n = 0; n < 3; n += 1) await page.keyboard.press("j");
        await page.waitForFunction((before) => document.querySelector(".preview header").textContent !== before && document.querySelector(".preview-body [data-id]"), shown);
      }
      await page.keyboard.press("Escape");
      await page.waitForSelector(".preview", { state: "detached" });
      assert.ok(await page.evaluate(() => document.activeElement.classList.contains("hit")));
      await page.locator(".hit-line button").first().click();
      await page.waitForSelector(".preview");
      await page.click(".preview header .plain");
    });

    it("sums over the stretch of time that is chosen on the ribbon", async () => {
      const one = sessions.find((session) => session.cost_usd > 0 && session.turns > 1 && session.turns < 400);
      const responses = json(store, "usage", "explain", one.agent, one.session_id, "--no-sync").responses.filter((row) => row.ts);
      await show(page, place(one, "?panel=money"), ".ledger .row");
      const box = await page.locator(".ribbon").boundingBox();
      const drag = async (from, to) => {
        await page.mouse.move(box.x + box.width * from, box.y + box.height / 2);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * to, box.y + box.height / 2, { steps: 4 });
        await page.mouse.up();
        await page.waitForSelector(".chosen-span");
        const [first, last] = new URL(page.url().replace("#/", "")).searchParams.get("span").split("-").map(Number);
        return responses.filter((row) => Date.parse(row.ts) >= first && Date.parse(row.ts) <= last).length;
      };
      const said = (wanted) => page.waitForFunction((many) => document.querySelector(".chosen-span").textContent.replaceAll(",", "").includes(`: ${many} response`), wanted);
      const half = await drag(0.1, 0.6);
      await said(half);
      assert.equal(await page.locator(".ledger .row").count(), Math.min(200, half));
      const whole = await drag(0, 1);
      assert.ok(whole >= half && whole > 0, `${half} of ${whole}`);
      await said(whole);
      await page.keyboard.press("Escape");
      await page.waitForSelector(".chosen-span", { state: "detached" });
      assert.doesNotMatch(page.url(), /span=/);
      // And by keyboard: the turn that is read, and the next one.
      await page.evaluate(() => document.querySelector(".turns").focus());
      await page.keyboard.press("v");
      await page.waitForSelector(".shade");
      await page.keyboard.press("Escape");
      await page.waitForSelector(".shade", { state: "detached" });
    });

    it("lists these keys, and axe finds nothing serious", async () => {
      await page.keyboard.press("?");
      const keys = await texts("dialog kbd");
      for (const key of ["x", "Space", "v"]) assert.ok(keys.includes(key), key);
      await page.keyboard.press("Escape");
      await show(page, "#/sessions?group=day", ".grid-row.group");
      for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
      await page.click(".marked button:has-text('Compare')");
      await page.click(".columns summary");
      assert.deepEqual(await findings(page, [["#/sessions?group=project", ".compare"]]), []);
      await page.click(".marked button:has-text('Unmark all')");
      await show(page, `#/search?q=${word}`, "a.hit");
      await page.locator(".hit-line button").first().click();
      await page.waitForSelector(".preview-body [data-id]");
      assert.deepEqual(await findings(page, [[`#/search?q=${word}`, ".preview"]]), []);
      const one = sessions.find((session) => session.turns > 1 && session.started_at);
      const from = Date.parse(one.started_at);
      assert.deepEqual(await findings(page, [[place(one, `?panel=time&span=${from}-${from + 3_600_000}`), ".chosen-span"]]), []);
    });

    it("asked nobody else for anything, and nothing complained", () => assert.deepEqual(trouble, []));
  });
}
