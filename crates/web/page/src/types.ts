// What the chunks hold. The structs are those of crates/web/src and crates/views/src.

export type OutcomeValue = "success" | "failed" | "abandoned" | "unknown";

export type Outcome = "ok" | "failed" | "denied" | "interrupted" | "unknown";

export interface Month { month: string; sessions: number; bytes: number }

export interface LimitWindow {
  agent: string; window: string; plan: string | null; window_minutes: number | null;
  used_percent: number | null; left_percent: number | null; resets_at: string | null;
  ended: boolean; read_percent: number; read_at: string; session_id: string; record: string;
}

export interface Meta {
  version: string; build: string; made_at: string; zone: string; sessions: number; unread: number;
  captured: Record<string, number>; billing: string; prices_of: string; mode: string;
  since: string | null; project: string | null; strict: boolean; months: Month[];
  search: { n: number; shards: number }[];
  memories: { total: number; to_review: number };
  patterns: { total: number; open: number };
  limits: { windows: LimitWindow[]; without: { agent: string; reason: string }[] };
}

export interface SessionRow {
  name: string; agent: string; session_id: string; short_id: string; title: string | null;
  project: string | null; domain: string | null; cwd: string | null; branch: string | null;
  started_at: string | null; ended_at: string | null; bytes: number; on_disk: boolean;
  up_to_date: boolean; resume: string | null; turns: number | null; duration_ms: number | null;
  cost_usd: number | null; cost_complete: boolean; outcome: OutcomeValue | null;
  reason: string | null; corrections: number; real: boolean;
  calls: number; failed: number; denied: number; files: number; added: number; removed: number;
  active_ms: number; agents: number; models: string[]; flags: string[]; trouble: string | null;
  looks: number; edits: number; paths: string[]; kids: string[]; open: boolean;
  /** Filled in by the page. */
  start: number; end: number; tokens: number;
}

export interface Cell {
  row: SessionRow; day: number; hour: number; model: string;
  input: number; write_5m: number; write_1h: number; read: number; output: number; reasoning: number;
  responses: number; nano: number | null; at_least: boolean; unpriced: number;
}

export interface Sum {
  nano: number | null; at_least?: boolean; input: number; cache_write: number; cache_read: number;
  output: number; responses: number;
}

export interface OutlineRow { kind: string; id: string; text: string; child?: number }

/** What every turn needs to have its place. */
export interface TurnHead {
  line: number; n: number; id: string; who: string; live: boolean; lines: number; part: number; last_part: number;
}

/** What is said of a turn where it is shown. */
export interface TurnFacts {
  ts: number | null; end: number | null; text: string; active_ms: number; sum: Sum; calls: number;
  failed: number; denied: number; added: number; removed: number; rows: OutlineRow[];
}

export interface LineHead {
  name: string; task: string; parent?: number; session_id?: string; from: number | null; to: number | null;
  calls: number; failed: number; sum: Sum;
  /** The turn of the call that started it. */
  turn?: number;
  /** Filled in by the page. */
  turns: number[];
}

export interface Moment { kind: string; text: string; ids: string[]; ts: number | null; line: number; turn: number }

export interface Head {
  session: SessionRow; versions: string[]; models: string[]; event_counts: Record<string, number>;
  coverage: Record<string, number>; gaps: string[]; left_out: number;
  sentence: { text: string; ids?: string[]; tone?: string }[];
  lines: LineHead[]; turns: TurnHead[];
  /** Facts of the first turns, and of how many turns they are in each further chunk. */
  facts: TurnFacts[]; facts_a_chunk: number; side?: Side;
  time: { what: string; ms: number; spans: number; at_most: boolean; work: boolean }[];
  active_ms: number; sum: Sum;
  index: Record<string, [number, number][]>;
  digest: Digest | null;
  parts: number;
}

/** What the panels and the ribbon show of a session. */
export interface Side {
  moments: Moment[]; kinds: Record<string, number>; by_model: (Sum & { model: string })[];
  dear: { turn: number; text: string; sum: Sum }[];
  context: {
    points: [string, number, number][]; peak: number; compactions: string[]; reread: number;
    largest: { id: string; what: string; tokens: number; responses: number; nano: number | null }[];
  };
  files: { path: string; added: number; removed: number; edits: string[]; reads: number }[];
  ribbon: { from: number; to: number; cuts: [number, number][]; lanes: { line: number; spans: [number, number, string][] }[]; cut_ms: number };
}

/** How a session went: the part of its digest that the page shows. */
export interface Digest {
  outcome: { value: OutcomeValue; reason: string; confidence: number; evidence_refs: string[]; rule: string };
  quality: { real: boolean };
  corrections: { event_id: string; text: string; confidence: number; rule: string }[];
}

export interface Reading {
  signal: string; group: string; value: any; unit: string; title: string;
  reason: string | null; confidence: number; evidence_refs: string[];
}

/** The readings of a session, by the places of their signals in the list of all. */
export interface SessionReadings {
  values: any[]; reasons?: Record<string, number[]>; confidence?: Record<string, number>; refs?: Record<string, string[]>;
}

