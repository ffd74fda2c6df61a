// Transcripts that try to become code: as title, folder, branch, model, tool, output, link.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { build, launch, missing, retro, serve, show, watched } from "./support.mjs";

const PAYLOADS = [
  "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "javascript:alert(1)",
  "[x](javascript:alert(1))", "![x](http://evil.example/a.png)", "<a href=\"http://evil.example\">x</a>", "{{constructor.constructor('alert(1)')()}}",
  "</script><script>alert(1)</script>", "';alert(1)//", "\u202egnp.exe", "\u0000\u001b[31mred\u001b]0;title\u0007", "%3Cscript%3E", "<style>*{display:none}</style>",
  "<iframe src=http://evil.example></iframe>", "<base href=http://evil.example>", "<meta http-equiv=refresh content='0;url=http://evil.example'>", "__proto__", "constructor", "../../../../etc/passwd",
];

function write(store) {
  PAYLOADS.forEach((payload, n) => {
    const id = `attack-${n}`;
    const folder = join(store, "home/.claude/projects/-x");
    mkdirSync(folder, { recursive: true });
    const base = { isSidechain: false, sessionId: id, cwd: `/home/dev/${payload}`, gitBranch: payload, version: payload, timestamp: `2026-03-01T10:0${n % 10}:00.000Z` };
    const use = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const lines = [
      { type: "summary", summary: payload, leafUuid: "u1" },
      { ...base, type: "user", uuid: "u1", parentUuid: null, message: { role: "user", content: payload } },
      { ...base, type: "assistant", uuid: "u2", parentUuid: "u1", requestId: "r1", message: { id: `m${n}`, role: "assistant", model: payload, content: [{ type: "text", text: `${payload}\n\n\`\`\`${payload}\n${payload}\n\`\`\`\n\n[link](http://evil.example/${n})` }, { type: "tool_use", id: "t1", name: payload, input: { command: payload, file_path: payload, old_string: payload, new_string: `${payload}2` } }], usage: use } },
      { ...base, type: "user", uuid: "u3", parentUuid: "u2", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", is_error: true, content: payload }] } },
      { ...base, type: "assistant", uuid: "u4", parentUuid: "u3", requestId: "r2", message: { id: `n${n}`, role: "assistant", model: payload, content: [{ type: "tool_use", id: "t2", name: "Edit", input: { file_path: payload, old_string: payload, new_string: `${payload}2` } }], usage: use } },
      { ...base, type: "user", uuid: "u5", parentUuid: "u4", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t2", content: payload }] } },
      { type: payload, odd: payload },
    ];
    writeFileSync(join(folder, `${id}.jsonl`), lines.map((line) => JSON.stringify(line)).join("\n") + "\n");
  });
}

let browser, store;
before(async () => {
  if (missing) return;
  store = mkdtempSync(join(tmpdir(), "retro-attack-"));
  write(store);
  retro(store, "sync");
  browser = await launch();
});
after(() => browser?.close());

for (const carrier of ["folder", "server"]) {
  it(`text stays text, ${carrier}`, { skip: missing }, async (test) => {
    let address, base, stop;
    if (carrier === "folder") {
      ({ address } = build(store));
      base = address.replace("index.html", "");
    } else ({ address, base, stop } = await serve(store, "--no-sync"));
    test.after(() => stop?.());
    const { page, trouble, context } = await watched(browser, base);
    await page.goto(address);
    await page.waitForSelector(".kpi");
    for (const [hash, selector] of [["#/sessions", ".grid-table"], ["#/cost", "tfoot"], ["#/health", "main section"], ["#/search?q=alert", ".population"]]) await show(page, hash, selector);
    for (let n = 0; n < PAYLOADS.length; n += 1) {
      await show(page, `#/session/claude/attack-${n}?depth=all&panel=${["moments", "money", "files", "context", "raw", "time"][n % 6]}`, ".turn-head");
      await page.waitForSelector(".call");
    }
    for (const payload of PAYLOADS.slice(0, 6)) {
      await show(page, `#/session/${encodeURIComponent(payload)}/${encodeURIComponent(payload)}?at=${encodeURIComponent(payload)}&q=${encodeURIComponent(payload)}`, ".state");
      await show(page, `#/sessions?project=${encodeURIComponent(payload)}&words=${encodeURIComponent(payload)}&sort=${encodeURIComponent(payload)}`, ".state, .grid-table");
    }
    assert.deepEqual(trouble, []);
    await context.close();
  });
}

describe("the server", { skip: missing }, () => {
  it("answers only its own pages", async (test) => {
    const { address, stop } = await serve(store, "--no-sync");
    test.after(stop);
    const { port, search } = new URL(address);
    const ask = (headers, path = "/") => new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path, headers, setHost: false }, (answer) => { answer.resume(); resolve(answer); });
      sent.on("error", reject);
      sent.end();
    });
    const host = `127.0.0.1:${port}`;
    const first = await ask({ host }, `/${search}`);
    assert.equal(first.statusCode, 303);
    const cookie = first.headers["set-cookie"][0].split(";")[0];
    assert.match(first.headers["set-cookie"][0], /HttpOnly; SameSite=Strict/);
    assert.equal((await ask({ host }, `/${search}`)).statusCode, 403, "a token is good once");
    const cases = [
      [{ host, cookie }, 200], [{ host: `localhost:${port}`, cookie }, 200], [{ host, cookie, origin: `http://${host}` }, 200], [{ host, cookie, origin: `http://localhost:${port}` }, 200],
      [{ host }, 403], [{ host: "evil.example", cookie }, 403], [{ host: `evil.example:${port}`, cookie }, 403], [{ host: "127.0.0.1", cookie }, 403],
      [{ host, cookie, origin: "http://evil.example" }, 403], [{ host, cookie, origin: "null" }, 403], [{ host, cookie, origin: `https://${host}` }, 403], [{ host, cookie: "retro=guess" }, 403],
    ];
    for (const [headers, status] of cases) {
      const answer = await ask(headers);
      assert.equal(answer.statusCode, status, JSON.stringify({ ...headers, cookie: Boolean(headers.cookie) }));
      assert.match(answer.headers["content-security-policy"], /default-src 'none'/);
    }
    for (const path of ["/data/../state.json", "/data/%2e%2e/state.json.json", "/data/meta.js", "/state.json", "/data/.hidden.json"]) {
      assert.equal((await ask({ host, cookie }, path)).statusCode, 404, path);
    }
    assert.equal((await ask({ host, cookie }, "/data/meta.json")).statusCode, 200);
  });
});

it("a link of a transcript asks before it opens, whichever button is used", { skip: missing }, async () => {
  const { address } = build(store);
  const { page, trouble, context } = await watched(browser, address.replace("index.html", ""));
  await page.goto(address);
  await show(page, "#/session/claude/attack-0?depth=all", ".turn-head");
  const link = page.locator("a[href=\"http://evil.example/0\"]").first();
  await link.waitFor();
  for (const button of ["left", "middle"]) {
    trouble.length = 0;
    await link.click({ button });
    await page.waitForTimeout(300);
    assert.deepEqual(trouble, ["dialog: Leave this page for http://evil.example/0?"], button);
    assert.equal(context.pages().length, 1, button);
  }
  await context.close();
});
