// Sessions that are marked in the list, by the names of their chunks. They stay marked while
// the reader looks at something else.
import { SvelteSet } from "svelte/reactivity";

export const marks = new SvelteSet<string>();

export function toggle(name: string): void {
  if (!marks.delete(name)) marks.add(name);
}
