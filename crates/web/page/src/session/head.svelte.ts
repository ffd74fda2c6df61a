// The head of a session: its turns, and what is said of each where it is shown.
//
// Of a large session only the places of its turns are read at once. What is said of them,
// and what the panels show, comes in chunks when it is looked at.
import { load } from "../data";
import type { Head, LineHead, Side, TurnFacts, TurnHead } from "../types";

/** Reads a head, and makes turns of its columns. */
export async function readHead(name: string, fresh = false): Promise<Head> {
  const read = await load<any>(`${name}.h`, fresh);
  const { turns: columns } = read;
  const lines: LineHead[] = read.lines.map((line: LineHead) => ({ ...line, turns: [] }));
  const turns: TurnHead[] = columns.n.map((n: number, at: number) => ({
    n, line: columns.line[at], id: columns.id[at], who: columns.who[at], live: columns.live[at] === 1,
    lines: columns.lines[at], part: columns.part[at], last_part: columns.last_part[at],
  }));
  turns.forEach((turn, at) => lines[turn.line]?.turns.push(at));
  return { ...read, lines, turns };
}

/** The turn of an event, by the records of its source; -1 where the session has no such event. */
export function turnOfEvent(head: Head, event: string): number {
  const at = event.lastIndexOf(":");
  const list = head.index[event.slice(0, at)];
  const record = Number(event.slice(at + 1).split(".")[0]);
  if (!list || !Number.isFinite(record)) return -1;
  let found = -1;
  for (const [from, turn] of list) if (from <= record) found = turn; else break;
  return found;
}

const NO_SIDE: Side = {
  moments: [], kinds: {}, by_model: [], dear: [], files: [], context: { points: [], peak: 0, compactions: [], reread: 0, largest: [] },
  ribbon: { from: 0, to: 0, cuts: [], lanes: [], cut_ms: 0 },
};

/** What is said of the turns of a session, as far as it was read. */
export class Facts {
  side = $state.raw<Side>(NO_SIDE);
  /** Whether the panels have what they show. */
  whole = $state(false);
  #chunks = $state.raw(new Map<number, TurnFacts[]>());
  #asked = new Set<number>();
  #name = "";
  #head: Head | null = null;
  #fresh = false;

  /** Takes the head of a session; `fresh`: it was read again, because it changed. */
  take(name: string, head: Head, fresh = false): void {
    [this.#name, this.#head, this.#fresh] = [name, head, fresh];
    const shown = fresh ? [...this.#asked] : [];
    this.#asked = new Set([0]);
    // What was read stays until it is read again, so that nothing flickers.
    this.#chunks = new Map(fresh ? this.#chunks : []).set(0, head.facts);
    for (const chunk of shown) void this.#read(chunk);
    if (head.side) [this.side, this.whole] = [head.side, true];
    else {
      if (!fresh) [this.side, this.whole] = [NO_SIDE, false];
      load<Side>(`${name}.p`, fresh).then((side) => { if (this.#head === head) [this.side, this.whole] = [side, true]; }, () => (this.whole = true));
    }
  }

  of(turn: number): TurnFacts | undefined {
    const each = this.#head?.facts_a_chunk ?? 1;
    return this.#chunks.get(Math.floor(turn / each))?.[turn % each];
  }

  /** Reads what is said of these turns, unless it is here. */
  need(turns: Iterable<number>): void {
    const each = this.#head?.facts_a_chunk ?? 1;
    for (const turn of turns) void this.#read(Math.floor(turn / each));
  }

  /** Reads all of it: who looks for words in the outline needs that. */
  async all(): Promise<void> {
    const last = Math.ceil((this.#head?.turns.length ?? 0) / (this.#head?.facts_a_chunk ?? 1));
    await Promise.all(Array.from({ length: last }, (_, chunk) => this.#read(chunk)));
  }

  async #read(chunk: number): Promise<void> {
    const head = this.#head;
    if (!head || this.#asked.has(chunk) || chunk * head.facts_a_chunk >= head.turns.length) return;
    this.#asked.add(chunk);
    try {
      const facts = await load<TurnFacts[]>(`${this.#name}.t${chunk}`, this.#fresh);
      if (this.#head === head) this.#chunks = new Map(this.#chunks).set(chunk, facts);
    } catch {
      // The text of these turns can be read without it.
    }
  }
}
