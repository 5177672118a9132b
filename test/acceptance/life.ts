// A cluster in a whole world, at rest and ready to be changed: small, with short pauses, and on enough nodes.
import { strict as assert } from "node:assert";
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import type { EnvVar, Pod } from "../../src/kube/generated/types.ts";
import { persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { groups } from "../world/removal-harness.ts";
import { frugalProcesses, minuteMs, nameOf, small, TestWorld } from "../world/world-harness.ts";
import type { TestWorldOptions } from "../world/world-harness.ts";

type Spec = Partial<ClusterSpec>;

export const namespace = "default";

/** Pauses are short, so that the cases are about what happens and not about when. */
export function quick(spec: Spec = {}): Spec {
  const { automationOptions, ...rest } = spec;
  return {
    ...small,
    minimumUptimeSecondsForBounce: 30,
    ...rest,
    automationOptions: { waitBetweenRemovalsSeconds: 0, ...automationOptions },
  };
}

/** The cluster is up for some minutes when the body begins; nothing may be lost in the end. */
export async function life(
  spec: Spec,
  body: (world: TestWorld) => Promise<void>,
  options: TestWorldOptions = {},
): Promise<void> {
  await TestWorld.runWithCluster({ nodes: 9, ...options, spec: quick(spec) }, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await body(world);
    world.assertDataSafe();
  });
}

export async function idsOf(world: TestWorld, processClass?: string): Promise<string[]> {
  return (await groups(world, processClass)).map((group) => group.processGroupID).sort();
}

export async function firstOf(world: TestWorld, processClass: string): Promise<string> {
  const [id] = await idsOf(world, processClass);
  assert.ok(id !== undefined, processClass);
  return id;
}

export async function groupOf(
  world: TestWorld,
  id: string,
): Promise<ProcessGroupStatus | undefined> {
  return (await groups(world)).find((group) => group.processGroupID === id);
}

export async function podOf(world: TestWorld, id: string): Promise<Stored<Pod>> {
  const label = "foundationdb.org/fdb-process-group-id";
  const found = (await world.pods()).find((pod) => pod.metadata.labels?.[label] === id);
  assert.ok(found, id);
  return found;
}

export function uidsOf(list: readonly Stored<Pod>[]): string[] {
  return list.map((pod) => pod.metadata.uid ?? "").sort();
}

export async function coordinators(world: TestWorld): Promise<readonly string[]> {
  return coordinatorsOf((await world.cluster()).status?.connectionString ?? "");
}

/** The process group of a coordinator that is known by its host name. */
export async function coordinatorId(world: TestWorld, processClass = "log"): Promise<string> {
  const names = (await coordinators(world)).map((text) => text.split(".")[0] ?? "");
  const found = names.find((name) => name.includes(`-${processClass}-`));
  assert.ok(found, names.join());
  return found.replace("sample-", "");
}

export const holder = "example.org/holder";

/** A finalizer keeps the object in sight after it was deleted. */
export async function hold(world: TestWorld, kind: "pod" | "pvc", name: string): Promise<void> {
  const patch = { metadata: { finalizers: [holder] } };
  const key = { namespace, name };
  if (kind === "pod") await world.client.patch(pods, key, patch, { type: "merge" });
  else await world.client.patch(persistentVolumeClaims, key, patch, { type: "merge" });
}

export async function release(world: TestWorld, kind: "pod" | "pvc", name: string): Promise<void> {
  const patch = { metadata: { finalizers: null } };
  const key = { namespace, name };
  if (kind === "pod") await world.client.patch(pods, key, patch, { type: "merge" });
  else await world.client.patch(persistentVolumeClaims, key, patch, { type: "merge" });
}

/** Nobody reaches the pod, and it reaches nobody, until it is healed. */
export function cut(world: TestWorld, pod: Stored<Pod>): void {
  for (const { ip = "" } of pod.status?.podIPs ?? []) {
    world.world.network.cut(ip);
    world.world.fdb.faults.cutAddress(ip);
  }
}

export function heal(world: TestWorld, pod: Stored<Pod>): void {
  for (const { ip = "" } of pod.status?.podIPs ?? []) {
    world.world.network.heal(ip);
    world.world.fdb.faults.restoreAddress(ip);
  }
}

type Template = NonNullable<NonNullable<ClusterSpec["processes"]>[string]["podTemplate"]>;

/** The processes of the harness with another template. */
export function template(change: {
  spec?: Partial<NonNullable<Template["spec"]>>;
  metadata?: Template["metadata"];
  env?: EnvVar[];
  base?: ClusterSpec["processes"];
}): NonNullable<ClusterSpec["processes"]> {
  const base = (change.base ?? frugalProcesses)["general"]?.podTemplate?.spec;
  const containers = (base?.containers ?? []).map((container) =>
    container.name === "foundationdb" && change.env !== undefined
      ? { ...container, env: [...(container.env ?? []), ...change.env] }
      : container,
  );
  return {
    general: {
      podTemplate: {
        ...(change.metadata === undefined ? {} : { metadata: change.metadata }),
        spec: { ...base, containers, ...change.spec },
      },
    },
  };
}

export { nameOf };
