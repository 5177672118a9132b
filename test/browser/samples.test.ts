// The page with clusters of a simulated world in a real browser: every view, by keyboard, dark and light, at 200 % zoom.
// Rules: spec/page.md.
import { strict as assert } from "node:assert";
import { sampleSource } from "../web/sample-source.ts";
import { dayTwoWorld } from "../web/day-two-world.ts";
import { changingSource, withTile } from "../web/changing-source.ts";
import { sceneSource } from "../web/scene-source.ts";
import { until } from "../web/web-client.ts";
import { WebProblem } from "../../src/web/server/source.ts";
import type { Source } from "../../src/web/server/source.ts";
import { minuteMs } from "../world/world-harness.ts";
import {
  browserTest,
  clusterPaths,
  samples,
  seriousViolations,
  serving,
  untilSo,
} from "./harness.ts";
import type { Page } from "./playwright.ts";

const everywhere = ["", ...clusterPaths];

for (const colorScheme of ["dark", "light"] as const) {
  browserTest(
    `[PAGE1] [PAGE13] every view in ${colorScheme}: no complaint, no other origin, nothing serious for axe`,
    async (open) => {
      const served = await serving(await samples(16));
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
  await untilSo(page, () => document.querySelector("textarea")?.value !== "");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("region", { name: "What would happen" }).waitFor();
}

browserTest("[PAGE13] at 200 % zoom nothing has to be scrolled sideways", async (open) => {
  const source = await samples(16);
  const served = await serving(source);
  const viewport = { width: 640, height: 450 };
  const { page, show } = await open(served.url, { viewport, deviceScaleFactor: 2 });
  const { clusters: _, cluster } = source
    .look({ namespace: "default", name: "sample" }, () => {})
    .model();
  assert.ok(cluster?.isMissing === false);
  const [group = ""] = Object.keys(cluster.map.tiles);
  for (const path of [...everywhere, `default/sample/map/${group}`]) {
    await show(path);
    if (path.endsWith(group)) await page.locator(".story section").first().waitFor();
    if (path.endsWith("preview")) await askPreview(page);
    const over = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    });
    assert.ok(over <= 0, `${path}: ${over} pixels too wide`);
  }
});

