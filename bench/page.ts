// What the page costs a browser, by the browser's own count: processor time of the main thread for one update, and heap, with a
// hundred clusters and one of 2,000 process groups. The same loop is timed beside every update: by how much its longest run is
// longer than its shortest, the machine was disturbed. Needs the browser of the tests. Rules: spec/page.md [PAGE14].
import { machineClock, sleep } from "../src/env/clock.ts";
import { leastOf, mostOf } from "../src/env/long-lists.ts";
import { silentLog } from "../src/env/log.ts";
import { pageAssets } from "../src/web/server/page-assets.ts";
import { serveDashboard } from "../src/web/server/serve.ts";
import type { PageModel } from "../src/web/view-model.ts";
import { closeSharedBrowser, sharedBrowser } from "../test/browser/browser.ts";
import type { Browser, DevtoolsSession } from "../test/browser/playwright.ts";
import { changingSource, withTile } from "../test/web/changing-source.ts";
import { sampleSource } from "../test/web/sample-source.ts";
import type { SampleSource } from "../test/web/sample-source.ts";
import { mark } from "./aims.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";

export interface PageRun {
  what: string;
  /** Of one update: script, style, layout and painting on the main thread. */
  updateMs: number;
  /** Of the update that took longest. */
  worstMs: number;
  /** Of a loop that is the same beside every update. */
  loopLeastMs: number;
  loopMostMs: number;
  heapMegabytes: number;
}

const aims = { updateMs: 50, worstMs: 50, heapMegabytes: 150 };
const updates = 20;
/** The server pushes at most twice in a second. */
const pauseMs = 700;
const views = ["map", "now", "time-line", "figures", "backups"];

/** None where there is no browser. */
export async function runPage(progress: (text: string) => void): Promise<PageRun[]> {
  const opened = await sharedBrowser();
  if ("missing" in opened) {
    progress(`the page is not measured: ${opened.missing}`);
    return [];
  }
  progress("the page: a cluster of 2,000 process groups comes up");
  const source = await sampleSource(2_000, 97);
  const runs: PageRun[] = [];
  for (const view of ["", ...views.map((name) => `cluster/default/sample/${name}`)]) {
    progress(`the page, ${view === "" ? "all clusters" : view}`);
    runs.push(await runView(opened.browser, view, source));
  }
  await closeSharedBrowser();
  return runs;
}

async function runView(browser: Browser, view: string, samples: SampleSource): Promise<PageRun> {
  const clock = machineClock();
  const source = changingSource(samples);
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
  // Time of the processor: asked for in any other way, it is silently the time of the clock, with that of other programs in it.
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await sleep(clock, 2_000);
  const taken: number[] = [];
  const loops: number[] = [];
  for (let update = 1; update <= updates; update += 1) {
    loops.push(Number(await page.evaluate(loop)));
    const before = await taskMs(devtools);
    source.change((model) => changed(model, update));
    await sleep(clock, pauseMs);
    taken.push((await taskMs(devtools)) - before);
  }
  await devtools.send("HeapProfiler.collectGarbage");
  const { JSHeapUsedSize: heapBytes = 0 } = await metricsOf(devtools);
  await context.close();
  await served.close();
  const tenths = (value: number): number => Math.round(value * 10) / 10;
  return {
    what: view === "" ? "100 clusters" : `2,000 process groups, ${view.split("/").at(-1)}`,
    updateMs: tenths(taken.reduce((sum, one) => sum + one, 0) / updates),
    worstMs: tenths(mostOf(taken)),
    loopLeastMs: tenths(leastOf(loops)),
    loopMostMs: tenths(mostOf(loops)),
    heapMegabytes: Math.round(heapBytes / 100_000) / 10,
  };
}

const loop =
  "(() => { const from = performance.now(); let sum = 0; for (let i = 0; i < 4e6; i += 1) sum += Math.sqrt(i); return sum > 0 ? performance.now() - from : 0; })()";

async function taskMs(devtools: DevtoolsSession): Promise<number> {
  return ((await metricsOf(devtools))["TaskDuration"] ?? 0) * 1_000;
}

/** One look at the database later: other figures, one tile and one card say something else. */
function changed(model: PageModel, update: number): PageModel {
  const { cluster, clusters } = model;
  const [key, card] = Object.entries(clusters)[update % 100] ?? [];
  const headline = `Healthy for ${update}m: everything is as specified.`;
  const cards = key && card ? { ...clusters, [key]: { ...card, headline } } : clusters;
  if (cluster === undefined || cluster.isMissing) return { ...model, clusters: cards };
  const ids = Object.keys(cluster.map.tiles);
  const state = (["starting", "failing", "well"] as const)[update % 3] ?? "well";
  const tiled = withTile(model, ids[(update * 7) % ids.length] ?? "", { state });
  const { figures } = cluster;
  const moved = {
    ...figures,
    timesMs: [...figures.timesMs.slice(1), (figures.timesMs.at(-1) ?? 0) + update * 5_000],
    series: Object.fromEntries(
      Object.entries(figures.series).map(([name, values]) => [
        name,
        [...values.slice(1), (values.at(-1) ?? 1) * (1 + Math.sin(update) / 20)],
      ]),
    ),
  };
  const drawn = tiled.cluster as typeof cluster;
  return { ...tiled, clusters: cards, cluster: { ...drawn, figures: moved } };
}

async function metricsOf(devtools: DevtoolsSession): Promise<Record<string, number>> {
  const { metrics } = (await devtools.send("Performance.getMetrics")) as {
    metrics: { name: string; value: number }[];
  };
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

export function pageAims(runs: readonly PageRun[]): Aim[] {
  const names = {
    updateMs: "an update, ms",
    worstMs: "the worst update, ms",
    heapMegabytes: "heap, MB",
  };
  return runs.flatMap((run) =>
    (["updateMs", "worstMs", "heapMegabytes"] as const).map((name) => ({
      ...{ what: `page, ${run.what}: ${names[name]}`, value: run[name], limit: aims[name] },
      isMet: run[name] <= aims[name],
    })),
  );
}

export function pageTable(runs: readonly PageRun[]): string {
  if (runs.length === 0) return "";
  return renderTable(
    "The page in a browser, with 100 clusters and one of 2,000 process groups",
    [
      { title: "view", cell: ({ what }) => what, align: "left" },
      { title: "update, CPU ms", cell: ({ updateMs }) => String(updateMs) },
      { title: "worst", cell: ({ worstMs }) => String(worstMs) },
      { title: "aim", cell: () => String(aims.worstMs) },
      { title: "", cell: ({ worstMs }) => mark(worstMs <= aims.worstMs) },
      {
        title: "a loop, ms",
        cell: ({ loopLeastMs, loopMostMs }) => `${loopLeastMs} to ${loopMostMs}`,
      },
      { title: "heap, MB", cell: ({ heapMegabytes }) => String(heapMegabytes) },
      { title: "aim", cell: () => String(aims.heapMegabytes) },
      { title: "", cell: ({ heapMegabytes }) => mark(heapMegabytes <= aims.heapMegabytes) },
    ],
    runs,
  );
}
