// One way to get stuck: how it comes about, and the cause that a person must find. Whoever looks at the status and
// whoever reads the page of `explain` must both find it. Rules: spec/explain.md [E40], [E41].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BlockedBy, ClusterSpec } from "../../src/api/cluster.ts";
import { explainText } from "../../src/plugin/explain/explain.ts";
import { minuteMs, TestWorld, tiny } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

export interface StuckCase {
  title: string;
  world?: TestWorldOptions;
  spec?: Partial<ClusterSpec>;
  /** The cluster does not get as far as being reconciled before it happens. */
  isNew?: boolean;
  /** What is wrong before the cluster is created. */
  before?: (world: TestWorld) => Promise<void>;
  /** What goes wrong, in a cluster that is at rest. */
  happens?: (world: TestWorld) => Promise<void>;
  /** In blockedBy; undefined when the operator is not stuck and only reports. */
  reason?: string;
  /** Something else is named before it, since it is the cause of the cause. */
  isSecond?: boolean;
  /** The cause, in the message of that entry. */
  message?: RegExp;
  /** The cause on the page, whose lines are joined. */
  page: RegExp;
  limitMs?: number;
  /** Of the cluster that is looked at, when it is not the first one. */
  name?: string;
}

/** The page as one line, so that line breaks do not matter. */
export async function pageOf(world: TestWorld, name = "sample"): Promise<string> {
  const text = await explainText(
    world.client,
    { namespace: "default", name },
    "https://kubernetes",
    world.clock,
    "text",
    { width: 100, hasColor: false },
  );
  return text.replaceAll(/\s+/g, " ");
}

async function entryOf(world: TestWorld, wanted: StuckCase): Promise<BlockedBy | undefined> {
  const { status } = await world.cluster({ name: wanted.name ?? "sample" });
  return status?.blockedBy?.find(
    ({ reason, message }) => reason === wanted.reason && (wanted.message?.test(message) ?? true),
  );
}

export function stuckTest(wanted: StuckCase): void {
  test(`[E40] stuck: ${wanted.title}`, async () => {
    const { spec = tiny, isNew = false, world: options = {} } = wanted;
    const body = async (world: TestWorld): Promise<void> => {
      if (isNew) {
        await wanted.before?.(world);
        await world.createCluster(spec);
      }
      await wanted.happens?.(world);
      await untilFound(world, wanted);
    };
    if (isNew) await TestWorld.run(options, body);
    else await TestWorld.runWithCluster({ ...options, spec }, body);
  });
}

async function untilFound(world: TestWorld, wanted: StuckCase): Promise<void> {
  const { reason, limitMs = 10 * minuteMs, name = "sample" } = wanted;
  const what = `blocked by ${reason}: ${wanted.message?.source}`;
  const isFound = async (): Promise<boolean> => (await entryOf(world, wanted)) !== undefined;
  if (reason !== undefined) {
    await world.until(isFound, what, limitMs, { name });
    // Whoever is stuck stays stuck, and the cause stays in sight.
    await world.clock.advance(5 * minuteMs);
    await world.until(isFound, `still ${what}`, minuteMs, { name });
    const entry = await entryOf(world, wanted);
    assert.notEqual(entry?.remedy ?? "", "", "a remedy is named");
    assert.notEqual(entry?.since ?? "", "", "since when is named");
    const first = (await world.cluster({ name })).status?.blockedBy?.[0];
    const isFirst = first?.reason === reason;
    const story = await world.report({ name });
    assert.equal(isFirst, wanted.isSecond !== true, `what is named first\n${story}`);
  } else {
    await world.clock.advance(minuteMs);
  }
  assert.match(await pageOf(world, name), wanted.page);
}
