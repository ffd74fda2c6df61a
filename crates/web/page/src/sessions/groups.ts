// Sessions in groups: by day, by project, or each with its sub-agents. Every line of the
// list has the same height, headings too, so that only those in sight need to be drawn.
import { dayName, dayOf } from "../format";
import type { SessionRow } from "../types";

export const GROUPS = [["", "none"], ["day", "day"], ["project", "project"], ["tree", "tree"]] as const;

/** What a heading says of the sessions under it. */
export interface Group { name: string; sessions: number; failed: number; active_ms: number; cost_usd: number | null; at_least: boolean }

export type Line =
  | { kind: "group"; key: string; group: Group }
  | { kind: "session"; key: string; row: SessionRow; n: number }
  | { kind: "kid"; key: string; row: SessionRow; id: string };

export interface Lines {
  lines: Line[];
  /** Sessions in the order in which they are shown, and the line of each. */
  rows: SessionRow[]; at: number[];
}

const KEYS: Record<string, (row: SessionRow) => string> = {
  day: (row) => (row.end ? dayName(dayOf(row.end)) : ""),
  project: (row) => row.project ?? "",
};
const NO_NAME: Record<string, string> = { day: "undated", project: "no project" };

function add(group: Group, row: SessionRow): void {
  group.sessions += 1;
  if (row.outcome === "failed") group.failed += 1;
  group.active_ms += row.active_ms;
  if (row.cost_usd !== null) group.cost_usd = (group.cost_usd ?? 0) + row.cost_usd;
  group.at_least ||= !row.cost_complete;
}

/** Newest day first, projects by name; what has no name comes last. */
const order = (by: string) => (a: string, b: string) => (!a ? 1 : !b ? -1 : by === "day" ? (a < b ? 1 : -1) : a.localeCompare(b));

/** Sorted sessions as lines. Inside a group they stay in their order. */
export function grouped(sorted: SessionRow[], by: string): Lines {
  const made: Lines = { lines: [], rows: [], at: [] };
  const take = (row: SessionRow) => {
    made.at.push(made.lines.length);
    made.lines.push({ kind: "session", key: row.name, row, n: made.rows.length });
    made.rows.push(row);
    if (by === "tree") for (const id of row.kids) made.lines.push({ kind: "kid", key: `${row.name} ${id}`, row, id });
  };
  const key = KEYS[by];
  if (!key) {
    for (const row of sorted) take(row);
    return made;
  }
  const groups = new Map<string, { group: Group; rows: SessionRow[] }>();
  for (const row of sorted) {
    const name = key(row);
    let found = groups.get(name);
    if (!found) groups.set(name, (found = { group: { name: name || NO_NAME[by]!, sessions: 0, failed: 0, active_ms: 0, cost_usd: null, at_least: false }, rows: [] }));
    add(found.group, row);
    found.rows.push(row);
  }
  for (const name of [...groups.keys()].sort(order(by))) {
    const { group, rows } = groups.get(name)!;
    made.lines.push({ kind: "group", key: `group ${name}`, group });
    for (const row of rows) take(row);
  }
  return made;
}
