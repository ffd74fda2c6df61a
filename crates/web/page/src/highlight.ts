// Marks words in what is drawn, without a change of the markup.

/** Places that are marked at most. */
const MOST = 500;

/** Marks these words below a node; without any, nothing is marked. */
export function highlight(root: Node | undefined | null, words: string[]): void {
  const highlights = (CSS as any).highlights;
  if (!highlights) return;
  highlights.delete("found");
  const wanted = words.map((word) => word.toLowerCase()).filter((word) => word.length > 1);
  if (!root || wanted.length === 0) return;
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < MOST; node = walker.nextNode()) {
    const text = (node.textContent ?? "").toLowerCase();
    for (const word of wanted) for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      // A few letters change their length with their case.
      if (at + word.length > (node.textContent ?? "").length) break;
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + word.length);
      ranges.push(range);
    }
  }
  highlights.set("found", new (globalThis as any).Highlight(...ranges));
}