browserTest("[PAGE13] a choice of colours is kept", async (open) => {
  const served = await serving(await samples(3));
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

/** What a screen reader is told of the tile that the keyboard is at. */
const activeText = `(document.querySelector("#active-tile")?.textContent ?? "")`;

browserTest(
  "[PAGE2] [PAGE3] [PAGE8] with the keyboard alone one finds what is wrong",
  async (open) => {
    const served = await serving(await samples(40));
    const { page } = await open(served.url);
    const untilFocused = (wanted: string): Promise<void> =>
      untilSo(page, (text) => document.activeElement?.textContent === text, wanted);
    const activeTile = async (): Promise<string> => {
      await untilSo(
        page,
        (before) => {
          const text = document.querySelector("#active-tile")?.textContent ?? "";
          return text !== "" && text !== before;
        },
        told,
      );
      told = String(await page.evaluate(activeText));
      return told;
    };
    let told = "";
    await page.locator(".card").first().waitFor();
    await page.keyboard.press("Tab");
    await untilFocused("Skip to the content");
    await page.keyboard.press("Enter");
    await untilSo(page, () => document.activeElement?.id === "main");
    await page.keyboard.press("/");
    await page.keyboard.type("default/sample");
    await untilSo(page, () => document.querySelectorAll(".card").length === 1);
    await page.keyboard.press("Tab");
    await untilFocused("default/sample");
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
    const first = await activeTile();
    await page.keyboard.press("ArrowRight");
    await activeTile();
    await page.keyboard.press("Home");
    assert.equal(await activeTile(), first);
    await page.keyboard.press("End");
    await activeTile();
    await page.keyboard.press("t");
    const trouble = await activeTile();
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
      await untilSo(page, (end) => location.hash.endsWith(end), path);
    }
    await page.keyboard.press("g");
    await page.getByRole("heading", { name: "Clusters" }).waitFor();
  },
);

browserTest("[PAGE5] [PAGE8] the map says in words what its colours say", async (open) => {
  const served = await serving(await samples(40));
  const { page, show } = await open(served.url);
  await show("default/sample/map");
  await page.getByText("All process groups as a table").click();
  await page.locator("tbody tr").first().waitFor();
  const rows = await page.evaluate(() =>
    [...document.querySelectorAll("tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent.trim()),
    ),
  );
  const head = await page.locator(".head .meta").first().innerText();
  assert.match(head, new RegExp(`of ${rows.length} process groups well`));
  const states = Object.groupBy(rows, ([, state = ""]) => state);
  const legend = await page.getByRole("list", { name: "States of process groups" }).innerText();
  for (const [state, found = []] of Object.entries(states)) {
    assert.match(legend, new RegExp(`\\b${found.length}\\s+${state}\\b`));
  }
});

browserTest(
  "[PAGE16] a change that cannot be previewed is told with the server's sentence",
  async (open) => {
    const served = await serving(await samples(3));
    const { page, show, allowed } = await open(served.url);
    allowed.push(/status of 422/);
    await show("default/sample/preview");
    await untilSo(page, () => document.querySelector("textarea")?.value !== "");
    await page.locator("textarea").fill("nonsense");
    await page.getByRole("button", { name: "Preview" }).click();
    const told = await page.getByRole("alert").innerText();
    assert.match(told, /there is no FoundationDBCluster default\/sample in this text/);
  },
);

browserTest(
  "[PAGE16] a preview under way says how long it may take, and whoever stops it or leaves ends it",
  async (open) => {
    let ended = 0;
    const endless: Source["preview"] = (_request, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          ended += 1;
          reject(new WebProblem(504, "ended"));
        });
      });
    const served = await serving({ ...sceneSource(), preview: endless });
    const { page, show } = await open(served.url);
    const begin = async (): Promise<void> => {
      await show("default/sample/preview");
      await page.getByRole("radio", { name: "Another version" }).click();
      await page.getByRole("textbox", { name: "Version" }).fill("7.3.79");
      await page.getByRole("button", { name: "Preview" }).click();
      await page.locator(".preview-progress").waitFor();
    };
    await begin();
    assert.match(await page.locator(".preview-progress").innerText(), /of at most 10m\./);
    assert.deepEqual(await seriousViolations(page), []);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("You stopped the preview.").waitFor();
    await until("it is ended", () => ended === 1);
    await begin();
    await show("default/sample/map");
    await until("it is ended, too", () => ended === 2);
  },
);

