// One data layer, three carriers: script files beside a page from disk, fetch from our
// server, and islands inside a single file. All give the same JSON under the same names.

type Waiter = { resolve: (value: unknown) => void; reject: (error: Error) => void };

declare global {
  interface Window { retro?: (name: string, build: string, packed: string) => void; trustedTypes?: any }
}

export class MissingChunk extends Error {}
export class OtherBuild extends Error {}

export const carrier: string =
  document.querySelector<HTMLMetaElement>('meta[name="retro-carrier"]')?.content ?? "folder";
export const served = carrier === "served";

const GOOD_NAME = /^[a-z0-9._\/-]+$/;
const KEPT = 24;

const waiting = new Map<string, Waiter[]>();
const loading = new Map<string, Promise<any>>();
const kept = new Map<string, any>();
const lasting = /^(meta|health|memory$|patterns$|rows\/|q\/sessions)/;
let build: string | null = null;

const policy = window.trustedTypes?.createPolicy("retro-chunk", {
  createScriptURL: (address: string) => {
    if (!/^data\/[a-z0-9._\/-]+\.js(\?\d+)?$/.test(address)) throw new Error("not a chunk");
    return address;
  },
});

async function unpack(packed: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

function settle(name: string, act: (waiter: Waiter) => void): void {
  for (const waiter of waiting.get(name) ?? []) act(waiter);
  waiting.delete(name);
}

window.retro = (name, madeBy, packed) => {
  if (name === "meta") build = madeBy;
  if (build !== null && madeBy !== build) {
    settle(name, (waiter) => waiter.reject(new OtherBuild(name)));
    return;
  }
  unpack(packed).then(
    (value) => settle(name, (waiter) => waiter.resolve(value)),
    (error) => settle(name, (waiter) => waiter.reject(error)),
  );
};

function byScript(name: string, fresh: boolean): Promise<any> {
  return new Promise((resolve, reject) => {
    waiting.set(name, [...(waiting.get(name) ?? []), { resolve, reject }]);
    const script = document.createElement("script");
    const address = `data/${name}.js${fresh ? `?${Date.now()}` : ""}`;
    script.src = policy ? policy.createScriptURL(address) : address;
    script.onload = () => script.remove();
    script.onerror = () => {
      script.remove();
      settle(name, (waiter) => waiter.reject(new MissingChunk(name)));
    };
    document.head.append(script);
  });
}

async function byFetch(name: string): Promise<any> {
  const answer = await fetch(`data/${name}.json`, { headers: { "x-retro": "1" } });
  if (answer.status === 404) throw new MissingChunk(name);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

function byIsland(name: string): Promise<any> {
  const island = document.getElementById(`d:${name}`);
  return island?.textContent ? unpack(JSON.parse(island.textContent)) : Promise.reject(new MissingChunk(name));
}

/** Reads a chunk, or hands out the one that is here. */
export function load<T = any>(name: string, fresh = false): Promise<T> {
  if (!GOOD_NAME.test(name) || name.includes("..")) return Promise.reject(new Error("not a chunk's name"));
  if (fresh) forget(name);
  const here = kept.get(name);
  if (here !== undefined) {
    kept.delete(name);
    kept.set(name, here);
    return Promise.resolve(here);
  }
  let under = loading.get(name);
  if (!under) {
    under = (carrier === "single" ? byIsland(name) : served ? byFetch(name) : byScript(name, fresh))
      .then((value) => {
        keep(name, value);
        return value;
      })
      .finally(() => loading.delete(name));
    loading.set(name, under);
  }
  return under as Promise<T>;
}

/** What is in memory already. */
export function peek<T = any>(name: string): T | undefined {
  return kept.get(name);
}

export function forget(name: string): void {
  kept.delete(name);
}

/** Sends a decision to the server. What it refuses is an error in its own words. */
export async function send(path: string, value: unknown): Promise<void> {
  const answer = await fetch(path, { method: "POST", headers: { "x-retro": "1", "content-type": "application/json" }, body: JSON.stringify(value) });
  if (!answer.ok) throw new Error((await answer.text()) || `the server answered ${answer.status}`);
}

function keep(name: string, value: unknown): void {
  kept.set(name, value);
  const short = [...kept.keys()].filter((key) => !lasting.test(key));
  for (const old of short.slice(0, Math.max(0, short.length - KEPT))) kept.delete(old);
}
