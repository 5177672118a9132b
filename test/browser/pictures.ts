// `npm run pictures`: the pictures of README and manual, from the running program: the terminal, and the dashboard of a cluster
// that has lost a pod while no node takes another.
import { join } from "node:path";
import { writeTerminalPicture } from "../../scripts/draw-terminal.ts";
import { pods } from "../../src/kube/resource.ts";
import { closeSharedBrowser, sharedBrowser } from "./browser.ts";
import { changeCluster, closeNodes, createCluster, openWorld } from "./live-world.ts";
import type { Page } from "./playwright.ts";

const folder = join(import.meta.dirname, "../../docs");
const patience = { timeout: 120_000 };
await writeTerminalPicture();
const opened = await sharedBrowser();
if ("missing" in opened) {
  process.stderr.write(`no pictures of the dashboard: ${opened.missing}\n`);
  process.exitCode = 1;
} else {
  const live = await openWorld();
  const viewport = { width: 1_200, height: 860 };
  const context = await opened.browser.newContext({ viewport, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(live.url);
  await createCluster(live, "sample");
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/#/cluster/default/sample/map`);
  await page.getByText("All is well").first().waitFor(patience);
  await closeNodes(live, true);
  const { items } = await live.world.client.list(pods, { namespace: "default" });
  const lost = items.find(({ metadata }) => metadata.name?.includes("-storage-"));
  const name = lost?.metadata.name ?? "";
  await live.world.client.delete(pods, { namespace: "default", name });
  await page.locator(".legend .state-starting, .legend .state-failing").first().waitFor(patience);
  await page.locator(".to-do").waitFor(patience);
  await take(page, "dashboard-map");
  await closeNodes(live, false);
  await page.getByText("All is well").first().waitFor(patience);
  await changeCluster(live, "sample", { version: "7.3.79" });
  await page.goto(`${origin}/#/cluster/default/sample/time-line`);
  await page.locator(".head").getByText("version 7.3.79").waitFor(patience);
  await page.getByText("All is well").first().waitFor(patience);
  await page.emulateMedia({ colorScheme: "dark" });
  await take(page, "dashboard-time-line");
  await context.close();
  await live.close();
  await closeSharedBrowser();
}

async function take(page: Page, name: string): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  await page.screenshot({ path: join(folder, `${name}.png`) });
  process.stdout.write(`docs/${name}.png\n`);
}
