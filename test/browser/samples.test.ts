// The page with made-up clusters in a real browser: every view, by keyboard, dark and light, at 200 % zoom.
// Rules: spec/page.md.
import { strict as assert } from "node:assert";
import { browserTest, clusterPaths, samples, seriousViolations, serving } from "./harness.ts";
import type { Page } from "./playwright.ts";

const everywhere = ["", ...clusterPaths];

for (const colorScheme of ["dark", "light"] as const) {
  browserTest(
    `[PAGE1] [PAGE13] every view in ${colorScheme}: no complaint, no other origin, nothing serious for axe`,
    async (open) => {
      const served = await serving(samples(16));
      const { page, show } = await open(served.url, { colorScheme });
      for (const path of everywhere) {
        await show(path);
        if (path.endsWith("map")) await page.getByText("All process groups as a table").click();
        if (path.endsWith("preview")) await askPreview(page);
        assert.deepEqual(await seriousViolations(page), [], path);
      }
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(ground, colorScheme === "dark" ? "rgb(15, 18, 22)" : "rgb(245, 246, 248)");
    },
  );
}

async function askPreview(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector("textarea")?.value !== "");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("region", { name: "What would happen" }).waitFor();
}

browserTest("[PAGE13] at 200 % zoom nothing has to be scrolled sideways", async (open) => {
  const served = await serving(samples(16));
  const viewport = { width: 640, height: 450 };
  const { page, show } = await open(served.url, { viewport, deviceScaleFactor: 2 });
  for (const path of [...everywhere, "default/sample/map/log-1"]) {
    await show(path);
    if (path.endsWith("log-1")) await page.locator(".story section").first().waitFor();
    if (path.endsWith("preview")) await askPreview(page);
    const over = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    });
    assert.ok(over <= 0, `${path}: ${over} pixels too wide`);
  }
});

browserTest("[PAGE13] a choice of colours is kept", async (open) => {
  const served = await serving(samples(3));
  const { page } = await open(served.url, { colorScheme: "light" });
  const ground = (): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByRole("button", { name: /Colours: as the system/ }).click();
  await page.getByRole("button", { name: /Colours: dark/ }).waitFor();
  assert.equal(await ground(), "rgb(15, 18, 22)");
  await page.goto(page.url());
  await page.getByRole("button", { name: /Colours: dark/ }).waitFor();
  assert.equal(await ground(), "rgb(15, 18, 22)");
  await page.keyboard.press("d");
  await page.getByRole("button", { name: /Colours: light/ }).waitFor();
});

browserTest(
  "[PAGE2] [PAGE3] [PAGE8] with the keyboard alone one finds what is wrong",
  async (open) => {
    const served = await serving(samples(200));
    const { page } = await open(served.url);
    const focused = (): Promise<string> =>
      page.evaluate(() => document.activeElement?.textContent ?? "");
    await page.locator(".card").first().waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Skip to the content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
    await page.keyboard.press("/");
    await page.keyboard.type("default/sample");
    await page.waitForFunction(() => document.querySelectorAll(".card").length === 1);
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "default/sample");
    await page.keyboard.press("Enter");
    await page.getByRole("listbox").waitFor();
    assert.ok(page.url().endsWith("#/cluster/default/sample/map"));
    for (const question of [
      /Does the database serve/,
      /Are all processes and copies there/,
      /as specified\?/,
    ]) {
      await page.getByText(question).waitFor();
    }
    await page.keyboard.press("m");
    const active = page.locator("#active-tile");
    const first = await active.textContent();
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await active.textContent(), first);
    await page.keyboard.press("Home");
    assert.equal(await active.textContent(), first);
    await page.keyboard.press("t");
    const trouble = (await active.textContent()) ?? "";
    assert.match(trouble, /failing|starting|leaving|outdated|foreign/);
    await page.keyboard.press("Enter");
    const group = trouble.split(",")[0] ?? "";
    await page.getByRole("complementary", { name: group }).waitFor();
    assert.ok(page.url().endsWith(`/${group}`));
    await page.keyboard.press("Escape");
    await page.locator(".story").waitFor({ state: "detached" });
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    for (const [index, path] of clusterPaths.entries()) {
      await page.keyboard.press(String(index + 1));
      await page.waitForFunction((end) => location.hash.endsWith(end), path);
    }
    await page.keyboard.press("g");
    await page.getByRole("heading", { name: "Clusters" }).waitFor();
  },
);

