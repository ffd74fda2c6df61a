// The only things kept in the browser: looks, columns that are hidden, and whether single keys work.
const KEY = "retro.looks";

interface Prefs { theme: "auto" | "light" | "dark"; dense: boolean; keys: boolean; wrap: boolean; hidden: string[] }

function read(): Prefs {
  const base: Prefs = { theme: "auto", dense: false, keys: true, wrap: true, hidden: [] };
  try {
    return { ...base, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return base;
  }
}

export const prefs = $state<Prefs>(read());
apply();

function apply(): void {
  document.documentElement.dataset.theme = prefs.theme;
  document.documentElement.dataset.dense = String(prefs.dense);
}

export function setPref<K extends keyof Prefs>(name: K, value: Prefs[K]): void {
  prefs[name] = value;
  apply();
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...prefs }));
  } catch {
    // A browser that keeps nothing still shows everything.
  }
}