export interface SignalInfo {
  id: string; group: string; kind: string; method: string; unit: string; title: string; about: Node[];
}

export type Node = string | [string, ...any[]];
export type OutLine = string | (string | [string, string])[];
export interface Output { lines: OutLine[]; total: number; bytes: number; cut?: boolean; more?: boolean }

export interface Call {
  type: "call"; id: string; result?: string; ts: number | null; name: string; class: string; what: string;
  full?: string; outcome: Outcome | null; exit_code?: number; ms?: number; ms_at_most?: boolean; tokens?: number;
  edits?: { path: string; kind: string; added: number | null; removed: number | null }[];
  trouble?: string; output?: Output; child?: number; live: boolean; pictures?: string[];
  diffs?: { path: string; rows: [string, string][]; left_out?: number }[];
}

export type Item =
  | { type: "prompt"; id: string; ts: number | null; origin: string; said: string; text: string;
      attached?: { name: string; bytes: number | null }[]; pictures?: string[]; output?: Output; live: boolean }
  | { type: "answer"; id: string; ts: number | null; model?: string; body: Node[]; live: boolean }
  | { type: "thought"; id: string; text: string; chars: number }
  | Call
  | { type: "run"; label: string; ms: number | null; items: Item[] }
  | { type: "question"; id: string; ts: number | null; questions: { question: string; options: string[]; answer: string | null }[]; reply: string | null; outcome: Outcome | null }
  | { type: "plan"; id: string; body: Node[]; steps: { text: string; done: boolean }[] }
  | { type: "report"; id: string; body: Node[] }
  | { type: "mark"; id: string; ts: number | null; kind: string; text: string }
  | { type: "note"; id: string; ts: number | null; kind: string; origin: string; text: string };

export interface Response {
  id: string; line: number; turn: number; event: string; key: string; ts: string | null; model: string | null;
  tier: string | null; input_tokens: number; cache_creation_tokens: number; cache_creation_5m_tokens: number;
  cache_creation_1h_tokens: number; cache_read_tokens: number; output_tokens: number; web_searches: number;
  exact: boolean; cost_usd: number | null; parts_usd: Record<string, number> | null; cost_source: string;
  price: string | null; rates: Record<string, number | null> | null; bound: string | null; line_number?: number;
}

/** A memory as `retro memory list --json` has it, and the part that holds all of it. */
export interface MemoryRow {
  id: string; kind: string; scope: string; status: string; text: string | null; when_to_use: string | null;
  do_not_use_when: string | null; origin_repo: string | null; evidence_refs: string[]; stale: string | null;
  superseded_by: string | null; method: string; origin: string; confidence: number; created_at: string | null;
  seen: number; worked: number; shown: number; helpful: number; harmful: number; q_value: number;
  review_reasons: string[]; left_out?: boolean; part: number;
}

export interface MemoryShelf {
  memories: MemoryRow[];
  counts: {
    memories: number; by_status: Record<string, number>; by_scope: Record<string, number>; by_kind: Record<string, number>;
    life: { made: number; shown: number; shown_times: number; helpful: number; helpful_times: number; harmful: number; harmful_times: number; superseded: number; retired: number };
  };
}

/** A memory as `retro memory show --json` has it. */
export interface MemoryFull {
  id: string; source: string; risk: string; priority: number; files?: string[];
  spans?: { event_id: string; text: string; voice: string }[]; evidence_refs: string[];
  origins?: { agent: string; session_id: string; candidate: string }[];
  repository: { root?: string; remote?: string; branch?: string };
  created_at?: string; updated_at?: string; expires_at?: string; supersedes: string[];
  history: { at: string | null; what: string; session_id: string | null; reason: string | null; event_id: string | null }[];
}

export interface Resolution { text: string; times: number; evidence_refs: string[] }

/** A candidate as `retro detect --json` has it, with what shows it. */
export interface CandidateRow {
  key: string; polarity: "problem" | "success"; type: string; types: string[]; title: string; frequency: number;
  sessions: { agent: string; session_id: string }[]; repos: string[]; agents: string[]; cross_agent: boolean;
  first_seen: string | null; last_seen: string | null; impact: { tokens: number; usd: number | null; minutes: number };
  resolutions: Resolution[]; score: number; why: string; new: boolean;
  evidence: string; pattern: string | null; decision: string | null; weeks: { from: string; sessions: number }[];
  members: { agent: string; session_id: string; at: string | null; times: number; repo: string | null; evidence: { event: string; text: string; voice: string }[] }[];
}

/** A pattern as `retro catalog show --json` has it, and the candidate that it is about. */
export interface PatternRow {
  id: string; version: string; status: string; distribution_ready: boolean; not_ready?: string; type: string; title: string;
  problem: string; resolutions: Resolution[]; when_to_use: string; when_not: string;
  provenance: { session_count: number }; hints: Record<string, { file: string; body: string }>; candidate: string | null;
}

export interface PatternShelf {
  sessions: number; candidates: CandidateRow[]; folder: string; catalog: PatternRow[];
  unreadable: { path: string; reason: string }[];
}
