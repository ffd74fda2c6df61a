// Search over all turns from disk: one shard a word, then titles, then snippets.
import { load, MissingChunk } from "./data";
import { gather } from "./gather";
import { readHead } from "./session/head.svelte";
import type { Item, Meta, SessionRow } from "./types";
import { shard, words } from "./words";

export interface Hit {
  row: SessionRow; turn: number; line: number; n: number; id: string; score: number;
  /** Served: what the index shows of it, and why it was found. */
  parts?: [string, boolean][]; where?: string; why?: string[]; weak?: boolean;
}
export interface Found {
  hits: Map<SessionRow, Hit[]>; turns: number; sessions?: number; words: string[]; missing: string[]; elapsed: number;
  suggestions?: string[]; narrowed?: { since: string | null; until: string | null; words: string } | null; more?: boolean;
}

/** Asks the index of the server: words and meaning. */
export async function ask(query: string, filters: Record<string, string | undefined>, rows: SessionRow[]): Promise<Found> {
  const search = new URLSearchParams({ q: query });
  for (const [name, value] of Object.entries(filters)) if (value) search.set(name, value);
  const answer = await fetch(`search?${search}`, { headers: { "x-retro": "1" } });
  if (!answer.ok) throw new Error(await answer.text());
  const view = await answer.json();
  const byId = new Map<string, SessionRow>();
  for (const row of rows) for (const id of [row.session_id, ...row.kids]) byId.set(`${row.agent} ${id}`, row);
  const hits = new Map<SessionRow, Hit[]>();
  for (const hit of view.hits) {
    const row = byId.get(`${hit.agent} ${hit.session_id}`);
    if (!row) continue;
    const own = row.session_id === hit.session_id;
    const one: Hit = {
      row, turn: 0, line: own && hit.thread === "main" ? 0 : 1, n: hit.turn, id: own ? hit.event_id : `${hit.session_id}#${hit.event_id}`, score: hit.score,
      parts: hit.parts, where: hit.kind, why: hit.why, weak: hit.weak,
    };
    hits.set(row, [...(hits.get(row) ?? []), one]);
  }
  return { hits, turns: view.searched.turns, sessions: view.searched.sessions, words: [], missing: [], elapsed: view.elapsed_ms, suggestions: view.suggestions, narrowed: view.narrowed, more: view.truncated };
}

export async function find(query: string, meta: Meta, rows: SessionRow[]): Promise<Found> {
  const began = performance.now();
  const wanted = [...new Set(words(query))];
  // All at once: each is a file to wait for.
  const needed = ["q/sessions", ...meta.search.flatMap((part) => [`q/${part.n}/turns`, ...wanted.map((word) => `q/${part.n}/${shard(word, part.shards)}`)])];
  for (const name of needed) load(name).catch(() => {});
  const current = await load<Record<string, number>>("q/sessions");
  const byName = new Map(rows.map((row) => [row.name, row]));
  const hits: Hit[] = [];
  let turns = 0;
  const counts = new Map<string, number>();
  for (const part of meta.search) {
    const info = await load<any>(`q/${part.n}/turns`);
    turns += info.session.length;
    const lists = await Promise.all(wanted.map((word) =>
      load<any>(`q/${part.n}/${shard(word, part.shards)}`).then((map) => (Object.hasOwn(map, word) ? map[word] : []), (error) => {
        if (error instanceof MissingChunk) return [];
        throw error;
      })));
    const scores = new Map<number, { score: number; words: number }>();
    lists.forEach((list: number[], n) => {
      const frequency = list.length / 2;
      counts.set(wanted[n]!, (counts.get(wanted[n]!) ?? 0) + frequency);
      const weight = Math.log(1 + info.session.length / (1 + frequency));
      let at = 0;
      for (let place = 0; place < list.length; place += 2) {
        at += list[place]!;
        const times = list[place + 1]!;
        const one = scores.get(at) ?? { score: 0, words: 0 };
        one.score += (weight * times * 2.2) / (times + 1.2 * (0.25 + (0.75 * info.length[at]) / 400));
        one.words += 1;
        scores.set(at, one);
      }
    });
    for (const [at, one] of scores) {
      if (one.words < wanted.length) continue;
      const name = info.sessions[info.session[at]];
      const row = byName.get(name);
      if (!row || current[name] !== part.n) continue;
      hits.push({ row, turn: at, line: info.line[at], n: info.n[at], id: info.id[at], score: one.score });
    }
  }
  hits.sort((a, b) => b.score - a.score || b.row.end - a.row.end);
  return { hits: gather(hits, (hit) => hit.row), turns, words: wanted, missing: wanted.filter((word) => !counts.get(word)), elapsed: performance.now() - began };
}

