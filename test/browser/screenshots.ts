// `npm run screenshots`: every view of the dashboard, dark and light, with 3, 16 and 2,000 process groups, of a simulated world, and
// what clusters look like that sleep, wait for a window, leave a drained node, or keep a volume; in dist/screenshots, for people
// to look at. `-- map 16 dark` takes those with these words in their names, `-- '!2000'` those without.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { pageAssets } from "../../src/web/server/page-assets.ts";
import { serveDashboard } from "../../src/web/server/serve.ts";
import { previewLimitMs } from "../../src/web/preview-limit.ts";
import type { PreviewRequest } from "../../src/web/view-model.ts";
import type { Source } from "../../src/web/server/source.ts";
import { closeSharedBrowser, sharedBrowser } from "./browser.ts";
import type { Browser, Page } from "./playwright.ts";
import { dayTwoNames, dayTwoWorld } from "../web/day-two-world.ts";
import { sampleSource } from "../web/sample-source.ts";

const folder = join(import.meta.dirname, "../../dist/screenshots");
const wanted = process.argv.slice(2);
const sizes = [3, 16, 2_000] as const;
const views = [
  ...["clusters", "map", "story", "now", "time-line", "figures", "backups"],
  ...["preview-under-way", "preview"],
];
const schemes = ["dark", "light"] as const;

const opened = await sharedBrowser();
if ("missing" in opened) {
  process.stderr.write(`no screenshots: ${opened.missing}\n`);
  process.exitCode = 1;
} else {
  mkdirSync(folder, { recursive: true });
  for (const size of sizes) await takeSize(opened.browser, size);
  await takeDayTwo(opened.browser);
  await closeSharedBrowser();
}

interface Shot {
  /** Of which cluster; of all where it is undefined. */
  readonly cluster?: string;
  readonly view: string;
  readonly scheme: (typeof schemes)[number];
  readonly file: string;
}

/** What is previewed: of 2,000 process groups something that does not touch all of them, which would compute for minutes. */
function changeIn(groups: number, lostNode: string | undefined): PreviewRequest["change"] {
  if (groups < 2_000) return { type: "upgrade", version: "7.3.79" };
  return { type: "drain", node: lostNode === "node-1" ? "node-2" : "node-1" };
}

async function takeSize(browser: Browser, groups: number): Promise<void> {
  const chosen = views.flatMap((view) =>
    shotsOf([view, String(groups)], view === "clusters" ? { view } : { view, cluster: "sample" }),
  );
  if (chosen.length === 0) return;
  const source = await sampleSource(groups, groups === 2_000 ? 97 : 0);
  const change = changeIn(groups, source.lostNode);
  await take(browser, source, chosen, { fullPage: groups < 2_000, change });
}

/** All of them on one page, and each with its map and what goes on. */
async function takeDayTwo(browser: Browser): Promise<void> {
  const chosen = [
    ...shotsOf(["clusters", "day-two"], { view: "clusters" }),
    ...dayTwoNames.flatMap((cluster) =>
      ["map", "now"].flatMap((view) => shotsOf([view, cluster], { view, cluster })),
    ),
  ];
  if (chosen.length === 0) return;
  const { source } = await dayTwoWorld();
  await take(browser, source, chosen, { fullPage: true, change: changeIn(10, undefined) });
}

function isIn(words: readonly string[], word: string): boolean {
  return word.startsWith("!") ? !words.includes(word.slice(1)) : words.includes(word);
}

/** Dark and light, as far as they are wanted. */
function shotsOf(words: readonly string[], of: Pick<Shot, "cluster" | "view">): Shot[] {
  return schemes
    .filter((scheme) => wanted.every((word) => isIn([...words, scheme], word)))
    .map((scheme) => ({ ...of, scheme, file: `${[...words, scheme].join("-")}.png` }));
}

interface Manner {
  readonly fullPage: boolean;
  readonly change: PreviewRequest["change"];
}

async function take(
  browser: Browser,
  source: Source,
  shots: readonly Shot[],
  how: Manner,
): Promise<void> {
  const { fullPage, change } = how;
  const clock = machineClock();
  const served = await serveDashboard({
    ...{ source, page: pageAssets, port: 0, clock, log: silentLog },
  });
  for (const shot of shots) {
    if (shot.view === "preview") await answerPreview(source, change);
    const context = await browser.newContext({
      viewport: { width: 1_440, height: 900 },
      colorScheme: shot.scheme,
    });
    // On a busy machine everything takes its time.
    context.setDefaultTimeout(300_000);
    const page = await context.newPage();
    await page.goto(served.url);
    await show(page, shot, how);
    const path = join(folder, shot.file);
    await page.screenshot({ path, fullPage });
    process.stdout.write(`${path}\n`);
    await context.close();
  }
  await served.close();
}

/**
 * The same question has the same answer while time stands still: it is found before the page asks, whose patience is that of
 * a person. It ends by its own limit of computing, however busy the machine is. What is refused is told by the page.
 */
async function answerPreview(source: Source, change: PreviewRequest["change"]): Promise<void> {
  const { signal } = new AbortController();
  const request = { namespace: "default", cluster: "sample", change };
  await source.preview(request, signal).catch(() => undefined);
}

async function show(page: Page, { view, cluster }: Shot, how: Manner): Promise<void> {
  const { origin } = new URL(page.url());
  const path = { story: "map", "preview-under-way": "preview" }[view] ?? view;
  if (cluster !== undefined) {
    await page.goto(`${origin}/#/cluster/default/${cluster}/${path}`);
  }
  await page.locator("h1").first().waitFor();
  await page
    .locator(view === "clusters" ? ".card" : ".tabs")
    .first()
    .waitFor();
  if (view === "story") {
    await page.getByRole("listbox").focus();
    await page.keyboard.press("t");
    await page.keyboard.press("Enter");
    await page.locator(".story section").first().waitFor();
  }
  if (path === "preview") {
    await choose(page, how.change);
    await askPreview(page);
    const awaited =
      view === "preview" ? ".preview-result, [role=alert]" : ".preview-progress, [role=alert]";
    // As long as the page itself waits.
    await page
      .locator(awaited)
      .first()
      .waitFor({ timeout: previewLimitMs + 30_000 });
  }
  if (view !== "story" || how.fullPage) await page.evaluate(() => globalThis.scrollTo({ top: 0 }));
  // Two frames: what is measured is drawn after what it is measured by.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

async function choose(page: Page, change: PreviewRequest["change"]): Promise<void> {
  if (change.type === "drain") {
    await page.getByRole("radio", { name: "A node is drained" }).click();
    await page.getByRole("combobox", { name: "Node" }).selectOption(change.node);
  } else if (change.type === "upgrade") {
    await page.getByRole("radio", { name: "Another version" }).click();
    await page.getByRole("textbox", { name: "Version" }).fill(change.version);
  }
}

/** Again and again while the preview of the picture before comes to its end. */
async function askPreview(page: Page): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await page.getByRole("button", { name: "Preview" }).click();
    await page.locator(".preview-progress, .preview-result, [role=alert]").first().waitFor();
    if ((await page.getByText("another preview is being made").count()) === 0) return;
    await sleep(machineClock(), 2_000);
  }
}
