// One script and one style sheet, which a page from disk can load: a classic script, no module.
import { svelte, vitePreprocess } from "@sveltejs/vite-plugin-svelte";
import { copyFileSync } from "node:fs";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [
    svelte({ preprocess: vitePreprocess(), compilerOptions: { css: "external" } }),
    { name: "frame", closeBundle: () => copyFileSync("index.html", "../assets/index.html") },
  ],
  build: {
    target: "es2023",
    outDir: "../assets",
    emptyOutDir: false,
    cssCodeSplit: false,
    lib: { entry: "src/main.ts", formats: ["iife"], name: "retroPage", fileName: () => "app.js", cssFileName: "app" },
  },
});
