// All sessions and their use: loaded month by month, filtered by the chips, added up.
import { load } from "./data";
import { dayOf as dayAt, setZone } from "./format";
import type { Cell, Meta, SessionRow } from "./types";
import { here } from "./url.svelte";

interface Shelf { meta: Meta | null; rows: SessionRow[]; cells: Cell[]; loaded: number; error: string | null }
export const table = $state.raw<{ now: Shelf }>({ now: { meta: null, rows: [], cells: [], loaded: 0, error: null } });
export const version = $state({ n: 0 });

function put(shelf: Shelf): void {
  table.now = shelf;
  version.n += 1;
}

function takeMonth(chunk: any, rows: SessionRow[], cells: Cell[]): void {
  const columns = chunk.rows;
  const names = Object.keys(columns).filter((name) => name !== "length");
  const own: SessionRow[] = [];
  for (let at = 0; at < columns.length; at += 1) {
    const row: any = {};
    for (const name of names) row[name] = columns[name][at];
    row.start = row.started_at ? Date.parse(row.started_at) : 0;
    row.end = row.ended_at ? Date.parse(row.ended_at) : row.start;
    row.tokens = 0;
    own.push(row);
  }
  const used = chunk.cells;
  for (let at = 0; at < used.row.length; at += 1) {
    const row = own[used.row[at]];
    if (!row) continue;
    const cell: Cell = {
      row, day: used.day[at], hour: used.hour[at], model: used.models[used.model[at]],
      input: used.input[at], write_5m: used.write_5m[at], write_1h: used.write_1h[at], read: used.read[at],
      output: used.output[at], reasoning: used.reasoning[at], responses: used.responses[at],
      nano: used.nano[at], at_least: used.at_least[at] === 1, unpriced: used.unpriced[at],
    };
    row.tokens += cell.input + cell.write_5m + cell.write_1h + cell.read + cell.output;
    cells.push(cell);
  }
  for (const row of own) rows.push(row);
}

/** Reads everything; the newest month first, so that the first rows are there early. */
export async function start(fresh = false): Promise<void> {
  try {
    const meta = await load<Meta>("meta", fresh);
    setZone(meta.zone);
    const rows: SessionRow[] = [];
    const cells: Cell[] = [];
    let loaded = 0;
    for (const month of meta.months) {
      takeMonth(await load(`rows/${month.month}`, fresh), rows, cells);
      loaded += 1;
      if (!fresh && (loaded === 1 || loaded % 6 === 0)) put({ meta, rows: [...rows], cells: [...cells], loaded, error: null });
    }
    put({ meta, rows, cells, loaded, error: null });
  } catch (error) {
    put({ ...table.now, error: String((error as Error).message ?? error) });
  }
}

const dayOf = (text: string | undefined) => (text && /^\d{4}-\d\d-\d\d$/.test(text) ? Number(text.replaceAll("-", "")) : 0);

export interface Chips { agent: string[]; project: string[]; since: number; until: number }

export function chips(): Chips {
  const query = here.place.query;
  const list = (text: string | undefined) => (text ? text.split(",").filter(Boolean) : []);
  return { agent: list(query.agent), project: list(query.project), since: dayOf(query.since), until: dayOf(query.until) };
}

const ofSession = (row: SessionRow, asked: Chips) =>
  (asked.agent.length === 0 || asked.agent.includes(row.agent)) &&
  (asked.project.length === 0 || asked.project.includes(row.project ?? ""));

/** Sessions that the chips ask for: those that were active in the window, as `list` has it. */
export function chosenRows(rows: SessionRow[], asked: Chips): SessionRow[] {
  return rows.filter(
    (row) =>
      ofSession(row, asked) &&
      (!asked.since || (row.end > 0 && dayAt(row.end) >= asked.since)) &&
      (!asked.until || (row.start > 0 && dayAt(row.start) <= asked.until)),
  );
}

/** Use that the chips ask for: by the day of each response, as `usage` has it. */
export function chosenCells(cells: Cell[], asked: Chips): Cell[] {
  return cells.filter(
    (cell) =>
      ofSession(cell.row, asked) &&
      (!asked.since || cell.day >= asked.since) &&
      (!asked.until || (cell.day > 0 && cell.day <= asked.until)),
  );
}

export interface Total {
  nano: number | null; at_least: boolean; input: number; write_5m: number; write_1h: number; read: number;
  output: number; reasoning: number; responses: number; unpriced: number; sessions: Set<SessionRow>;
}

export const empty = (): Total => ({
  nano: null, at_least: false, input: 0, write_5m: 0, write_1h: 0, read: 0, output: 0, reasoning: 0,
  responses: 0, unpriced: 0, sessions: new Set(),
});

export function add(total: Total, cell: Cell): void {
  if (cell.nano !== null) total.nano = (total.nano ?? 0) + cell.nano;
  total.at_least ||= cell.at_least || cell.row.open;
  total.input += cell.input;
  total.write_5m += cell.write_5m;
  total.write_1h += cell.write_1h;
  total.read += cell.read;
  total.output += cell.output;
  total.reasoning += cell.reasoning;
  total.responses += cell.responses;
  total.unpriced += cell.unpriced;
  total.sessions.add(cell.row);
}

export const tokens = (total: Total) => total.input + total.write_5m + total.write_1h + total.read + total.output;

export function group(cells: Cell[], key: (cell: Cell) => string): Map<string, Total> {
  const groups = new Map<string, Total>();
  for (const cell of cells) {
    const name = key(cell);
    let total = groups.get(name);
    if (!total) groups.set(name, (total = empty()));
    add(total, cell);
  }
  return groups;
}

export function total(cells: Cell[]): Total {
  const sum = empty();
  for (const cell of cells) add(sum, cell);
  return sum;
}

/** The command that prints what is shown. */
export function command(base: string, extra: Record<string, string | undefined> = {}): string {
  const query = here.place.query;
  const quoted = (text: string) => (/^[\w.,:\/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const flags = { agent: query.agent, project: query.project, since: query.since, until: query.until, ...extra };
  const parts = Object.entries(flags).filter(([, value]) => value).map(([name, value]) => ` --${name} ${quoted(value as string)}`);
  return `retro ${base}${parts.join("")}`;
}
