// Worlds with halls: the examples of the manual applied as a person would, and readers of where things stand.
import { join } from "node:path";
import { strict as assert } from "node:assert";
import { createResources } from "../../src/cli/create-resources.ts";
import { readDocuments } from "../../src/cli/documents.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { nodes } from "../../src/kube/resource.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { processesOf } from "../../src/model/locality.ts";
import { isMarkedForRemoval } from "../../src/model/process-group.ts";
import { person } from "./removal-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const root = join(import.meta.dirname, "..", "..");
export const zoneLabel = "topology.kubernetes.io/zone";

export const hallLocality = [{ key: "data_hall", topologyKey: zoneLabel }];

/** A resource over three halls that takes little room. */
export const threeHalls: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "three_data_hall" },
  localities: hallLocality,
  processCounts: { storage: 6, log: 9, stateless: 6 },
};

export async function applyExample(world: TestWorld, name: string): Promise<void> {
  const documents = await readDocuments(join(root, "examples", `${name}.yaml`));
  await createResources(world.client, world.world.transport, documents);
}

/** A cluster of the example that is up and at rest. */
export async function runExample(
  name: string,
  options: TestWorldOptions,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  await TestWorld.run({ nodes: 9, zones: 3, ...options }, async (world) => {
    await applyExample(world, name);
    await world.untilReconciled(10 * minuteMs);
    await world.clock.advance(minuteMs);
    await body(world);
  });
}

/** By class, how many process groups stand in each hall, halls in the order of their names. */
export async function groupsByHall(world: TestWorld): Promise<Record<string, number[]>> {
  const { status } = await world.cluster();
  const groups = (status?.processGroups ?? []).filter((group) => !isMarkedForRemoval(group));
  const halls = [...new Set(groups.map(({ hall }) => hall ?? "none"))].sort();
  const found: Record<string, number[]> = {};
  for (const { processClass } of groups) {
    found[processClass] ??= halls.map(
      (hall) =>
        groups.filter(
          (each) => each.processClass === processClass && (each.hall ?? "none") === hall,
        ).length,
    );
  }
  return found;
}

/** The hall that the status of a process group names is the one that its pod stands in, and its process tells. */
export async function assertHallsAreTrue(world: TestWorld, key = "data_hall"): Promise<void> {
  const { status } = await world.cluster();
  const zones = new Map(
    (await world.client.list(nodes)).items.map(({ metadata }) => [
      metadata.name,
      metadata.labels?.[zoneLabel],
    ]),
  );
  const told = new Map(
    processesOf(await statusOf(world)).map(({ locality = {} }) => [
      locality["instance_id"],
      locality,
    ]),
  );
  const places = new Map(
    (await world.pods()).map(({ metadata, spec }) => [
      metadata.labels?.["foundationdb.org/fdb-process-group-id"],
      zones.get(spec?.nodeName ?? ""),
    ]),
  );
  for (const group of status?.processGroups ?? []) {
    if (isMarkedForRemoval(group)) continue;
    const { processGroupID: id, hall } = group;
    assert.equal(places.get(id), hall, `${id} stands in ${places.get(id)}, not in ${hall}`);
    assert.equal(told.get(id)?.[key], hall, `${id} tells ${told.get(id)?.[key]}, not ${hall}`);
  }
}

/** What a person sees who asks the database itself. */
export function statusOf(world: TestWorld): Promise<DatabaseStatus> {
  return person(world, (client) => client.status(60_000));
}

/** Coordinators by hall, halls in the order of their names. */
export async function coordinatorsByHall(
  world: TestWorld,
  key = "data_hall",
): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { roles = [], locality = {} } of processesOf(await statusOf(world))) {
    if (!roles.some(({ role }) => role === "coordinator")) continue;
    const hall = locality[key] ?? "";
    found[hall] = (found[hall] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(found).sort());
}

export async function hallNodes(world: TestWorld, hall: string): Promise<string[]> {
  const { items } = await world.client.list(nodes);
  return items
    .filter(({ metadata }) => metadata.labels?.[zoneLabel] === hall)
    .map(({ metadata }) => metadata.name ?? "");
}

/** All data has all its copies, and the database has fully recovered. */
export async function untilHealthy(world: TestWorld): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const { cluster } = await statusOf(world);
    return (
      cluster?.data?.state?.name === "healthy" && cluster.recovery_state?.name === "fully_recovered"
    );
  };
  for (let minutes = 0; minutes < 20; minutes += 1) {
    if (await isSo()) return;
    await world.clock.advance(minuteMs);
  }
  assert.fail(`the database is not healthy\n${await world.report()}`);
}