/** The text of an item, for snippets and for finding. */
export function textOf(item: Item): { where: string; text: string }[] {
  const leaves = (node: any): string => (typeof node === "string" ? node : Array.isArray(node) ? node.slice(1).map(leaves).join(node[0] === "p" || node[0] === "li" ? "\n" : "") : "");
  const lines = (list: any[]) => list.map((line) => (typeof line === "string" ? line : line.map((run: any) => (typeof run === "string" ? run : run[1])).join(""))).join("\n");
  switch (item.type) {
    case "prompt": return [{ where: item.origin === "user" ? "you" : "message", text: item.text }, ...(item.output ? [{ where: "output", text: lines(item.output.lines) }] : [])];
    case "answer": return [{ where: "answer", text: item.body.map(leaves).join("\n") }];
    case "thought": return [{ where: "thinking", text: item.text }];
    case "call": return [
      { where: "command", text: `${item.name} ${item.full ?? item.what}` },
      ...(item.diffs ?? []).map((diff) => ({ where: diff.path, text: diff.rows.map((row) => row[1]).join("\n") })),
      ...(item.trouble ? [{ where: "error", text: item.trouble }] : []),
      ...(item.output ? [{ where: "output", text: lines(item.output.lines) }] : []),
    ];
    case "run": return item.items.flatMap(textOf);
    case "question": return [{ where: "question", text: [...item.questions.flatMap((one) => [one.question, one.answer ?? ""]), item.reply ?? ""].join("\n") }];
    case "plan": case "report": return [{ where: item.type, text: item.body.map(leaves).join("\n") }];
    case "mark": case "note": return [{ where: item.kind, text: item.text }];
  }
}

export interface Snippet { where: string; before: string; word: string; after: string; id: string }

/** The best place in a turn: the text that has most of the words. */
export async function snippet(hit: Hit, wanted: string[]): Promise<Snippet | null> {
  const head = await readHead(hit.row.name);
  const at = head.turns.findIndex((turn) => turn.line === hit.line && turn.n === hit.n);
  const turn = head.turns[at];
  if (!turn) return null;
  let best: { score: number; snippet: Snippet } | null = null;
  for (let part = turn.part; part <= turn.last_part; part += 1) {
    const pieces = await load<{ turn: number; items: Item[] }[]>(`${hit.row.name}.${part}`);
    for (const item of pieces.filter((piece) => piece.turn === at).flatMap((piece) => piece.items).flatMap((item) => (item.type === "run" ? item.items : [item]))) {
      for (const { where, text } of textOf(item)) {
        const lower = text.toLowerCase();
        const found = wanted.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
        if (found.length === 0 || (best && found.length <= best.score)) continue;
        const place = Math.min(...found);
        const word = wanted.find((one) => lower.startsWith(one, place)) ?? "";
        const from = Math.max(0, place - 60);
        best = { score: found.length, snippet: { where, id: "id" in item ? item.id : turn.id, before: (from > 0 ? "…" : "") + text.slice(from, place), word: text.slice(place, place + word.length), after: text.slice(place + word.length, place + word.length + 160) } };
      }
    }
  }
  return best?.snippet ?? null;
}
