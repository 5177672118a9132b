// All pods are lost at once in the middle of a change of the IP family: the database is found as its coordinators are known, and
// each pod behind a service comes back in the family of that service. Rules: spec/plan.md [P114], [P119].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import { configMaps, pods } from "../../src/kube/resource.ts";
import { assertAllCopies } from "./removal-harness.ts";
import { keyOfObject, minuteMs, small, TestWorld } from "./world-harness.ts";

const quick: Partial<ClusterSpec> = {
  ...small,
  minimumUptimeSecondsForBounce: 30,
  automationOptions: { waitBetweenRemovalsSeconds: 0 },
};

type Family = 4 | 6 | null;

interface Case {
  readonly imageType: "split" | "unified";
  readonly found: "names" | "services" | "names of pods with services";
  /** The first one is there, the others are wished for one after the other. */
  readonly families: readonly [Family, ...Family[]];
  readonly seconds: number;
}

const routings: Readonly<Record<Case["found"], ClusterSpec["routing"]>> = {
  names: {},
  services: { publicIPSource: "service", useDNSInClusterFile: false },
  "names of pods with services": { publicIPSource: "service" },
};

const cases: readonly Case[] = [
  { imageType: "split", found: "names", families: [6, null], seconds: 2 },
  { imageType: "unified", found: "names", families: [6, null], seconds: 2 },
  { imageType: "split", found: "services", families: [null, 6], seconds: 15 },
  { imageType: "split", found: "services", families: [null, 6, null], seconds: 15 },
  { imageType: "unified", found: "services", families: [6, null, 6], seconds: 15 },
  {
    ...{ imageType: "split", found: "names of pods with services" },
    ...{ families: [6, null], seconds: 30 },
  },
  {
    ...{ imageType: "unified", found: "names of pods with services" },
    ...{ families: [null, 6], seconds: 30 },
  },
  {
    ...{ imageType: "unified", found: "names of pods with services" },
    ...{ families: [6, 4], seconds: 15 },
  },
];

async function wish(world: TestWorld, podIPFamily: Family): Promise<void> {
  const change = { routing: { podIPFamily } };
  await world.changeSpec(change);
}

for (const { imageType, found, families, seconds } of cases) {
  const path = families.map((family) => family ?? "none").join(" to ");
  test(`[P114] [P119] [B79] a power cut ${seconds} s into a change of the IP family, ${path}, with ${found} (${imageType} image) (long)`, async () => {
    const [first, ...wishes] = families;
    const routing = { ...routings[found], ...(first !== null && { podIPFamily: first }) };
    await TestWorld.runWithCluster(
      { spec: { ...quick, imageType, routing }, nodes: 12 },
      async (world) => {
        for (const family of wishes) {
          await wish(world, family);
          await world.clock.advance(seconds * 1_000);
        }
        for (const pod of await world.pods()) {
          await world.client.delete(pods, keyOfObject(pod), { gracePeriodSeconds: 0 });
        }
        await world.untilReconciled(90 * minuteMs);
        for (const pod of await world.pods()) {
          const family = pod.metadata.annotations?.[annotationKeys.ipFamily];
          assert.equal(family, String(wishes.at(-1) ?? 0), "as wished for in the end");
        }
        const [configMap] = (await world.client.list(configMaps)).items;
        const left = Object.keys(configMap?.data ?? {}).filter((key) => key.includes("-ipv"));
        assert.deepEqual(left, []);
        await assertAllCopies(world);
      },
    );
  });
}
