// What the page's own thread did, by the browser's trace: CPU time, not time that went by.

/** Script, style and layout; what is inside another of these is counted with it. */
const WORK = new Set(["FunctionCall", "EvaluateScript", "FireAnimationFrame", "TimerFire", "EventDispatch", "RunMicrotasks", "UpdateLayoutTree", "Layout", "IntersectionObserverController::computeIntersections", "MinorGC", "MajorGC"]);

/** Runs something in a page. `frame`: milliseconds of work a frame; `long`: tasks of over 50 ms. */
export async function traced(browser, page, act) {
  await browser.startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"] });
  await act();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
  const place = (event) => `${event.pid}:${event.tid}`;
  const frames = new Map();
  for (const event of traceEvents) if (event.name === "FireAnimationFrame") frames.set(place(event), (frames.get(place(event)) ?? 0) + 1);
  const [own, count] = [...frames].sort((a, b) => b[1] - a[1])[0] ?? ["", 0];
  const mine = traceEvents.filter((event) => place(event) === own && event.ph === "X").sort((a, b) => a.ts - b.ts);
  let [work, end] = [0, 0];
  for (const event of mine) if (WORK.has(event.name) && event.ts >= end) {
    work += event.tdur ?? event.dur;
    end = event.ts + event.dur;
  }
  const long = mine.filter((event) => event.name === "RunTask" && (event.tdur ?? event.dur) > 50_000).length;
  return { frame: work / 1_000 / Math.max(1, count), long, frames: count };
}
