// The resources of examples/, as the manual shows them and as tests apply them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const folder = join(import.meta.dirname, "..", "..", "examples");

export function exampleText(file: string): string {
  return readFileSync(join(folder, file), "utf8");
}

export function exampleCluster(file: string): Stored<FoundationDBCluster> {
  const cluster = parse(exampleText(file)) as Stored<FoundationDBCluster>;
  return { ...cluster, metadata: { namespace: "default", ...cluster.metadata } };
}

/** A world in which the cluster of an example is up and at rest. */
export async function runWithExample(
  file: string,
  options: TestWorldOptions,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  await TestWorld.run(options, async (world) => {
    await world.client.create(foundationDbClusters, exampleCluster(file));
    await world.untilReconciled();
    await world.clock.advance(minuteMs);
    await body(world);
  });
}
