// Readers, machines and moments that differ: live logs, zoom, colours, print, damaged folders.
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { STORES } from "../stores.mjs";
import { build, json, launch, memoriesOf, missing, opened, place, retro, serve, sessionsOf, show, visit, watched } from "./support.mjs";

let browser, store, address, sessions, memory;
before(async () => {
  if (missing) return;
  store = STORES[0].make();
  ({ address } = build(store));
  sessions = sessionsOf(store, "--sort", "turns").sessions;
  memory = memoriesOf(store).find((one) => one.method === "user_rules");
  browser = await launch();
});
after(async () => { await browser?.close(); if (store && !STORES[0].keep) rmSync(store, { recursive: true, force: true }); });

const everywhere = () => [
  ["#/", ".kpi"], ["#/sessions", ".grid-table"], [`#/search?q=${STORES[0].word}`, ".hits"], ["#/cost", "tfoot"], ["#/signals", "table.signals"],
  ["#/signals/failed_command_ratio", ".spread"], ...(memory ? [["#/memory", "table.memories"], [`#/memory/${encodeURIComponent(memory.id)}`, ".quote"]] : []), ["#/health", "dl.facts"], [place(sessions[0]), ".turn-head"], [place(sessions[0], "?panel=signals"), ".panel"],
];
const open = (options = {}) => visit(browser, { address }, options);

describe("a reader", { skip: missing }, () => {
  for (const [name, options] of [
    ["with a phone", { viewport: { width: 320, height: 640 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }],
    ["with 200 % zoom", { viewport: { width: 680, height: 430 }, deviceScaleFactor: 2 }],
  ]) {
    it(`${name} scrolls no view sideways`, async () => {
      const { page, trouble, context } = await open(options);
      for (const [hash, selector] of everywhere()) {
        await show(page, hash, selector);
        const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(wide[0] <= wide[1], `${hash}: ${wide[0]} px on ${wide[1]} px`);
      }
      assert.deepEqual(trouble, []);
      await context.close();
    });
  }

  it("without a mouse reaches content, turns, moments, panel and find", async () => {
    const { page, context } = await open();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
    const failed = sessions.find((one) => one.outcome === "failed") ?? sessions[0];
    await show(page, place(failed, "?panel=moments"), ".moments li");
    await page.keyboard.press("e");
    await page.waitForFunction(() => location.hash.includes("at="));
    await page.waitForSelector(".slot:focus");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.activeElement?.dataset.key?.startsWith("t"));
    await page.keyboard.press(".");
    await page.waitForSelector(".panel", { state: "detached" });
    await page.keyboard.press("/");
    await page.waitForSelector(".find input:focus");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".find", { state: "detached" });
    await context.close();
  });

  it("in the dark sees the dark colours, and can choose the light ones", async () => {
    const { page, context } = await open({ colorScheme: "dark" });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await ground(), "rgb(17, 20, 19)");
    await page.click('button[title^="Theme"]');
    await page.click('button[title^="Theme"]');
    assert.equal(await ground(), "rgb(251, 251, 250)");
    await context.close();
  });

  it("with forced colours still sees what is chosen", async () => {
    const { page, context } = await open({ forcedColors: "active" });
    const outline = (selector) => page.evaluate((name) => getComputedStyle(document.querySelector(name)).outlineStyle, selector);
    assert.equal(await outline(".rail a[aria-current]"), "solid");
    await show(page, "#/sessions", ".outcome");
    assert.match(await page.textContent(".grid-scroll .outcome"), /success|failed|abandoned|unknown/);
    await context.close();
  });

  it("who wants no motion gets none", async () => {
    const { page, context } = await open({ reducedMotion: "reduce" });
    await show(page, place(sessions[0], "?panel=moments"), ".turn-head");
    const moving = await page.evaluate(() => document.getAnimations().length);
    assert.equal(moving, 0);
    await context.close();
  });

  it("prints the whole session, without the frame", async () => {
    const { page, context } = await open();
    const whole = sessions.find((one) => one.turns <= 60);
    await show(page, place(whole, "?plain=1"), ".turn-head");
    await page.waitForFunction(() => document.querySelector(".turns .spacer")?.style.height === "auto");
    await page.emulateMedia({ media: "print" });
    const seen = await page.evaluate(() => ({
      turns: document.querySelectorAll(".turn-head").length,
      frame: [...document.querySelectorAll(".rail, .top, .outline, .panel")].filter((node) => node.getClientRects().length).length,
      box: getComputedStyle(document.querySelector(".turns")).overflow,
    }));
    assert.deepEqual([seen.frame, seen.box], [0, "visible"]);
    assert.ok(seen.turns >= whole.turns, `${seen.turns} of ${whole.turns} turns`);
    await context.close();
  });
});

