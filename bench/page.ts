// What the page costs a browser, by the browser's own count: main-thread time of one update and heap, with a hundred clusters and
// with 2,000 process groups. Needs the browser of the tests. Rules: spec/page.md [PAGE14].
import { machineClock, sleep } from "../src/env/clock.ts";
import { silentLog } from "../src/env/log.ts";
import { pageAssets } from "../src/web/server/page-assets.ts";
import { serveDashboard } from "../src/web/server/serve.ts";
import type { PageModel } from "../src/web/view-model.ts";
import { closeSharedBrowser, sharedBrowser } from "../test/browser/browser.ts";
import type { Browser, DevtoolsSession } from "../test/browser/playwright.ts";
import { samplePreview } from "../test/web/sample-preview.ts";
import { sampleSource } from "../test/web/sample-source.ts";
import type { SampleSource } from "../test/web/sample-source.ts";
import { mark } from "./aims.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";

export interface PageRun {
  what: string;
  /** Of one update: script, style, layout and painting on the main thread. */
  updateMs: number;
  /** The longest task of all updates. */
  longestMs: number;
  heapMegabytes: number;
}

const aims = { updateMs: 50, heapMegabytes: 150 };
const updates = 20;
/** The server pushes at most twice in a second. */
const pauseMs = 700;
const views = ["", "cluster/default/sample/map", "cluster/default/sample/figures"];

/** None where there is no browser. */
export async function runPage(progress: (text: string) => void): Promise<PageRun[]> {
  const opened = await sharedBrowser();
  if ("missing" in opened) {
    progress(`the page is not measured: ${opened.missing}`);
    return [];
  }
  const runs: PageRun[] = [];
  for (const view of views) {
    progress(`the page, ${view === "" ? "all clusters" : view}`);
    runs.push(await runView(opened.browser, view));
  }
  await closeSharedBrowser();
  return runs;
}

async function runView(browser: Browser, view: string): Promise<PageRun> {
  const clock = machineClock();
  const options = { groups: 2_000, moreClusters: 97 };
  const source = withChangingCard(sampleSource(options, () => clock.nowMs(), samplePreview));
  const served = await serveDashboard({
    ...{ source, page: pageAssets, port: 0, clock, log: silentLog },
  });
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  const page = await context.newPage();
  await page.goto(served.url);
  if (view !== "") await page.goto(`http://127.0.0.1:${served.port}/#/${view}`);
  await page
    .locator(view === "" ? ".card" : ".tabs")
    .first()
    .waitFor();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable");
  await sleep(clock, 2_000);
  await page.evaluate(
    "globalThis.longest = 0; new PerformanceObserver((list) => { for (const one of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, one.duration); }).observe({ type: 'longtask' })",
  );
  const before = await metricsOf(devtools);
  for (let update = 0; update < updates; update += 1) {
    source.step();
    await sleep(clock, pauseMs);
  }
  const after = await metricsOf(devtools);
  await devtools.send("HeapProfiler.collectGarbage");
  const { JSHeapUsedSize: heapBytes = 0 } = await metricsOf(devtools);
  const longestMs = Number(await page.evaluate("globalThis.longest"));
  await context.close();
  await served.close();
  const seconds = (after["TaskDuration"] ?? 0) - (before["TaskDuration"] ?? 0);
  return {
    what: view === "" ? "100 clusters" : `2,000 process groups, ${view.split("/").at(-1)}`,
    updateMs: Math.round((seconds / updates) * 10_000) / 10,
    longestMs: Math.round(longestMs),
    heapMegabytes: Math.round(heapBytes / 100_000) / 10,
  };
}

async function metricsOf(devtools: DevtoolsSession): Promise<Record<string, number>> {
  const { metrics } = (await devtools.send("Performance.getMetrics")) as {
    metrics: { name: string; value: number }[];
  };
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

export function pageAims(runs: readonly PageRun[]): Aim[] {
  return runs.flatMap(({ what, updateMs, heapMegabytes }) => [
    {
      ...{ what: `page, ${what}: an update, ms`, value: updateMs, limit: aims.updateMs },
      isMet: updateMs <= aims.updateMs,
    },
    {
      ...{ what: `page, ${what}: heap, MB`, value: heapMegabytes, limit: aims.heapMegabytes },
      isMet: heapMegabytes <= aims.heapMegabytes,
    },
  ]);
}

export function pageTable(runs: readonly PageRun[]): string {
  if (runs.length === 0) return "";
  return renderTable(
    "The page in a browser, with 100 clusters and one of 2,000 process groups",
    [
      { title: "view", cell: ({ what }) => what, align: "left" },
      { title: "update, ms", cell: ({ updateMs }) => String(updateMs) },
      { title: "aim", cell: () => String(aims.updateMs) },
      { title: "", cell: ({ updateMs }) => mark(updateMs <= aims.updateMs) },
      { title: "longest task, ms", cell: ({ longestMs }) => String(longestMs || "below 50") },
      { title: "heap, MB", cell: ({ heapMegabytes }) => String(heapMegabytes) },
      { title: "aim", cell: () => String(aims.heapMegabytes) },
      { title: "", cell: ({ heapMegabytes }) => mark(heapMegabytes <= aims.heapMegabytes) },
    ],
    runs,
  );
}

/** At every step one card says something else, too. */
function withChangingCard(source: SampleSource): SampleSource {
  let steps = 0;
  const changed = (model: PageModel): PageModel => {
    const [key, card] = Object.entries(model.clusters)[steps % 100] ?? [];
    if (key === undefined || card === undefined) return model;
    const headline = `Healthy for ${steps}m: everything is as specified.`;
    return { ...model, clusters: { ...model.clusters, [key]: { ...card, headline } } };
  };
  return {
    ...source,
    look: (cluster, onNews) => {
      const look = source.look(cluster, onNews);
      return { ...look, model: () => changed(look.model()) };
    },
    step() {
      steps += 1;
      source.step();
    },
  };
}