browserTest("[PAGE5] [PAGE8] the map says in words what its colours say", async (open) => {
  const served = await serving(samples(200));
  const { page, show } = await open(served.url);
  await show("default/sample/map");
  await page.getByText("All process groups as a table").click();
  await page.locator("tbody tr").first().waitFor();
  const rows = await page.evaluate(() =>
    [...document.querySelectorAll("tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent.trim()),
    ),
  );
  assert.equal(rows.length, 200);
  const states = Object.groupBy(rows, ([, state = ""]) => state);
  const legend = await page.getByRole("list", { name: "States of process groups" }).innerText();
  for (const [state, found = []] of Object.entries(states)) {
    assert.match(legend, new RegExp(`\\b${found.length}\\s+${state}\\b`));
  }
});

browserTest(
  "[PAGE16] a change that cannot be previewed is told with the server's sentence",
  async (open) => {
    const served = await serving(samples(3));
    const { page, show, allowed } = await open(served.url);
    allowed.push(/status of 422/);
    await show("default/sample/preview");
    await page.waitForFunction(() => document.querySelector("textarea")?.value !== "");
    await page.locator("textarea").fill("nonsense");
    await page.getByRole("button", { name: "Preview" }).click();
    const told = await page.getByRole("alert").innerText();
    assert.match(told, /there is no FoundationDBCluster default\/sample in this text/);
  },
);

browserTest(
  "[PAGE4] a lost connection is told, what was known stays, and it mends itself",
  async (open) => {
    const source = samples(16);
    const served = await serving(source, 0, "a-key");
    const { page, show, allowed } = await open(served.url);
    allowed.push(/net::ERR_/);
    await show("default/sample/map");
    await page.getByText("live").waitFor();
    await served.close();
    await page.getByText(/connection to the dashboard's server is lost/).waitFor();
    assert.equal(await page.getByRole("heading", { name: "default/sample" }).count(), 1);
    await serving(source, served.port, "a-key");
    await page
      .getByText(/connection to the dashboard's server is lost/)
      .waitFor({ state: "detached" });
  },
);

browserTest(
  "[PAGE7] [PAGE14] of 2,000 tiles only those that changed are drawn again",
  async (open) => {
    const source = samples(2_000, 97);
    const served = await serving(source);
    const { page, show } = await open(served.url);
    await show("default/sample/map");
    const isDrawn = (count: string): boolean =>
      document.querySelector("canvas")?.dataset["drawn"] === count;
    await page.waitForFunction(isDrawn, "2000");
    // The layout may settle once more after the first drawing; from then on a step is one tile.
    for (let tries = 0; tries < 5; tries += 1) {
      source.step();
      const seen = page.waitForFunction(isDrawn, "1", { timeout: 5_000 });
      if (
        await seen.then(
          () => true,
          () => false,
        )
      )
        return;
    }
    assert.fail("a step of one tile drew more than that tile");
  },
);

browserTest("[PAGE10] a chosen tile tells its story again when it changes", async (open) => {
  const source = samples(16);
  const served = await serving(source);
  const { page, show } = await open(served.url);
  await show("default/sample/map");
  await page.getByText("All process groups as a table").click();
  await page.locator("tbody tr").first().waitFor();
  // The seventh in the order in which the server has them is the next to change.
  source.step();
  const changed = page.locator("tbody tr", { hasText: "MissingProcesses" });
  await changed.first().getByRole("button").click();
  const story = page.locator(".story");
  await story.getByText("failing").first().waitFor();
  await story.getByText("MissingProcesses").first().waitFor();
});

browserTest("[PAGE9] what is waited for is told with its reason and its remedy", async (open) => {
  const served = await serving(samples(16));
  const { page, show } = await open(served.url);
  await show("default/sample/now");
  const wait = page.locator(".wait", { hasText: "ProcessesTooYoung" });
  const told = await wait.first().innerText();
  assert.match(told, /step bounceProcesses · for \d/);
  assert.match(told, /What to do: Wait, or lower spec\.minimumUptimeSecondsForBounce\./);
});
