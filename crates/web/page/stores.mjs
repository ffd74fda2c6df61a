// Stores of logs of our own making, for tests, trials and benchmarks. Every run makes the same.
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, statSync, utimesSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demo, missing, retro } from "./tests/support.mjs";

/** Words of which a few are said all the time and most hardly ever, as in any text. */
export const WORDS = Array.from({ length: 4_000 }, (_, n) => `${"abcdefghijklmnop"[n % 16]}${((n * 2_654_435_761) >>> 0).toString(36)}`);
let seed = 7;
const random = (most) => { seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff; return (seed >> 4) % most; };
const word = () => WORDS[Math.floor(WORDS.length ** (random(10_000) / 10_000)) - 1];
const text = (many) => Array.from({ length: many }, word).join(" ");

export const size = (path) => (statSync(path).isDirectory() ? readdirSync(path).reduce((all, name) => all + size(join(path, name)), 0) : statSync(path).size);

/** A log of Claude Code on its way, or, with `agent`, that of a sub-agent of the session. */
export function log(store, id, project, start, { agent = "" } = {}) {
  const folder = join(store, `home/.claude/projects/-home-dev-${project}`, agent ? `${id}/subagents` : "");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, agent ? `agent-${agent}.jsonl` : `${id}.jsonl`);
  const file = openSync(path, "a");
  let [parent, time, lines] = [null, start, 0];
  const put = (type, message, extra = {}) => {
    const uuid = `${id}-${agent}${lines++}`;
    time += 4_000 + random(9_000);
    writeSync(file, `${JSON.stringify({ type, uuid, parentUuid: parent, isSidechain: agent !== "", ...(agent ? { agentId: agent } : {}), userType: "external", sessionId: id, cwd: `/home/dev/${project}`, gitBranch: "main", version: "2.0.0", timestamp: new Date(time).toISOString(), ...extra, message })}\n`);
    parent = uuid;
  };
  const answer = (content) => put("assistant", { id: `${id}${agent}m${lines}`, type: "message", role: "assistant", model: "claude-sonnet-4-5", content, usage: { input_tokens: random(900), output_tokens: random(700), cache_read_input_tokens: random(90_000), cache_creation_input_tokens: random(2_000) } }, { requestId: `${id}${agent}r${lines}` });
  return {
    id, time: () => time,
    say: (content) => put("user", { role: "user", content }),
    answer: (said) => answer([{ type: "text", text: said }]),
    call: (name, input, output, failed = false, extra = failed || name !== "Bash" ? {} : { toolUseResult: { stdout: output, stderr: "", interrupted: false } }) => {
      const own = `t${agent}${lines}`;
      answer([{ type: "tool_use", id: own, name, input }]);
      put("user", { role: "user", content: [{ type: "tool_result", tool_use_id: own, is_error: failed, content: output }] }, extra);
    },
    /** Nobody writes to it any more, so that it counts as over. */
    end: () => { closeSync(file); utimesSync(path, time / 1_000, time / 1_000); },
  };
}

/** A session of turns, in each some calls that print so many words. */
export function session(store, id, start, { turns, calls, words }) {
  const own = log(store, id, `p${random(12)}`, start);
  for (let turn = 0; turn < turns; turn += 1) {
    own.say(text(6 + random(14)));
    for (let call = 0; call < calls; call += 1) own.call("Bash", { command: `cargo test ${WORDS[random(400)]}` }, text(words).replaceAll(" a", "\n a"), random(9) === 0);
    own.answer(`${text(30)}\n\n- ${text(9)}\n- ${text(8)}`);
  }
  own.end();
}

const id = (n) => `s${String(n).padStart(6, "0")}`;
export const empty = () => mkdtempSync(join(tmpdir(), "retro-store-"));