describe("signals", { skip: missing }, () => {
  /** A count as the page writes it. */
  const brief = (value) => (value < 1_000 ? String(value) : `${(value / 1_000).toFixed(value < 10_000 ? 2 : value < 100_000 ? 1 : 0)} k`);
  it("count as the command does, and lead to their events", async () => {
    const { page, trouble, context } = await open();
    const outcomes = json(store, "outcome", "--no-sync");
    const real = outcomes.sessions.filter((one) => one.real);
    await show(page, "#/signals", "table.signals");
    for (const value of ["success", "failed", "abandoned", "unknown"]) {
      const wanted = real.filter((one) => one.outcome.value === value).length;
      const shown = await page.evaluate((word) => [...document.querySelectorAll(".spread a")].find((node) => node.textContent.includes(word))?.querySelector(".num")?.textContent ?? "0", value);
      assert.equal(Number(shown.replaceAll(",", "")), wanted, value);
    }
    for (const one of sessions.slice(0, 4)) {
      const said = json(store, "signal", "show", one.agent, one.session_id, "--no-sync");
      const reading = said.readings.find((row) => row.signal === "failed_command_count");
      await show(page, place(one, "?panel=signals&signal=failed_command_count"), ".readings tr.chosen");
      assert.equal(await page.textContent(".readings tr.chosen td"), brief(reading.value));
      for (const [n, id] of reading.evidence_refs.slice(0, 2).entries()) {
        await page.locator(".readings tr.chosen td button").nth(n).click();
        await page.waitForFunction((event) => location.hash.includes(encodeURIComponent(event)), id.replace(/^[^/#]*\//, ""));
        await page.waitForSelector(".slot:focus");
      }
    }
    assert.deepEqual(trouble, []);
    await context.close();
  });

  it("choose sessions by how they ended", async () => {
    const { page, context } = await open();
    const ended = (sessions.find((one) => one.outcome && one.outcome !== "success") ?? sessions[0]).outcome;
    const list = sessionsOf(store, "--outcome", ended);
    await show(page, `#/sessions?outcome=${ended}`, ".population");
    assert.match((await page.textContent(".population")).replaceAll(",", ""), new RegExp(`^\\s*${list.total} of`));
    await context.close();
  });
});

describe("the served search", { skip: missing }, () => {
  it("answers as the command does, and leads to the turn", async (test) => {
    const { page, trouble, context, stop } = await opened(browser, store, "server");
    test.after(stop);
    const question = STORES[0].first ? "why did rounding the VAT fail" : STORES[0].word;
    const said = json(store, "search", question, "--no-sync", "--limit", "40");
    await show(page, `#/search?${new URLSearchParams({ q: question })}`, ".hits li");
    const shown = await page.evaluate(() => [...document.querySelectorAll(".hits > li h2 a")].map((node) => node.getAttribute("href").match(/session\/\w+\/([^?]+)/)[1]));
    const wanted = [...new Set(said.hits.map((hit) => hit.session_id))];
    assert.equal(shown[0], wanted[0]);
    assert.match(await page.textContent(".population"), /Words and meaning/);
    await page.locator("a.hit").first().click();
    await page.waitForSelector(".slot:focus");
    assert.match(page.url(), /at=/);
    assert.deepEqual(trouble, []);
    await context.close();
  });

  it("shows the record behind a response, without secrets", async (test) => {
    const { page, trouble, context, stop } = await opened(browser, store, "server");
    test.after(stop);
    await show(page, place(sessions.find((one) => one.cost_usd > 0), "?panel=money"), ".ledger .row");
    await page.locator(".ledger .row").first().click();
    await page.click(".drawer button:has-text('raw record')");
    await page.waitForSelector(".raw-record");
    assert.match(await page.textContent(".raw-record"), /[{"]/);
    assert.deepEqual(trouble, []);
    await context.close();
  });
});

describe("pictures", { skip: missing }, () => {
  const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  it("are files beside the page, and inside a single file", async (test) => {
    const own = mkdtempSync(join(tmpdir(), "retro-picture-"));
    test.after(() => rmSync(own, { recursive: true, force: true }));
    const folder = join(own, "home/.claude/projects/-home-dev-shop");
    mkdirSync(folder, { recursive: true });
    const base = { isSidechain: false, sessionId: "picture-1", cwd: "/home/dev/shop", version: "2.0.0" };
    const lines = [
      { ...base, type: "user", uuid: "u1", parentUuid: null, timestamp: "2026-03-01T10:00:00.000Z", message: { role: "user", content: [{ type: "text", text: "Why is the dot red?" }, { type: "image", source: { type: "base64", media_type: "image/png", data: DOT } }, { type: "image", source: { type: "base64", media_type: "image/svg+xml", data: Buffer.from("<svg onload=alert(1)>").toString("base64") } }] } },
      { ...base, type: "assistant", uuid: "u2", parentUuid: "u1", requestId: "r1", timestamp: "2026-03-01T10:00:09.000Z", message: { id: "m1", role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: "It is one red pixel." }], usage: { input_tokens: 9, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 } } },
    ];
    writeFileSync(join(folder, "picture-1.jsonl"), lines.map((one) => JSON.stringify(one)).join("\n") + "\n");
    retro(own, "sync");
    const { out, address } = build(own);
    const file = JSON.parse(retro(own, "dashboard", "build", "--no-sync", "--json", "--out", out, "--single-file", "claude", "picture-1"));
    const whole = resolve(file.path);
    test.after(() => { rmSync(whole, { force: true }); });
    for (const place of [`${address}#/session/claude/picture-1`, `file://${whole}`]) {
      const { page, trouble, context } = await watched(browser, place.startsWith(address) ? address.replace("index.html", "") : place);
      await page.goto(place);
      await page.waitForFunction(() => document.querySelector(".pictures img")?.naturalWidth === 1);
      assert.equal(await page.locator(".pictures img").count(), 1);
      assert.deepEqual(trouble, []);
      await context.close();
    }
    const strict = build(own, "--redact", "strict");
    assert.throws(() => readdirSync(join(strict.out, "img")));
  });
});

describe("a damaged folder", { skip: missing }, () => {
  it("of which a chunk is of another build says so", async () => {
    const { out: own, address } = build(store);
    const { page, context } = await watched(browser, address.replace("index.html", ""));
    const folder = join(own, "data/s");
    for (const below of readdirSync(folder)) for (const file of readdirSync(join(folder, below))) {
      const path = join(folder, below, file);
      if (file.endsWith(".h.js")) writeFileSync(path, readFileSync(path, "utf8").replace(/^(retro\("[^"]+", ?")[0-9a-f]+/, "$10000000000000000"));
    }
    await page.goto(address);
    await page.waitForSelector(".kpi");
    await show(page, place(sessions[0]), ".state");
    assert.match(await page.textContent(".state"), /built again/);
    await context.close();
  });
});

describe("a live session", { skip: missing }, () => {
  /** A trial takes more. */
  const APPENDS = process.env.RETRO_TRIAL ? 200 : 12;
  const line = (n, kind) => JSON.stringify(kind === "user"
    ? { type: "user", uuid: `u${n}`, parentUuid: n ? `a${n - 1}` : null, sessionId: "live-1", cwd: "/home/dev/live", version: "2.0.0", timestamp: new Date(1_770_000_000_000 + n * 60_000).toISOString(), message: { role: "user", content: `message number ${n} ${"with words ".repeat(12)}` } }
    : { type: "assistant", uuid: `a${n}`, parentUuid: `u${n}`, sessionId: "live-1", cwd: "/home/dev/live", version: "2.0.0", timestamp: new Date(1_770_000_000_000 + n * 60_000 + 9_000).toISOString(), requestId: `r${n}`, message: { id: `m${n}`, role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: `answer number ${n}\n\n${"more words here. ".repeat(40)}` }], usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 } } });

  it("grows without taking the scroll, and follows who is at its end", async (test) => {
    const own = mkdtempSync(join(tmpdir(), "retro-live-"));
    test.after(() => rmSync(own, { recursive: true, force: true }));
    const folder = join(own, "home/.claude/projects/-home-dev-live");
    mkdirSync(folder, { recursive: true });
    const log = join(folder, "live-1.jsonl");
    for (let n = 0; n < 30; n += 1) appendFileSync(log, `${line(n, "user")}\n${line(n, "assistant")}\n`);
    retro(own, "sync");
    const { address, base, stop } = await serve(own);
    test.after(stop);
    const { page, trouble, context } = await visit(browser, { address, base });
    await show(page, "#/session/claude/live-1", ".turn-head");
    const top = () => page.evaluate(() => {
      const node = [...document.querySelectorAll(".turns .slot")].find((one) => one.getBoundingClientRect().bottom > document.querySelector(".turns").getBoundingClientRect().top + 1);
      return [node?.dataset.key, Math.round(node?.getBoundingClientRect().top)];
    });
    await page.evaluate(() => { document.querySelector(".turns").scrollTop = 900; });
    await page.waitForFunction(() => document.querySelector(".turns").scrollTop > 800);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    // Who reads keeps the place and the focus, however much comes.
    await page.evaluate(() => [...document.querySelectorAll(".turns .slot")].find((one) => one.getBoundingClientRect().top > 300).focus({ preventScroll: true }));
    const focus = () => page.evaluate(() => document.activeElement?.dataset.key);
    const before = [await top(), await focus()];
    for (let n = 30; n < 30 + APPENDS; n += 1) {
      appendFileSync(log, `${line(n, "user")}\n${line(n, "assistant")}\n`);
      if (n % 10 === 0) { await page.waitForSelector(".pill.at-end", { timeout: 60_000 }); assert.deepEqual([await top(), await focus()], before); }
    }
    await page.waitForFunction((many) => document.querySelector(".pill.at-end")?.textContent.startsWith(`${many} new`), APPENDS, { timeout: 120_000 });
    assert.deepEqual([await top(), await focus()], before);
    await page.click(".pill.at-end");
    await page.waitForFunction(() => { const box = document.querySelector(".turns"); return box.scrollHeight - box.scrollTop - box.clientHeight < 48; });
    appendFileSync(log, `${line(30 + APPENDS, "user")}\n${line(30 + APPENDS, "assistant")}\n`);
    await page.waitForFunction((said) => document.querySelector(".turns").textContent.includes(said), `answer number ${30 + APPENDS}`, { timeout: 60_000 });
    assert.deepEqual(trouble, []);
    await context.close();
  });
});
