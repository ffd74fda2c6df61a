// Contrast of the colours, computed from the style sheet.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";

const css = readFileSync(new URL("../src/app.css", import.meta.url), "utf8");
function theme(start) {
  const block = css.slice(css.indexOf(start), css.indexOf("}", css.indexOf(start)));
  return Object.fromEntries([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((found) => [found[1], found[2]]));
}
const light = (color) => {
  const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const contrast = (a, b) => {
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

for (const [name, start] of [["light", ":root {"], ["dark", ':root[data-theme="dark"] {']]) {
  it(`text can be read, ${name}`, () => {
    const colors = theme(start);
    for (const ink of ["ink", "ink2", "ink3", "link", "bad", "warn", "good"]) for (const ground of ["bg", "sunken", "surface"]) assert.ok(contrast(colors[ink], colors[ground]) >= 4.5, `${ink} on ${ground}: ${contrast(colors[ink], colors[ground]).toFixed(2)}`);
    for (const tone of ["t1", "t2", "t3", "t4", "t5", "t6"]) assert.ok(contrast(colors[tone], colors.sunken) >= 4.5, `${tone} ${contrast(colors[tone], colors.sunken).toFixed(2)}`);
    for (const agent of ["claude", "codex", "grok", "gemini", "copilot", "opencode"]) assert.ok(contrast(colors[`a-${agent}`], colors.surface) >= 3, `${agent} ${contrast(colors[`a-${agent}`], colors.surface).toFixed(2)}`);
    for (const ground of ["plus", "minus", "mark", "selected"]) assert.ok(contrast(colors.ink, colors[ground]) >= 7, ground);
  });
}
it("the automatic dark theme is the dark theme", () => {
  assert.deepEqual(theme(':root[data-theme="auto"] {'), theme(':root[data-theme="dark"] {'));
});