/** Sessions of three turns: every fifth has a failure that an edit mends, every seventh a rule, every ninth a sub-agent. */
export function made(sessions) {
  const store = empty();
  for (let n = 0; n < sessions; n += 1) {
    const project = `p${n % 12}`;
    const own = log(store, `made-${String(n).padStart(4, "0")}`, project, 1_760_000_000_000 + n * 5_400_000);
    for (let turn = 0; turn < 3; turn += 1) {
      own.say(turn === 1 && n % 7 === 0 ? "No, never use tabs here. Always run make check first." : `Change number ${turn} of widget ${n}, please.`);
      if (n % 5 === 0) own.call("Bash", { command: "make check" }, `Exit code 2\nerror: widget ${n} has the wrong shape`, true);
      if (n % 9 === 0 && turn === 1) helper(store, own, project, n);
      own.call("Edit", { file_path: `/home/dev/${project}/src/widget${n}.rs`, old_string: `let a = ${turn};`, new_string: `let a = ${turn + 1};` }, "The file was updated.");
      own.call("Bash", { command: "make check" }, "all checks passed");
      own.answer(`Widget ${n} is changed, and the checks pass.`);
    }
    own.end();
  }
  retro(store, "sync");
  return store;
}

/** A sub-agent: a call, and a log beside that of its session. */
function helper(store, own, project, n) {
  const name = `a${String(n).padStart(7, "0")}`;
  const beside = log(store, own.id, project, own.time(), { agent: name });
  beside.say(`Find every caller of widget ${n}.`);
  beside.call("Grep", { pattern: `widget${n}` }, `src/lib.rs:${n}: widget${n}();`);
  beside.call("Bash", { command: `grep -c widget${n} src/lib.rs` }, "Exit code 2\ngrep: src/lib.rs: no such file", true);
  beside.answer(`Widget ${n} has one caller.`);
  beside.end();
  own.call("Task", { description: `find callers of widget ${n}`, prompt: `Find every caller of widget ${n}.`, subagent_type: "explorer" }, [{ type: "text", text: `Widget ${n} has one caller.` }], false, { toolUseResult: { status: "completed", agentId: name, content: [{ type: "text", text: `Widget ${n} has one caller.` }], totalToolUseCount: 2 } });
}

/** Many small sessions, one of so many megabytes, one of so many events. */
export function large({ sessions, megabytes, events }) {
  const store = empty();
  for (let n = 0; n < sessions; n += 1) session(store, id(n), 1_760_000_000_000 + n * 1_500_000, { turns: 3, calls: 4, words: 150 });
  // A turn of twelve calls that print 300 words each, twice in the log, is about 60 kB.
  session(store, "big-session", 1_764_000_000_000, { turns: Math.round((megabytes * 1e6) / 60_000), calls: 12, words: 300 });
  session(store, "many-events", 1_764_900_000_000, { turns: Math.round(events / 22), calls: 10, words: 4 });
  retro(store, "sync");
  return store;
}

/** Very many sessions of one turn: rows. Every hundredth is real work, of which there is more to say. */
export function rows(sessions) {
  const store = empty();
  for (let n = 0; n < sessions; n += 1) session(store, id(n), 1_760_000_000_000 + n * 400_000, n % 100 ? { turns: 1, calls: 0, words: 2 } : { turns: 3, calls: 4, words: 2 });
  retro(store, "sync");
  return store;
}

/** The published logs in one store, or nothing where there are none. */
export function published() {
  const folders = ["public-claude", "public-codex"].map((name) => join(process.env.RETRO_CORPUS ?? "", name)).filter((path) => process.env.RETRO_CORPUS && existsSync(path));
  if (!folders.length) return undefined;
  const store = empty();
  mkdirSync(join(store, "home"), { recursive: true });
  for (const folder of folders) retro(store, "sync", "--from", folder);
  return store;
}

const CORPUS = process.env.RETRO_CORPUS ? join(process.env.RETRO_CORPUS, "genuine") : "";

/** Everything that the agents' programs themselves wrote, in one store. */
function genuine() {
  const store = empty();
  mkdirSync(join(store, "home"), { recursive: true });
  retro(store, "sync", "--from", CORPUS);
  return store;
}

/**
 * The stores that the specification of the page is held against: the demo's, a generated one, logs
 * of the agents' own programs; or the one that RETRO_STORE names. `word` is in some turns of it.
 */
export const STORES = process.env.RETRO_STORE
  ? [{ name: "the store that is given", make: () => process.env.RETRO_STORE, keep: true, word: process.env.RETRO_WORD ?? "test", skip: missing }]
  : [
      { name: "the demo's store", make: demo, word: "vat", skip: missing, first: true },
      { name: "500 generated sessions", make: () => made(500), word: "widget", file: "widget11.rs", skip: missing },
      { name: "genuine logs", make: genuine, word: "test", skip: missing || (existsSync(CORPUS) ? false : "RETRO_CORPUS names no folder with genuine logs") },
    ];