browserTest(
  "[PAGE4] a lost connection is told, what was known stays, and it mends itself",
  async (open) => {
    const source = await samples(16);
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

browserTest("[PAGE7] [PAGE14] only tiles that changed are drawn again", async (open) => {
  const source = changingSource(await samples(40));
  const served = await serving(source);
  const { page, show } = await open(served.url);
  await show("default/sample/map");
  await untilSo(page, () => document.querySelector("canvas")?.dataset["drawn"] !== undefined);
  const group = String(await page.evaluate(activeText)).split(",")[0] ?? "";
  // The layout may settle once more while the first change is drawn; from then on a change is one tile.
  const states = ["failing", "starting", "failing"] as const;
  for (const state of states) {
    source.change((model) => withTile(model, group, { state }));
    await untilSo(
      page,
      (word) => {
        const canvas = document.querySelector("canvas");
        const text = document.querySelector("#active-tile")?.textContent;
        return text?.includes(word) === true && canvas?.dataset["drawn"] !== undefined;
      },
      state,
    );
    await framesOf(page);
  }
  const drawn = await page.evaluate(() => document.querySelector("canvas")?.dataset["drawn"]);
  assert.equal(drawn, "1");
});

/** What is asked for in a frame is drawn in the next. */
function framesOf(page: Page): Promise<unknown> {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

browserTest("[PAGE10] a chosen tile tells its story again when it changes", async (open) => {
  const source = await sampleSource(16);
  const served = await serving(source);
  const { page, show } = await open(served.url);
  await show("default/sample/map");
  await page.getByText("All process groups as a table").click();
  const row = page.locator("tbody tr", { hasText: "MissingProcesses" }).first();
  const group = (await row.locator("th").innerText()).trim();
  await row.getByRole("button").click();
  const story = page.getByRole("complementary", { name: group });
  await story.getByText("MissingProcesses").first().waitFor();
  await story
    .getByText(/not ready/)
    .first()
    .waitFor();
  await source.world.world.kubelet.startNode(source.lostNode ?? "");
  await source.advance(5 * minuteMs);
  await story.locator(".state-well").first().waitFor();
  await story.getByText(/Running, ready/).waitFor();
});

browserTest("[PAGE9] what is waited for is told with its reason and its remedy", async (open) => {
  const served = await serving(await samples(16));
  const { page, show } = await open(served.url);
  await show("default/sample/now");
  const wait = page.locator(".wait", { hasText: "NodeNotReady" });
  const told = await wait.first().innerText();
  assert.match(told, /step addPods · for \d/);
  assert.match(told, /What to do: Bring the node back\./);
});

browserTest(
  "[PAGE9] [PAGE19] the command of a remedy can be copied, and its words are whole",
  async (open) => {
    const { source } = await dayTwoWorld();
    const served = await serving(source);
    const { page, show } = await open(served.url, { viewport: { width: 700, height: 800 } });
    await show("default/window/now");
    const copy = page.getByRole("button", { name: "Copy the command: If it cannot wait" });
    await copy.waitFor();
    const lines = await page.evaluate(() =>
      [...document.querySelectorAll(".remedy code .whole")].map((word) => [
        word.textContent.trim(),
        word.getClientRects().length,
      ]),
    );
    assert.equal(
      lines
        .map(([word]) => word)
        .join(" ")
        .startsWith("kubectl annotate "),
      true,
    );
    for (const [word, rows] of lines) assert.equal(rows, 1, String(word));
  },
);

browserTest(
  "[PAGE10] the bar says which cluster is shown when its head has been scrolled away",
  async (open) => {
    const served = await serving(await samples(40));
    const { page, show } = await open(served.url, { viewport: { width: 1_000, height: 500 } });
    await show("default/sample/now");
    assert.equal(await page.locator(".shown-cluster").count(), 0);
    await page.evaluate(() => globalThis.scrollTo({ top: 400 }));
    const told = await page.locator(".shown-cluster").innerText();
    assert.match(told, /default\/sample\s+✕\s+Somebody is needed: backup off-site/);
  },
);

browserTest("[PAGE2] [PAGE6] what is said of clusters of day two is so", async (open) => {
  const { source } = await dayTwoWorld();
  const served = await serving(source);
  const { page, show } = await open(served.url);
  const chips: readonly [cluster: string, chip: RegExp, said: RegExp][] = [
    ["asleep", /Asleep/, /Asleep since .*☾\s*sleeps/s],
    ["window", /Waits for its window/, /waits for a maintenance window .*Nov 18, 02:00 UTC/],
    ["drain", /The operator is at work/, /storage-\d+ leaves its node, which is being drained/],
    ["quarantine", /All is well/, /1 volume in quarantine/],
    [
      "backup",
      /Somebody is needed: backup off-site/,
      /Backup off-site: .*1 of 1 backup in trouble/s,
    ],
  ];
  for (const [cluster, chip, said] of chips) {
    await show("");
    const card = page.locator(".card", { hasText: `default/${cluster}` });
    // On a busy machine the page shows what it has of a cluster before the newest has come.
    await card.locator(".chip").first().filter({ hasText: chip }).waitFor();
    await card.filter({ hasText: said }).first().waitFor();
    await show(`default/${cluster}/map`);
    await page.locator(".head .chip").first().filter({ hasText: chip }).waitFor();
    assert.deepEqual(await seriousViolations(page), [], cluster);
  }
});
