// Other stores than the demo's: five hundred generated sessions, and logs that the agents'
// own programs wrote. Every view opens, a session opens, a search finds, nothing complains.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { build, launch, missing, retro, serve, show, watched } from "./support.mjs";

const CORPUS = process.env.RETRO_CORPUS ? join(process.env.RETRO_CORPUS, "genuine") : "";
const noCorpus = missing || (existsSync(CORPUS) ? false : "RETRO_CORPUS names no folder with genuine logs");
const COUNT = 500;

let browser;
before(async () => { if (!missing) browser = await launch(); });
after(() => browser?.close());

/** Sessions of three turns; every fifth has a failure that an edit mends, every seventh a rule. */
function generated(store) {
  for (let n = 0; n < COUNT; n += 1) {
    const [id, project] = [`made-${String(n).padStart(4, "0")}`, `p${n % 12}`];
    const folder = join(store, `home/.claude/projects/-home-dev-${project}`);
    mkdirSync(folder, { recursive: true });
    let parent = null;
    let time = 1_760_000_000_000 + n * 5_400_000;
    const lines = [];
    const put = (type, message, extra = {}) => {
      const uuid = `${id}-${lines.length}`;
      lines.push(JSON.stringify({ type, uuid, parentUuid: parent, sessionId: id, cwd: `/home/dev/${project}`, gitBranch: "main", version: "2.0.0", timestamp: new Date((time += 5_000)).toISOString(), ...extra, message }));
      parent = uuid;
    };
    const answer = (content) => put("assistant", { id: `${id}m${lines.length}`, role: "assistant", model: "claude-sonnet-4-5", content, usage: { input_tokens: 100 + n, output_tokens: 40, cache_read_input_tokens: 9_000, cache_creation_input_tokens: 300 } }, { requestId: `${id}r${lines.length}` });
    const call = (name, input, output, failed = false) => {
      answer([{ type: "tool_use", id: `t${lines.length}`, name, input }]);
      put("user", { role: "user", content: [{ type: "tool_result", tool_use_id: `t${lines.length - 1}`, is_error: failed, content: output }] });
    };
    for (let turn = 0; turn < 3; turn += 1) {
      put("user", { role: "user", content: turn === 1 && n % 7 === 0 ? "No, never use tabs here. Always run make check first." : `Change number ${turn} of widget ${n}, please.` });
      if (n % 5 === 0) call("Bash", { command: "make check" }, `Exit code 2\nerror: widget ${n} has the wrong shape`, true);
      call("Edit", { file_path: `/home/dev/${project}/src/widget${n}.rs`, old_string: `let a = ${turn};`, new_string: `let a = ${turn + 1};` }, "The file was updated.");
      call("Bash", { command: "make check" }, "all checks passed");
      answer([{ type: "text", text: `Widget ${n} is changed, and the checks pass.` }]);
    }
    const file = join(folder, `${id}.jsonl`);
    writeFileSync(file, `${lines.join("\n")}\n`);
    // Nobody has written to it since, so that it counts as over.
    utimesSync(file, time / 1_000, time / 1_000);
  }
  retro(store, "sync");
}

/** Everything that the agents' programs wrote, in one store. */
function genuine(store) {
  mkdirSync(join(store, "home"), { recursive: true });
  retro(store, "sync", "--from", CORPUS);
}

for (const [name, fill, skip, word] of [["generated", generated, missing, "widget"], ["genuine", genuine, noCorpus, "test"]]) {
  describe(`a store of ${name} sessions`, { skip }, () => {
    let store;
    before(() => { store = mkdtempSync(join(tmpdir(), "retro-store-")); fill(store); });
    after(() => { if (store) rmSync(store, { recursive: true, force: true }); });

    for (const carrier of ["folder", "server"]) {
      it(`opens in every view, ${carrier}`, async (test) => {
        let address, base, stop;
        if (carrier === "folder") {
          ({ address } = build(store));
          base = address.replace("index.html", "");
        } else ({ address, base, stop } = await serve(store, "--no-sync"));
        test.after(() => stop?.());
        const { page, trouble, context } = await watched(browser, base);
        await page.goto(address);
        await page.waitForSelector(".kpi strong");
        const list = JSON.parse(retro(store, "list", "--json", "--no-sync", "--limit", "0"));
        const memories = JSON.parse(retro(store, "memory", "list", "--json")).memories;
        for (const [hash, selector] of [["#/sessions", "a.grid-row"], ["#/cost", "tfoot"], ["#/signals", "table.signals"], ["#/signals/failed_command_ratio", ".spread"], ["#/health", "dl.facts"]]) await show(page, hash, selector);
        await show(page, "#/sessions", "a.grid-row");
        await page.waitForFunction((total) => document.querySelector(".population")?.textContent.replaceAll(",", "").trim().startsWith(`${total} of`), list.total);
        await page.locator("a.grid-row").first().click();
        await page.waitForSelector(".turn-head");
        await show(page, `#/search?q=${word}`, ".hits li");
        await page.locator("a.hit").first().click();
        await page.waitForSelector(".turn-head");
        assert.ok(memories.length > 0);
        await show(page, "#/memory", "table.memories");
        assert.match((await page.textContent(".population")).replaceAll(",", ""), new RegExp(`^\\s*${memories.length} of ${memories.length} memories`));
        for (const one of memories.filter((memory) => memory.evidence_refs.length).slice(0, 6)) {
          await show(page, `#/memory/${encodeURIComponent(one.id)}`, ".quote a, .plain-list a");
          await page.locator(".quote a, .two .plain-list a").first().click();
          await page.waitForSelector(".slot:focus");
          assert.equal(await page.locator(".notice").filter({ hasText: "There is no event" }).count(), 0, one.id);
        }
        assert.deepEqual(trouble, []);
        await context.close();
      });
    }
  });
}
