// A dashboard and a page on it for each test: what the page complains of, and what it asks of other origins, fails the test.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, test } from "node:test";
import { machineClock } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { pageAssets } from "../../src/web/server/page-assets.ts";
import { serveDashboard } from "../../src/web/server/serve.ts";
import type { ServedDashboard } from "../../src/web/server/serve.ts";
import { WebProblem } from "../../src/web/server/source.ts";
import type { Source } from "../../src/web/server/source.ts";
import { samplePreview } from "../web/sample-preview.ts";
import { sampleSource } from "../web/sample-source.ts";
import type { SampleSource } from "../web/sample-source.ts";
import type { PreviewAnswer, PreviewRequest } from "../../src/web/view-model.ts";
import { closeSharedBrowser, sharedBrowser } from "./browser.ts";
import type { AxeViolation, BrowserContext, ContextOptions, Page } from "./playwright.ts";

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Leads to a view of a cluster, "default/sample/map", or to all clusters, "". */
  readonly show: (path: string) => Promise<void>;
  /** Console errors that belong to the test, such as those of a connection that it breaks. */
  readonly allowed: RegExp[];
}

/** On a busy machine everything takes its time. */
const patienceMs = 120_000;

type Opener = (url: string, options?: ContextOptions) => Promise<Visit>;

/** A long test that is skipped aloud where there is no browser. Whatever it opens is closed. */
export function browserTest(title: string, run: (open: Opener) => Promise<void>): void {
  test(`${title} (long)`, { timeout: 900_000 }, async (context) => {
    const opened = await sharedBrowser();
    if ("missing" in opened) {
      context.skip(opened.missing);
      return;
    }
    const visits: { visit: Visit; complaints: string[] }[] = [];
    try {
      await run(async (url, options = {}) => {
        const browsing = await opened.browser.newContext({
          ...{ viewport: { width: 1_280, height: 900 }, reducedMotion: "reduce" },
          ...options,
        });
        // Every wait of these tests is for something that stays so: only a test that fails waits so long.
        browsing.setDefaultTimeout(patienceMs);
        const page = await browsing.newPage();
        const { origin } = new URL(url);
        const complaints = complaintsOf(page, origin);
        const visit = { page, context: browsing, allowed: [], show: shower(page, origin) };
        visits.push({ visit, complaints });
        await page.goto(url);
        return visit;
      });
      for (const { visit, complaints } of visits) {
        const left = complaints.filter((text) => !visit.allowed.some((one) => one.test(text)));
        assert.deepEqual(left, []);
      }
    } finally {
      for (const { visit } of visits) await visit.context.close();
      for (const served of open.splice(0)) await served.close();
    }
  });
}

after(closeSharedBrowser);

/** Looks again and again by the clock: on a busy machine a page may not be drawn for minutes, and nothing that waits for its frames goes on. */
export async function untilSo<Argument = undefined>(
  page: Page,
  isSo: (argument: Argument) => unknown,
  argument?: Argument,
): Promise<void> {
  await page.waitForFunction(isSo, argument, { polling: 50 });
}

function complaintsOf(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) {
      complaints.push(`a request to another origin: ${url}`);
    }
  });
  return complaints;
}

function shower(page: Page, origin: string): Visit["show"] {
  return async (path) => {
    await page.goto(`${origin}/#/${path === "" ? "" : `cluster/${path}`}`);
    const landmark = path === "" ? ".title-row" : ".tabs [aria-current]";
    await page.locator(landmark).first().waitFor();
  };
}

/** Those that the test has not closed itself; tests of one process come one after the other. */
const open: ServedDashboard[] = [];

/** It ends with the test. */
export async function serving(source: Source, port = 0, key?: string): Promise<ServedDashboard> {
  const served = await serveDashboard({
    ...{ source, page: pageAssets, port, clock: machineClock(), log: silentLog },
    ...(key === undefined ? {} : { key }),
  });
  open.push(served);
  return served;
}

/** A real one takes as long as the machine is busy; the tests are of the page. */
async function samplePreviewOf(
  _cluster: unknown,
  { change }: PreviewRequest,
): Promise<PreviewAnswer> {
  if (change.type !== "yaml" || change.yaml.includes("kind:")) return samplePreview;
  throw new WebProblem(422, "there is no FoundationDBCluster default/sample in this text");
}

const worlds = new Map<string, Promise<SampleSource>>();

/** Of a simulated world in which time stands still. All tests of a file share those of one size, so that nobody changes them. */
export function samples(groups: number, moreClusters = 0): Promise<SampleSource> {
  const key = `${groups} ${moreClusters}`;
  const found = worlds.get(key) ?? sampleSource(groups, moreClusters, samplePreviewOf);
  worlds.set(key, found);
  return found;
}

/** What axe holds to be serious or worse, each in a line. */
export async function seriousViolations(page: Page): Promise<string[]> {
  const found = createRequire(join(import.meta.dirname, "package.json")).resolve("axe-core");
  await page.evaluate(readFileSync(found, "utf8"));
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: AxeViolation[] }> };
    };
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
}

export const clusterPaths: readonly string[] = [
  ...["map", "now", "time-line", "figures", "backups", "preview"],
].map((view) => `default/sample/${view}`);
