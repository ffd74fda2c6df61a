// A list of rows of unknown height, of which only the visible ones are drawn.
//
// Heights are guessed until a row is drawn and measured. The row at the top of the box
// stays where it is when rows above it turn out to be taller: the anchor is its key, never
// its number. Browsers draw nothing below some millions of pixels, so a list that is taller
// is scrolled in proportion: the box has the height that is allowed, and a place in it
// stands for a place in the list.

/** Chromium ends at 33 million pixels, Firefox at 17. */
const HEIGHT_MAX = 16_000_000;

/** Pixels above and below the box that are drawn too. */
const BEYOND = 600;

export interface Slot { key: string; guess: number }

export class Windowed<T extends Slot> {
  rows: T[] = $state.raw([]);
  first = $state(0);
  last = $state(0);
  /** Of the box that is scrolled. */
  height = $state(0);
  /** Where the first row that is drawn is in it. */
  before = $state(0);
  /** Draw every row: for print, and for readers that cannot follow a window. */
  whole = $state(false);
  #tops: Float64Array = new Float64Array(1);
  #known = new Map<string, number>();
  #places = new Map<string, number>();
  #box: HTMLElement | null = null;
  #watcher: ResizeObserver;
  #nodes = new Map<Element, string>();
  #queued = false;
  /** Of all rows. */
  #full = 0;

  constructor() {
    this.#watcher = new ResizeObserver((entries) => {
      let changed = false;
      for (const entry of entries) {
        const key = this.#nodes.get(entry.target);
        const size = entry.borderBoxSize[0]?.blockSize ?? 0;
        if (key !== undefined && size > 0 && Math.abs((this.#known.get(key) ?? -1) - size) > 0.5) {
          this.#known.set(key, size);
          changed = true;
        }
      }
      if (changed) this.#keep(() => this.#lay());
    });
  }

  attach = (box: HTMLElement) => {
    this.#box = box;
    const look = () => this.look();
    box.addEventListener("scroll", look, { passive: true });
    const sizes = new ResizeObserver(look);
    sizes.observe(box);
    this.look();
    return () => {
      box.removeEventListener("scroll", look);
      sizes.disconnect();
      this.#watcher.disconnect();
    };
  };

  measure = (key: string) => (node: HTMLElement) => {
    this.#nodes.set(node, key);
    this.#watcher.observe(node);
    return () => {
      this.#nodes.delete(node);
      this.#watcher.unobserve(node);
    };
  };

  /** Takes other rows, and keeps the place. */
  set(rows: T[]): void {
    this.#keep(() => {
      this.rows = rows;
      this.#places = new Map(rows.map((row, at) => [row.key, at]));
      this.#lay();
    });
  }

  /** Where in the list the upper edge of the box is. */
  get #top(): number {
    return (this.#box?.scrollTop ?? 0) * this.#ratio;
  }

  set #top(top: number) {
    if (this.#box) this.#box.scrollTop = Math.max(0, top) / this.#ratio;
  }

  get #ratio(): number {
    const size = this.#box?.clientHeight ?? 0;
    return this.#full <= HEIGHT_MAX ? 1 : (this.#full - size) / (HEIGHT_MAX - size);
  }

  /** The row at the upper edge. */
  get current(): T | undefined {
    return this.rows[this.#at(this.#top)];
  }

  /** Shows a row, if it is not to be seen. */
  reveal(key: string): void {
    const at = this.#places.get(key);
    if (at === undefined || !this.#box) return;
    const [above, below, size] = [this.#tops[at] ?? 0, this.#tops[at + 1] ?? 0, this.#box.clientHeight];
    if (above < this.#top) this.#top = above;
    else if (below > this.#top + size) this.#top = below - size;
  }

  /** The key of the row at the top, and how far it is above the edge. */
  anchor(): { key: string; offset: number } | null {
    const top = this.#top;
    const row = this.rows[this.#at(top)];
    return row ? { key: row.key, offset: top - (this.#tops[this.#at(top)] ?? 0) } : null;
  }

  to(key: string, offset = 0): boolean {
    const at = this.#places.get(key);
    if (at === undefined || !this.#box) return false;
    this.#top = (this.#tops[at] ?? 0) + offset;
    this.look();
    return true;
  }

  atEnd(): boolean {
    return !this.#box || this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 48;
  }

  toEnd(): void {
    if (this.#box) this.#box.scrollTop = this.#box.scrollHeight;
  }

  #keep(act: () => void): void {
    const anchor = this.anchor();
    const before = anchor ? (this.#tops[this.#places.get(anchor.key) ?? -1] ?? 0) : 0;
    act();
    if (anchor && this.#box) {
      const at = this.#places.get(anchor.key);
      const after = at === undefined ? before : (this.#tops[at] ?? before);
      if (after !== before) {
        // The spacer must have its new height first.
        const goal = after + anchor.offset;
        this.#top = goal;
        if (Math.abs(this.#top - goal) > this.#ratio) queueMicrotask(() => { this.#top = goal; this.look(); });
      }
    }
    if (!this.#queued) {
      this.#queued = true;
      requestAnimationFrame(() => {
        this.#queued = false;
        this.look();
      });
    }
    this.look();
  }

  #lay(): void {
    const tops = new Float64Array(this.rows.length + 1);
    let top = 0;
    this.rows.forEach((row, at) => {
      tops[at] = top;
      top += this.#known.get(row.key) ?? row.guess;
    });
    tops[this.rows.length] = top;
    this.#tops = tops;
    this.#full = top;
    this.height = Math.min(top, HEIGHT_MAX);
  }

  #at(top: number): number {
    let low = 0;
    let high = Math.max(0, this.rows.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#tops[middle] ?? 0) <= top) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  look(): void {
    const box = this.#box;
    if (!box) return;
    if (this.whole) {
      [this.first, this.last, this.before] = [0, this.rows.length, 0];
      return;
    }
    const [top, size] = [this.#top, box.clientHeight || 800];
    this.first = Math.max(0, this.#at(top - BEYOND));
    this.last = Math.min(this.rows.length, this.#at(top + size + BEYOND) + 1);
    this.before = box.scrollTop - top + (this.#tops[this.first] ?? 0);
  }
}
