// What memory holds: the list, each memory in full, and what the commands take.
import { load, send } from "./data";
import type { MemoryFull, MemoryRow, MemoryShelf, SessionRow } from "./types";

/** Filters of `retro memory list`. */
export const MEMORY_CHIPS = ["status", "kind", "scope", "cwd"] as const;

export const shelf = (fresh = false) => load<MemoryShelf>("memory", fresh);

export const inFull = async (row: MemoryRow, fresh = false) =>
  (await load<MemoryFull[]>(`m/${row.part}`, fresh)).find((one) => one.id === row.id);

/** Whether a memory of this repository holds in this folder: the same as the command's. */
const holds = (repo: string | null, cwd: string) => !repo || cwd === repo || cwd.startsWith(`${repo.replace(/\/$/, "")}/`);

export function chosen(rows: MemoryRow[], query: Record<string, string>): MemoryRow[] {
  return rows.filter(
    (row) =>
      (!query.status || row.status === query.status) &&
      (!query.kind || row.kind === query.kind) &&
      (!query.scope || row.scope === query.scope) &&
      (!query.cwd || holds(row.origin_repo, query.cwd.replace(/\/+$/, ""))),
  );
}

export const quoted = (text: string) => (/^[\w.,:\/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export function listCommand(query: Record<string, string>): string {
  const flags = MEMORY_CHIPS.filter((name) => query[name]).map((name) => ` --${name} ${quoted(query[name]!)}`);
  return `retro memory list${flags.join("")}`;
}

/** An id that begins with a dash would be read as an option. */
export const command = (verb: string, id: string) => `retro memory ${verb} ${id.startsWith("-") ? "-- " : ""}${quoted(id)}`;

export const VERDICTS: Record<string, { done: string; key: string; about: string }> = {
  accept: { done: "accepted", key: "a", about: "It may be shown to agents" },
  reject: { done: "rejected", key: "r", about: "It is never shown" },
  retire: { done: "retired", key: "t", about: "It is hidden, and kept" },
  restore: { done: "restored", key: "", about: "It stands again where it was found" },
};

/** What can be decided about a memory where it stands now. */
export function verdicts(status: string): string[] {
  if (status === "accepted") return ["retire", "reject"];
  if (status === "retired" || status === "rejected" || status === "quarantined") return ["restore", "accept"];
  return ["accept", "reject", "retire"];
}

/** The decision that takes another one back, where there is one that leaves nothing behind. */
export function undoing(verdict: string, before: MemoryRow): string | null {
  if (verdict === "accept") return before.status === "candidate" ? "restore" : null;
  if (before.status === "accepted") return "accept";
  return before.status === "candidate" || before.status === "needs_review" ? "restore" : null;
}

export const decide = (id: string, verdict: string) => send("memory", { id, verdict });

export const STATUSES: Record<string, [string, string, string]> = {
  accepted: ["✓", "accepted", ""],
  candidate: ["·", "candidate", "muted"],
  needs_review: ["?", "needs review", "warn"],
  rejected: ["✕", "rejected", "muted"],
  retired: ["‖", "retired", "muted"],
  quarantined: ["⊘", "quarantined", "bad"],
};

/** `agent/session#event`, taken apart. */
export function place(ref: string): { agent: string; id: string; event: string } | null {
  const slash = ref.indexOf("/");
  const hash = ref.lastIndexOf("#");
  return slash < 1 || hash < slash ? null : { agent: ref.slice(0, slash), id: ref.slice(slash + 1, hash), event: ref.slice(hash + 1) };
}

/** The session of this page that holds an event, and the event's name in it. */
export function found(ref: string, rows: SessionRow[]): { row: SessionRow; at: string } | null {
  const at = place(ref);
  if (!at) return null;
  const row = rows.find((one) => one.agent === at.agent && (one.session_id === at.id || one.kids.includes(at.id)));
  return row ? { row, at: row.session_id === at.id ? at.event : `${at.id}#${at.event}` } : null;
}

/** Memories by the events of a session that they rest on. */
export function taught(rows: MemoryRow[], session: SessionRow): Map<string, MemoryRow[]> {
  const events = new Map<string, MemoryRow[]>();
  for (const row of rows) {
    for (const ref of row.evidence_refs) {
      const at = found(ref, [session])?.at;
      if (at) events.set(at, [...(events.get(at) ?? []), row]);
    }
  }
  return events;
}

const DAY = 86_400_000;
/** How old something is, in the largest unit that says it. */
export function age(since: string | null | undefined, now: number): string {
  const then = since ? Date.parse(since) : NaN;
  if (!Number.isFinite(then)) return "—";
  const days = Math.floor((now - then) / DAY);
  if (days < 1) return "today";
  if (days < 60) return `${days} d`;
  return days < 730 ? `${Math.floor(days / 30.44)} mo` : `${Math.floor(days / 365.25)} y`;
}
