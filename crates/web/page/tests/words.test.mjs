// The page cuts words as the Rust side does.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { createServer } from "vite";

it("the examples hold", async () => {
  const server = await createServer({ configFile: false, root: new URL("..", import.meta.url).pathname, server: { middlewareMode: true, ws: false, hmr: false }, appType: "custom", logLevel: "silent" });
  try {
    const { words } = await server.ssrLoadModule("/src/words.ts");
    for (const [text, expected] of JSON.parse(readFileSync(new URL("words.json", import.meta.url), "utf8"))) assert.deepEqual(words(text), expected);
  } finally {
    await server.close();
  }
});
