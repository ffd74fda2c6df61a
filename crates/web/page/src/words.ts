// Cuts a text into words exactly as crates/web/src/words.rs does.
const WORD_CHARS_MAX = 40;
const ideograph = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]/u;
const letter = /[\p{Alphabetic}\p{N}_]/u;

export function words(text: string): string[] {
  const found: string[] = [];
  let word = "";
  let pair = "";
  const cut = (part: string) => [...part].slice(0, WORD_CHARS_MAX).join("");
  const end = () => {
    const whole = word.replace(/^_+|_+$/g, "");
    word = "";
    if (whole.includes("_")) found.push(...whole.split("_").filter(Boolean).map(cut));
    if (whole) found.push(cut(whole));
  };
  for (const character of text) {
    if (ideograph.test(character)) {
      end();
      found.push(pair + character);
      pair = character;
      continue;
    }
    pair = "";
    if (letter.test(character)) word += character.toLowerCase();
    else end();
  }
  end();
  return found;
}

export function shard(word: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(word)) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash % Math.max(1, shards);
}
