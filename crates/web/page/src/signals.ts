// What signals say of the sessions that the chips choose: middle, spread, weeks.
import { load } from "./data";
import { dayOf } from "./format";
import { gather } from "./gather";
import type { Meta, Reading, SessionReadings, SessionRow, SignalInfo } from "./types";

/** The readings of one session, with what is known of their signals. */
export function readingsOf(said: SessionReadings, signals: SignalInfo[]): Reading[] {
  const reasons = new Map(Object.entries(said.reasons ?? {}).flatMap(([reason, places]) => places.map((place) => [place, reason] as const)));
  return signals
    .map((signal, at) => ({
      signal: signal.id, group: signal.group, unit: signal.unit, title: signal.title, value: said.values[at] ?? null,
      reason: reasons.get(at) ?? null, confidence: said.confidence?.[at] ?? 1, evidence_refs: said.refs?.[at] ?? [],
    }))
    .filter((one) => one.value !== null || one.reason !== null);
}

/** A value, or the reason why there is none. `week`: that of the session, 0 if it has no time. */
export interface Point { row: SessionRow; week: number; value: number | boolean | string | null; reason: string | null }

/** The values of each signal, and where among them those of a session are. */
export interface Readings { signals: SignalInfo[]; of: Map<string, unknown[]>; at: Map<string, number> }

/** Reads all months; a session's values are found by signal and name. */
export async function readings(meta: Meta): Promise<Readings> {
  const signals = await load<SignalInfo[]>("signals");
  const of = new Map<string, unknown[]>(signals.map((one) => [one.id, []]));
  const at = new Map<string, number>();
  let before = 0;
  for (const { month } of meta.months) {
    const chunk = await load<{ names: string[]; reasons: string[]; values: Record<string, unknown[]> }>(`g/${month}`);
    for (const [id, values] of Object.entries(chunk.values)) {
      const known = of.get(id);
      if (known) values.forEach((value, n) => (known[before + n] = Array.isArray(value) ? { why: chunk.reasons[value[0]] } : value));
    }
    for (const name of chunk.names) at.set(name, before++);
  }
  return { signals, of, at };
}

/** Sessions with readings: what is the same for every signal is looked up once. */
export interface Read { row: SessionRow; week: number; at: number }

export function read(all: Readings, rows: SessionRow[]): Read[] {
  return rows.flatMap((row) => {
    const at = all.at.get(row.name);
    return at === undefined ? [] : { row, week: row.end ? week(row.end) : 0, at };
  });
}

export function points(all: Readings, id: string, sessions: Read[]): Point[] {
  const known = all.of.get(id);
  const found: Point[] = [];
  for (const { row, week, at } of sessions) {
    const value: any = known?.[at];
    if (value === undefined) continue;
    const why = value !== null && typeof value === "object" ? (value.why as string) : null;
    found.push({ row, week, value: why ? null : value, reason: why });
  }
  return found;
}

export const known = (list: Point[]) => list.filter((one) => one.value !== null);

/** A number for any value: yes is one. */
export const size = (value: Point["value"]) => (typeof value === "number" ? value : value === true ? 1 : 0);

/** The usual value: the median, the share of yes, or the most frequent word. */
export function usual(list: Point[], kind: string): number | string | null {
  const values = known(list);
  if (values.length === 0) return null;
  if (kind === "boolean") return values.filter((one) => one.value === true).length / values.length;
  if (kind !== "numeric") {
    const counts = new Map<string, number>();
    for (const one of values) counts.set(String(one.value), (counts.get(String(one.value)) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0] ?? null;
  }
  const sorted = new Float64Array(values.map((one) => size(one.value))).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The Monday of a day, as a number: 20261102. */
function week(ts: number): number {
  const day = new Date(ts);
  return dayOf(ts - ((day.getUTCDay() + 6) % 7) * 86_400_000);
}

/** The usual value week by week, oldest first; only weeks with a value. */
export function weeks(list: Point[], kind: string): { week: number; value: number; n: number }[] {
  const groups = gather(known(list).filter((one) => one.week), (one) => one.week);
  return [...groups].sort((a, b) => a[0] - b[0]).map(([name, own]) => {
    const value = kind === "boolean" || kind === "numeric" ? usual(own, kind) : own.length;
    return { week: name, value: typeof value === "number" ? value : 0, n: own.length };
  });
}

export interface Bin { label: string; from: number; to: number; word?: string; list: Point[] }

/** How it is spread: at most sixteen bins, or the words by frequency. */
export function bins(list: Point[], kind: string, format: (value: number) => string): Bin[] {
  const values = known(list);
  if (kind !== "numeric") {
    const groups = gather(values, (one) => (one.value === true ? "yes" : one.value === false ? "no" : String(one.value)));
    return [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, 16).map(([word, own]) => ({ label: word.replaceAll("_", " "), from: 0, to: 0, word, list: own }));
  }
  const numbers = values.map((one) => size(one.value));
  const low = numbers.reduce((a, b) => Math.min(a, b), Infinity), high = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(low)) return [];
  const whole = numbers.every(Number.isInteger);
  const span = high - low;
  const many = whole ? Math.min(16, span + 1) : span === 0 ? 1 : Math.min(16, Math.ceil(Math.sqrt(numbers.length)) + 1);
  const step = whole ? Math.max(1, Math.ceil((span + 1) / many)) : span / many || 1;
  const made: Bin[] = Array.from({ length: many }, (_, n) => {
    const from = low + n * step;
    const to = from + step;
    return { label: whole && step === 1 ? format(from) : `${format(from)} to ${format(whole ? to - 1 : to)}`, from, to, list: [] };
  });
  for (const one of values) made[Math.min(many - 1, Math.floor((size(one.value) - low) / step))]?.list.push(one);
  while (made.length > 1 && made.at(-1)!.list.length === 0) made.pop();
  return made;
}
