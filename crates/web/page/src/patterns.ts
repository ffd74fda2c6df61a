// What recurs over sessions, what was written down of it, and what the commands take.
import { load, send } from "./data";
import { quoted } from "./memory";
import type { CandidateRow, PatternShelf } from "./types";

/** Filters of `retro detect`. */
export const PATTERN_CHIPS = ["type", "agent", "project"] as const;

export const shelf = (fresh = false) => load<PatternShelf>("patterns", fresh);

export function chosen(rows: CandidateRow[], query: Record<string, string>): CandidateRow[] {
  const project = query.project?.toLowerCase();
  return rows.filter(
    (row) =>
      (!query.type || row.types.includes(query.type)) &&
      (!query.agent || row.agents.includes(query.agent)) &&
      (!project || row.repos.some((repo) => repo.toLowerCase().includes(project))),
  );
}

export function detectCommand(query: Record<string, string>): string {
  const flags = PATTERN_CHIPS.filter((name) => query[name]).map((name) => ` --${name} ${quoted(query[name]!)}`);
  return `retro detect${flags.join("")}`;
}

export const VERDICTS: Record<string, { done: string; key: string; about: string }> = {
  approve: { done: "written down", key: "a", about: "It goes into the catalog" },
  reject: { done: "rejected", key: "r", about: "It comes back only when its evidence changes" },
  discuss: { done: "left open", key: "d", about: "It stays in the list" },
};

export interface Words { title?: string; resolution?: string; when_to_use?: string }

export const decide = (row: CandidateRow, verdict: string, words: Words = {}) =>
  send("patterns", { key: row.key, evidence: row.evidence, verdict, ...words });

export const words = (name: string) => name.replaceAll("_", " ");

/** How often it was seen, week by week, in words. */
export const trend = (weeks: { from: string; sessions: number }[]) =>
  weeks.length ? `Sessions a week from ${weeks[0]!.from}: ${weeks.map((week) => week.sessions).join(", ")}` : "No times";
