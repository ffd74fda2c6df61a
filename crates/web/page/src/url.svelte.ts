// Where the reader is: everything is in the hash, so that Back works and a link is a place.

export interface Place { view: string; parts: string[]; query: Record<string, string> }

function read(): Place {
  const hash = location.hash.replace(/^#\/?/, "");
  const [path = "", search = ""] = hash.split("?", 2);
  const parts = path.split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) query[name] = value;
  return { view: parts[0] ?? "", parts: parts.slice(1), query };
}

export const here = $state<{ place: Place }>({ place: read() });
addEventListener("hashchange", () => {
  here.place = read();
});

/** Chips that stay when the view changes. */
export const CHIPS = ["agent", "project", "since", "until"] as const;

export function link(view: string, parts: string[] = [], query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const chip of CHIPS) {
    const value = chip in query ? query[chip] : here.place.query[chip];
    if (value) search.set(chip, value);
  }
  for (const [name, value] of Object.entries(query)) {
    if (!(CHIPS as readonly string[]).includes(name) && value) search.set(name, value);
  }
  const path = [view, ...parts.map(encodeURIComponent)].filter(Boolean).join("/");
  const text = search.toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

/** Changes some of the query, and stays in the view. */
export function change(query: Record<string, string | undefined>, replace = false): void {
  const { place } = here;
  const next = link(place.view, place.parts, { ...place.query, ...query });
  if (next === location.hash) return;
  if (replace) {
    history.replaceState(null, "", next);
    here.place = read();
  } else {
    location.hash = next;
    // Another change may follow before the browser says that the hash is another one.
    here.place = read();
  }
}

export const sessionLink = (agent: string, id: string, query: Record<string, string | undefined> = {}) =>
  link("session", [agent, id], query);
