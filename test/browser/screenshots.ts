// `npm run screenshots`: every view of the dashboard, dark and light, with 3, 16 and 2,000 process groups, of a simulated world, in
// dist/screenshots, for people to look at. `-- map 16 dark` takes those with these words in their names.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { machineClock } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { pageAssets } from "../../src/web/server/page-assets.ts";
import { serveDashboard } from "../../src/web/server/serve.ts";
import { closeSharedBrowser, sharedBrowser } from "./browser.ts";
import type { Browser, Page } from "./playwright.ts";
import { sampleSource } from "../web/sample-source.ts";

const folder = join(import.meta.dirname, "../../dist/screenshots");
const wanted = process.argv.slice(2);
const sizes = [3, 16, 2_000] as const;
const views = ["clusters", "map", "story", "now", "time-line", "figures", "backups", "preview"];
const schemes = ["dark", "light"] as const;

const opened = await sharedBrowser();
if ("missing" in opened) {
  process.stderr.write(`no screenshots: ${opened.missing}\n`);
  process.exitCode = 1;
} else {
  mkdirSync(folder, { recursive: true });
  for (const size of sizes) await takeSize(opened.browser, size);
  await closeSharedBrowser();
}

async function takeSize(browser: Browser, groups: number): Promise<void> {
  const names = views.flatMap((view) => schemes.map((scheme) => [view, scheme] as const));
  const chosen = names.filter(([view, scheme]) =>
    wanted.every((word) => [view, scheme, String(groups)].includes(word)),
  );
  if (chosen.length === 0) return;
  const clock = machineClock();
  const moreClusters = groups === 2_000 ? 97 : 0;
  const source = await sampleSource(groups, moreClusters);
  const served = await serveDashboard({
    ...{ source, page: pageAssets, port: 0, clock, log: silentLog },
  });
  for (const [view, colorScheme] of chosen) {
    const context = await browser.newContext({
      viewport: { width: 1_440, height: 900 },
      colorScheme,
    });
    const page = await context.newPage();
    await page.goto(served.url);
    await show(page, view);
    const path = join(folder, `${view}-${groups}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: groups < 2_000 });
    process.stdout.write(`${path}\n`);
    await context.close();
  }
  await served.close();
}

async function show(page: Page, view: string): Promise<void> {
  const { origin } = new URL(page.url());
  const path = view === "story" ? "map" : view;
  if (view !== "clusters") await page.goto(`${origin}/#/cluster/default/sample/${path}`);
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
  if (view === "preview") {
    await page.getByRole("radio", { name: "Another version" }).click();
    await page.getByRole("textbox", { name: "Version" }).fill("7.3.79");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.locator(".preview-result, [role=alert]").first().waitFor({ timeout: 150_000 });
  }
  if (view !== "story") await page.evaluate(() => globalThis.scrollTo({ top: 0 }));
  // Two frames: what is measured is drawn after what it is measured by.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}
