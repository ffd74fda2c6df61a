// Numbers, times and sizes, the same everywhere.

const minus = (text: string) => text.replace("-", "−");

export function usd(nano: number | null | undefined, atLeast = false): string {
  if (nano === null || nano === undefined) return "—";
  const dollars = nano / 1e9;
  const digits = dollars !== 0 && Math.abs(dollars) < 0.01 ? 4 : 2;
  const text = Math.abs(dollars) >= 10_000 ? Math.round(dollars).toLocaleString("en-US") : dollars.toFixed(digits);
  return `${atLeast ? "≥ " : ""}${minus(`$${text}`.replace("$-", "-$"))}`;
}

export const dollars = (value: number | null | undefined, atLeast = false) =>
  usd(value === null || value === undefined ? null : Math.round(value * 1e9), atLeast);

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return "—";
  if (value < 1_000) return String(value);
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]] as const) {
    if (value >= size) {
      const scaled = value / size;
      return `${scaled >= 100 ? Math.round(scaled) : scaled >= 10 ? scaled.toFixed(1) : scaled.toFixed(2)} ${unit}`;
    }
  }
  return String(value);
}

export const exact = (value: number | null | undefined) => (value ?? 0).toLocaleString("en-US");

export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let at = -1;
  let size = value;
  while (size >= 1_000 && at < units.length - 1) {
    size /= 1_000;
    at += 1;
  }
  return `${size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[at]}`;
}

export function span(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "—";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 59.5) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.round(seconds) % 60).padStart(2, "0")}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, "0")}`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

let zone: string | undefined;
export function setZone(name: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    zone = name;
  } catch {
    zone = undefined;
  }
  days.clear();
}

const made = new Map<string, Intl.DateTimeFormat>();
function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options) + zone;
  let known = made.get(key);
  if (!known) {
    known = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone });
    made.set(key, known);
  }
  return known;
}

export const clock = (ts: number | null) =>
  ts === null ? "" : formatter({ hour: "2-digit", minute: "2-digit" }).format(ts);
export const day = (ts: number | null) =>
  ts === null ? "" : formatter({ day: "numeric", month: "short", year: "numeric" }).format(ts);
export const moment = (ts: number | null) =>
  ts === null ? "no time" : formatter({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" }).format(ts).replace(",", "");
export const second = (ts: number | null) =>
  ts === null ? "no time" : formatter({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(ts).replace(",", "");
/** A day as a number: 20261103. */
export function dayNumber(ts: number): number {
  const parts = formatter({ day: "2-digit", month: "2-digit", year: "numeric" }).format(ts).split("/");
  return Number(`${parts[2]}${parts[1]}${parts[0]}`);
}
/** Days that were looked up: which one, from when to when. */
const days = new Map<number, { day: number; from: number; to: number }[]>();
const DAY_MS = 86_400_000;
/** The same, for very many times: asking the browser for each takes too long. */
export function dayOf(ts: number): number {
  const slot = Math.floor(ts / DAY_MS);
  const known = days.get(slot)?.find((one) => ts >= one.from && ts < one.to);
  if (known) return known.day;
  const day = dayNumber(ts);
  // The edge is in between: to one side it is that day, to the other another.
  const edge = (inside: number, outside: number) => {
    while (Math.abs(outside - inside) > 1) {
      const middle = Math.floor((inside + outside) / 2);
      if (dayNumber(middle) === day) inside = middle;
      else outside = middle;
    }
    return Math.max(inside, outside);
  };
  const found = { day, from: edge(ts, ts - 1.25 * DAY_MS), to: edge(ts, ts + 1.25 * DAY_MS) };
  days.set(slot, [...(days.get(slot) ?? []), found]);
  return day;
}
export function dayName(value: number): string {
  if (!value) return "undated";
  const text = String(value);
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`;
}
export const plural = (value: number, noun: string, many = `${noun}s`) =>
  `${value.toLocaleString("en-US")} ${value === 1 ? noun : many}`;

export const SIGNS: Record<string, [string, string]> = {
  ok: ["✓", "went well"],
  failed: ["✕", "failed"],
  denied: ["⊘", "denied"],
  interrupted: ["‖", "cut off"],
  unknown: ["?", "outcome not known"],
};

export const OUTCOMES: Record<string, [string, string, string]> = {
  success: ["✓", "success", ""],
  failed: ["✕", "failed", "bad"],
  abandoned: ["‖", "abandoned", "warn"],
  unknown: ["?", "unknown", "muted"],
};

/** The value of a signal, with its unit. */
export function reading(value: unknown, unit: string): string {
  if (value === null || value === undefined) return "—";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return typeof value === "string" ? value.replaceAll("_", " ") : JSON.stringify(value);
  if (unit === "ratio" || unit === "share") return `${(100 * value).toFixed(value && value < 0.1 ? 1 : 0)} %`;
  if (unit === "usd") return usd(Math.round(value * 1e9));
  if (unit === "ms" || unit === "milliseconds") return span(value);
  if (unit === "seconds") return span(value * 1_000);
  const text = Number.isInteger(value) ? count(value) : value.toFixed(2);
  return text;
}

export const AGENTS = ["claude", "codex", "grok", "gemini", "copilot", "opencode"];
export const agentClass = (name: string) => (AGENTS.includes(name) ? `a-${name}` : "a-other");
