// What recurs, on the page: counted as the commands do, with evidence that leads to its events,
// and decided about where the page is served.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { demo, findings, json, launch, missing, opened, serve, show } from "./support.mjs";

const at = (id) => `#/patterns/${encodeURIComponent(id)}`;
const candidates = (store, ...flags) => {
  try {
    return json(store, "detect", "--limit", "0", ...flags).candidates;
  } catch (error) {
    // Exit 1: nothing fits.
    return JSON.parse(error.stdout).candidates;
  }
};
const catalog = (store) => json(store, "catalog", "list").patterns;

let browser;
before(async () => { if (!missing) browser = await launch(); });
after(() => browser?.close());

for (const carrier of ["folder", "server"]) {
  describe(`patterns, ${carrier}`, { skip: missing }, () => {
    let store, stop, page, trouble, context, all;
    before(async () => {
      store = demo();
      all = candidates(store);
      ({ stop, page, trouble, context } = await opened(browser, store, carrier));
    });
    after(async () => { await context?.close(); stop?.(); rmSync(store, { recursive: true, force: true }); });

    it("lists what the command lists, in its order", async () => {
      assert.ok(all.length >= 3);
      await page.click(".rail a:has-text('Patterns')");
      await page.waitForSelector("table.recurs");
      assert.match(await page.textContent(".population"), new RegExp(`^\\s*${all.length} of ${all.length} candidates`));
      assert.deepEqual(await page.locator("table.recurs a.what").allTextContents(), all.map((one) => one.title));
      await show(page, "#/", ".looks");
      assert.match(await page.textContent(".looks"), new RegExp(`${all.length} patterns to decide about`));
    });

    it("filters as the command does, under its names", async () => {
      for (const [flag, value] of [["type", "clean_pass"], ["agent", "grok"], ["project", "NOTES"]]) {
        const wanted = candidates(store, `--${flag}`, value);
        await show(page, `#/patterns?${flag}=${value}`, ".chip");
        await page.waitForFunction((n) => document.querySelector(".population")?.textContent.trim().startsWith(`${n} of`), flag === "type" ? wanted.length : all.filter((one) => (flag === "agent" ? one.agents.includes(value) : one.repos.some((repo) => repo.toLowerCase().includes("notes")))).length);
        assert.equal(await page.getAttribute(".population button", "title"), `retro detect --${flag} ${value}`);
      }
    });

    it("shows one with its evidence, which leads to the event, its trend and its cost", async () => {
      const one = all.find((candidate) => candidate.type === "recurring_error" || candidate.type === "repeated_errors") ?? all[0];
      await show(page, at(one.key), ".quote");
      assert.equal(await page.textContent("h1"), one.title);
      const weeks = await page.locator(".weeks li .num:last-child").allTextContents();
      assert.equal(weeks.reduce((sum, n) => sum + Number(n), 0), one.sessions.length);
      assert.match(await page.textContent(".population"), new RegExp(`${one.frequency} times in ${one.sessions.length} sessions`));
      await page.locator(".quote a").first().click();
      await page.waitForSelector(".slot:focus");
      assert.equal(await page.locator(".notice, .note-line").filter({ hasText: "There is no event" }).count(), 0);
    });

    it("names the command from disk, without buttons", { skip: carrier === "server" }, async () => {
      await show(page, at(all[0].key), ".verdicts");
      assert.equal(await page.locator(".verdicts button").count(), 0);
      assert.match(await page.textContent(".verdicts"), /retro curate/);
    });

    it("decides when it is served: rejects, discusses, approves, and takes a person's words", { skip: carrier === "folder" }, async () => {
      const [first, second, third] = all;
      const decide = async (one, name, said) => {
        await show(page, at(one.key), ".verdicts button");
        await page.click(`.verdicts button:has-text("${name}")`);
        await page.waitForFunction((words) => document.querySelector("[aria-live] .notice")?.textContent.includes(words), said);
      };
      await decide(first, "Reject", "rejected");
      assert.equal(candidates(store).find((one) => one.key === first.key).new, false);
      await decide(second, "Discuss", "left open");
      assert.equal(candidates(store).find((one) => one.key === second.key).new, true);
      await decide(second, "Approve", "written down");
      assert.equal(catalog(store)[0].status, "approved");
      await page.waitForSelector(".hint");
      await show(page, at(third.key), ".verdicts button");
      await page.keyboard.press("e");
      await page.waitForSelector(".own-words");
      await page.fill(".own-words label:has-text('Title') input", "<b>In my words</b>");
      await page.fill(".own-words label:has-text('What helps') input", "ask the platform team");
      await page.click(".own-words button");
      await page.waitForFunction(() => document.querySelector("h1")?.textContent === "<b>In my words</b>");
      const own = catalog(store).find((one) => one.title === "<b>In my words</b>");
      assert.equal(own.resolutions[0].text, "ask the platform team");
      await show(page, "#/patterns", "table.catalog");
      assert.equal(await page.locator("table.catalog tbody tr").count(), 2);
      assert.deepEqual(json(store, "decisions", "list").decisions.map((one) => one.decision), ["rejected", "discussed", "approved", "approved"]);
      assert.deepEqual(trouble, []);
    });

    for (const theme of ["light", "dark"]) {
      it(`has no serious finding of axe, ${theme}`, async () => {
        await page.emulateMedia({ colorScheme: theme });
        assert.deepEqual(await findings(page, [["#/patterns", "table.recurs"], [at(all[0].key), ".quote"], [at("nobody"), ".state"]]), []);
      });
    }

    it("asked nobody else for anything, and nothing complained", () => {
      assert.deepEqual(trouble, []);
    });
  });
}

