// News from the server: one event a sync, with the names of what changed.
import { forget } from "./data";

export const news = $state({ sessions: 0, names: [] as string[], stamp: 0, said: "", memories: 0, patterns: 0 });

export function follow(): void {
  let source: EventSource | null = null;
  let told = 0;
  const open = () => {
    source?.close();
    source = new EventSource("events");
    source.addEventListener("changed", (event) => {
      let names: string[] = [];
      try {
        names = JSON.parse((event as MessageEvent).data);
      } catch {
        return;
      }
      if (names.includes("memory")) news.memories += 1;
      if (names.includes("patterns")) news.patterns += 1;
      const whole = names.length === 0;
      names = names.filter((name) => name !== "memory" && name !== "patterns");
      if (names.length === 0 && !whole) return;
      for (const name of names) for (const part of ["h", "m"]) forget(`${name}.${part}`);
      for (const name of ["meta", "health", "q/sessions"]) forget(name);
      news.names = names;
      news.sessions += names.length;
      // At most one announcement a second.
      if (Date.now() - told >= 1_000) {
        told = Date.now();
        news.said = names.length === 1 ? "1 session changed" : `${names.length} sessions changed`;
      }
      news.stamp += 1;
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else open();
  });
  open();
}
