// A stretch of a session's time, and what the panels show of it: sums over what is in it.
import type { Facts } from "./head.svelte";
import type { Head, Moment, Response, Side } from "../types";

/** From and to, in milliseconds since 1970. */
export interface Span { from: number; to: number }

/** As it is in the address. */
export const asText = (span: Span) => `${Math.round(span.from)}-${Math.round(span.to)}`;

export function fromText(text: string | undefined): Span | null {
  const found = text?.match(/^(\d+)-(\d+)$/);
  const [from, to] = [Number(found?.[1]), Number(found?.[2])];
  return found && to > from ? { from, to } : null;
}

const holds = (span: Span, ts: number | null) => ts !== null && ts >= span.from && ts <= span.to;
export const momentsIn = (moments: Moment[], span: Span) => moments.filter((one) => holds(span, one.ts));
export const responsesIn = (responses: Response[], span: Span) => responses.filter((one) => holds(span, one.ts ? Date.parse(one.ts) : null));

export interface Money { nano: number | null; at_least: boolean; responses: number; tokens: number }
const none = (): Money => ({ nano: null, at_least: false, responses: 0, tokens: 0 });

function add(sum: Money, one: Response): void {
  if (one.cost_usd !== null) sum.nano = (sum.nano ?? 0) + Math.round(one.cost_usd * 1e9);
  sum.at_least ||= one.cost_usd === null || !one.exact || one.bound !== null;
  sum.responses += 1;
  sum.tokens += one.input_tokens + one.cache_creation_tokens + one.cache_read_tokens + one.output_tokens;
}

/** What responses cost: in all, by kind of token, by model. */
export function money(responses: Response[]): { sum: Money; kinds: Record<string, number>; by_model: (Money & { model: string })[] } {
  const sum = none();
  const kinds: Record<string, number> = {};
  const models = new Map<string, Money & { model: string }>();
  for (const one of responses) {
    add(sum, one);
    const model = one.model ?? "unknown";
    let own = models.get(model);
    if (!own) models.set(model, (own = { model, ...none() }));
    add(own, one);
    for (const [part, usd] of Object.entries(one.parts_usd ?? {})) {
      const kind = part.startsWith("cache_write") ? "cache_write" : ["input", "cache_read", "output"].includes(part) ? part : "other";
      kinds[kind] = (kinds[kind] ?? 0) + Math.round(usd * 1e9);
    }
  }
  return { sum, kinds, by_model: [...models.values()].sort((a, b) => (b.nano ?? 0) - (a.nano ?? 0)) };
}

/** Where the time of the session's own line of work went. Of very many stretches the ribbon lacks the shortest. */
export function timeIn(head: Head, side: Side, span: Span): { time: Head["time"]; active_ms: number; lacks: boolean } {
  const lane = side.ribbon.lanes.find((one) => one.line === 0);
  const sums = new Map<string, { ms: number; spans: number }>();
  let all = 0;
  for (const [start, end, what] of lane?.spans ?? []) {
    all += end - start;
    const ms = Math.min(side.ribbon.from + end, span.to) - Math.max(side.ribbon.from + start, span.from);
    if (ms <= 0) continue;
    const own = sums.get(what) ?? { ms: 0, spans: 0 };
    sums.set(what, { ms: own.ms + ms, spans: own.spans + 1 });
  }
  const time = head.time.filter((row) => sums.has(row.what)).map((row) => ({ ...row, ...sums.get(row.what)! }));
  const whole = head.time.reduce((sum, row) => sum + row.ms, 0);
  return { time, active_ms: time.filter((row) => row.work).reduce((sum, row) => sum + row.ms, 0), lacks: all < whole * 0.99 };
}

/** Turns of the session's own line of work that were going on then. */
export function turnsIn(head: Head, facts: Facts, span: Span): number[] {
  return (head.lines[0]?.turns ?? []).filter((turn) => {
    const told = facts.of(turn);
    return told && head.turns[turn]!.n > 0 && told.ts !== null && told.ts <= span.to && (told.end ?? told.ts) >= span.from;
  });
}
