// The columns of the list of sessions: what each is called, how wide it is, what it sorts by.
import type { SessionRow } from "../types";

export interface Column {
  name: string; label: string;
  /** Its width, as a grid has it. */
  width: string;
  isNumber?: boolean;
  /** The width of the table from which on there is room for it. */
  from: number;
}

/** The table is this narrow on a phone. */
const PHONE = 700;
/** From this width on everything has room. */
const WIDE = 1_060;

export const COLUMNS: Column[] = [
  { name: "last", label: "Last active", width: "92px", from: PHONE },
  { name: "agent", label: "Agent", width: "84px", from: PHONE },
  { name: "project", label: "Project", width: "minmax(60px, 104px)", from: PHONE },
  { name: "outcome", label: "Ended", width: "98px", from: PHONE },
  { name: "title", label: "Title", width: "minmax(0, 1fr)", from: 0 },
  { name: "turns", label: "Turns", width: "52px", isNumber: true, from: PHONE },
  { name: "calls", label: "Calls", width: "50px", isNumber: true, from: WIDE },
  { name: "failed", label: "Failed", width: "54px", isNumber: true, from: WIDE },
  { name: "files", label: "Files", width: "46px", isNumber: true, from: WIDE },
  { name: "active", label: "Active", width: "76px", isNumber: true, from: WIDE },
  { name: "tokens", label: "Tokens", width: "66px", isNumber: true, from: WIDE },
  { name: "cost", label: "List price", width: "80px", isNumber: true, from: 0 },
];

/** What a list without its titles would be good for nobody knows. */
export const canHide = (column: Column) => column.name !== "title";

/** The columns that are not hidden and have room. */
export const shownColumns = (hidden: string[], width: number) =>
  COLUMNS.filter((column) => width >= column.from && !(canHide(column) && hidden.includes(column.name)));

/** What comes first. */
export const ORDER: Record<string, (row: SessionRow) => number | string> = {
  last: (row) => row.end, started: (row) => row.start, cost: (row) => row.cost_usd ?? -1, turns: (row) => row.turns ?? -1,
  duration: (row) => row.duration_ms ?? -1, active: (row) => row.active_ms, size: (row) => row.bytes, project: (row) => row.project ?? "",
  calls: (row) => row.calls, failed: (row) => row.failed, files: (row) => row.files, tokens: (row) => row.tokens,
  agent: (row) => row.agent, outcome: (row) => ["failed", "abandoned", "unknown", "success"].indexOf(row.outcome ?? "") + 1 || 9,
  title: (row) => row.title ?? "", flags: (row) => (row.flags.includes("secret") ? 0 : row.flags.length ? 1 : 2),
};

/** Orders by which the command sorts too. */
export const ORDERS_OF_COMMAND = ["last", "started", "cost", "turns", "duration", "size", "project"];