describe("decisions about patterns", { skip: missing }, () => {
  it("are taken only from a page of this server, about the evidence that it showed", async (test) => {
    const store = demo();
    test.after(() => rmSync(store, { recursive: true, force: true }));
    const { address, stop } = await serve(store, "--no-sync");
    test.after(stop);
    const { port, search } = new URL(address);
    const host = `127.0.0.1:${port}`;
    const ask = (method, path, headers, body = "") => new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path, method, headers: { ...headers, "content-length": Buffer.byteLength(body) }, setHost: false }, (answer) => {
        let text = "";
        answer.on("data", (piece) => (text += piece));
        answer.on("end", () => resolve({ statusCode: answer.statusCode, headers: answer.headers, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
    const cookie = (await ask("GET", `/${search}`, { host })).headers["set-cookie"][0].split(";")[0];
    const own = { host, cookie, origin: `http://${host}`, "x-retro": "1" };
    const shown = JSON.parse((await ask("GET", "/data/patterns.json", own)).text).candidates[0];
    const good = { key: shown.key, evidence: shown.evidence, verdict: "approve" };
    const body = JSON.stringify(good);
    const { origin, ...silent } = own;
    const { cookie: _, ...stranger } = own;
    const { "x-retro": __, ...form } = own;
    for (const headers of [{ ...own, origin: "http://evil.example" }, { ...own, origin: "null" }, silent, { ...own, host: `evil.example:${port}` }, stranger, { ...own, cookie: "retro=guess" }, form]) {
      assert.equal((await ask("POST", "/patterns", headers, body)).statusCode, 403, JSON.stringify({ ...headers, cookie: Boolean(headers.cookie) }));
    }
    for (const [method, text, status] of [
      ["GET", "", 405], ["DELETE", "", 405], ["POST", "{", 400], ["POST", JSON.stringify({ ...good, verdict: "forget" }), 400],
      ["POST", JSON.stringify({ ...good, key: "nobody" }), 404], ["POST", JSON.stringify({ ...good, evidence: "older" }), 409],
      ["POST", JSON.stringify({ ...good, title: "x".repeat(20_000) }), 413],
    ]) assert.equal((await ask(method, "/patterns", own, text)).statusCode, status, `${method} ${text.slice(0, 80)}`);
    assert.deepEqual(catalog(store), []);
    assert.equal((await ask("POST", "/patterns", own, body)).statusCode, 200);
    assert.equal(catalog(store)[0].id, good.key);
    // A file of the catalog that cannot be read is named, not written over.
    writeFileSync(join(store, "store/patterns/catalog", `${good.key}.json`), "<<<<<<< ours\n");
    assert.equal((await ask("POST", "/patterns", own, body)).statusCode, 500);
  });
});
