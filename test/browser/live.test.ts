// The dashboard of `npm start` in a real browser, on a whole world in this process: what happens to a cluster is seen on the
// page as it happens. Nothing waits for a time, only for what is shown. Rules: spec/page.md.
import { strict as assert } from "node:assert";
import { pods } from "../../src/kube/resource.ts";
import { browserTest } from "./harness.ts";
import { changeCluster, closeNodes, createCluster, openWorld } from "./live-world.ts";
import type { LiveWorld } from "./live-world.ts";
import type { Page } from "./playwright.ts";

browserTest(
  "[PAGE2] [PAGE4] [PAGE7] [PAGE10] [PAGE11] a cluster comes up live, loses a pod, and is upgraded before one's eyes",
  async (open) => {
    const live = await openWorld();
    try {
      const { page, show } = await open(live.url);
      await page.getByText("No cluster yet").waitFor();
      await createCluster(live, "sample");
      await page.getByRole("link", { name: "default/sample" }).waitFor();
      await show("default/sample/map");
      await page.getByText("All is well").first().waitFor();
      await losePod(live, page);
      await upgrade(live, page);
    } finally {
      await live.close();
    }
  },
);

/** While no node takes pods, its tile stays without one. */
async function losePod(live: LiveWorld, page: Page): Promise<void> {
  await page.getByText("All process groups as a table").click();
  const group = (await page.locator("tbody th").first().innerText()).trim();
  const row = page.locator("tbody tr", { hasText: group }).first();
  await row.locator(".state-well").first().waitFor();
  await row.getByRole("button").click();
  const story = page.getByRole("complementary", { name: group });
  await story.getByText(/Running, ready/).waitFor();
  await closeNodes(live, true);
  await live.world.client.delete(pods, { namespace: "default", name: `sample-${group}` });
  await story.locator(".state-starting, .state-failing").first().waitFor();
  await row.locator(".state-starting, .state-failing").first().waitFor();
  await closeNodes(live, false);
  await story.locator(".state-well").first().waitFor();
  await story.getByText(/Running, ready/).waitFor();
}

async function upgrade(live: LiveWorld, page: Page): Promise<void> {
  await page.keyboard.press("3");
  await page.getByRole("heading", { name: "Time line" }).waitFor();
  // The operator is held until the page has told of the wish: it would be done with it before the page looks again.
  await live.world.stopOperator();
  await changeCluster(live, "sample", { version: "7.3.79" });
  await page.getByText("version 7.3.63 → 7.3.79").waitFor();
  live.world.startOperator();
  const entries = page.getByRole("list", { name: /Entries/ });
  await entries.locator(".kind-act").first().waitFor();
  await entries.locator(".kind-recovery").first().waitFor();
  await page.locator(".head").getByText("version 7.3.79").waitFor();
  await page.getByText("All is well").first().waitFor();
}

browserTest("[PAGE2] [PAGE9] a cluster that is blocked says what to do", async (open) => {
  const live = await openWorld();
  try {
    await createCluster(live, "too-large", ({ spec }) => {
      const [container] = spec.processes?.["general"]?.podTemplate?.spec?.containers ?? [];
      assert.ok(container !== undefined);
      container.resources = { requests: { cpu: "900", memory: "512Mi" } };
    });
    const { page, show } = await open(live.url);
    await show("default/too-large/now");
    await page.getByRole("heading", { name: "What to do" }).waitFor();
    const remedy = await page.locator(".to-do-remedy").innerText();
    assert.match(remedy, /node|request|resources|room/i);
    await page
      .getByText(/Insufficient cpu/)
      .first()
      .waitFor();
  } finally {
    await live.close();
  }
});

browserTest("[PAGE17] a user to whom the API server refuses things is told which", async (open) => {
  const live = await openWorld();
  try {
    const allowed = ["foundationdbclusters", "foundationdbrestores", "pods", "events"];
    live.world.server.context.authorize = ({ userName, resource }) =>
      userName !== "dashboard" || allowed.includes(resource);
    await createCluster(live, "sample");
    const { page, show } = await open(live.url);
    await page.getByText("You see less than there is").waitFor();
    await page.getByText("backups: not allowed").first().waitFor();
    await show("default/sample/map");
    await page.getByText("All is well").first().waitFor();
    await page.getByText(/Roles are not known: .* not allowed to run fdbcli/).waitFor();
    await show("default/sample/now");
    const unread = page.locator("section.block", { hasText: "What could not be read" });
    await unread.getByText("nodes: not allowed").waitFor();
    await unread.getByText("volume claims: not allowed").waitFor();
    await show("default/sample/backups");
    await page.locator("p.notice", { hasText: "backups: not allowed" }).waitFor();
    assert.equal(await page.getByText("nothing of it can be restored").count(), 0);
  } finally {
    await live.close();
  }
});
