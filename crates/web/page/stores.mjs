// Stores of logs of our own making, for tests, trials and benchmarks. Every run makes the same.
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, statSync, utimesSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { retro } from "./tests/support.mjs";

/** Words of which a few are said all the time and most hardly ever, as in any text. */
export const WORDS = Array.from({ length: 4_000 }, (_, n) => `${"abcdefghijklmnop"[n % 16]}${((n * 2_654_435_761) >>> 0).toString(36)}`);
let seed = 7;
const random = (most) => { seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff; return (seed >> 4) % most; };
const word = () => WORDS[Math.floor(WORDS.length ** (random(10_000) / 10_000)) - 1];
const text = (many) => Array.from({ length: many }, word).join(" ");

export const size = (path) => (statSync(path).isDirectory() ? readdirSync(path).reduce((all, name) => all + size(join(path, name)), 0) : statSync(path).size);

/** A log of Claude Code on its way. `put` writes a record, `call` a call with its result. */
export function log(store, id, project, start) {
  const folder = join(store, `home/.claude/projects/-home-dev-${project}`);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.jsonl`);
  const file = openSync(path, "a");
  let [parent, time, lines] = [null, start, 0];
  const put = (type, message, extra = {}) => {
    const uuid = `${id}-${lines++}`;
    time += 4_000 + random(9_000);
    writeSync(file, `${JSON.stringify({ type, uuid, parentUuid: parent, isSidechain: false, userType: "external", sessionId: id, cwd: `/home/dev/${project}`, gitBranch: "main", version: "2.0.0", timestamp: new Date(time).toISOString(), ...extra, message })}\n`);
    parent = uuid;
  };
  const answer = (content) => put("assistant", { id: `${id}m${lines}`, type: "message", role: "assistant", model: "claude-sonnet-4-5", content, usage: { input_tokens: random(900), output_tokens: random(700), cache_read_input_tokens: random(90_000), cache_creation_input_tokens: random(2_000) } }, { requestId: `${id}r${lines}` });
  return {
    say: (content) => put("user", { role: "user", content }),
    answer: (said) => answer([{ type: "text", text: said }]),
    call: (name, input, output, failed = false) => {
      const own = `t${lines}`;
      answer([{ type: "tool_use", id: own, name, input }]);
      put("user", { role: "user", content: [{ type: "tool_result", tool_use_id: own, is_error: failed, content: output }] }, failed || name !== "Bash" ? {} : { toolUseResult: { stdout: output, stderr: "", interrupted: false } });
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

/** Many small sessions, one of so many megabytes, one of so many events. */
export function large({ sessions, megabytes, events }) {
  const store = empty();
  for (let n = 0; n < sessions; n += 1) session(store, id(n), 1_760_000_000_000 + n * 1_500_000, { turns: 3, calls: 2, words: 40 });
  // A turn of twelve calls that print 300 words each, twice in the log, is about 60 kB.
  session(store, "big-session", 1_764_000_000_000, { turns: Math.round((megabytes * 1e6) / 60_000), calls: 12, words: 300 });
  session(store, "many-events", 1_764_900_000_000, { turns: Math.round(events / 22), calls: 10, words: 4 });
  retro(store, "sync");
  return store;
}

/** Very many sessions of one turn: rows. */
export function rows(sessions) {
  const store = empty();
  for (let n = 0; n < sessions; n += 1) session(store, id(n), 1_760_000_000_000 + n * 400_000, { turns: 1, calls: 0, words: 2 });
  retro(store, "sync");
  return store;
}
