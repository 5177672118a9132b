// Clusters whose pods get other CPU and memory, and what they run with. Rules: spec/pod-resize.md.
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { Container, Pod } from "../../src/kube/generated/types.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

type Processes = NonNullable<ClusterSpec["processes"]>;

/** Guaranteed, as most people have it. */
export function sized(cpu: string, memory: string, more: Partial<Container> = {}): Processes {
  const amounts = { cpu, memory };
  const resources = { requests: amounts, limits: amounts };
  const small = { cpu: "10m", memory: "32Mi" };
  const containers: Container[] = [
    { name: "foundationdb", resources, ...more },
    { name: "foundationdb-kubernetes-sidecar", resources: { requests: small, limits: small } },
  ];
  return { general: { podTemplate: { spec: { containers } } } };
}

export interface Shape {
  readonly processes?: Processes;
  readonly spec?: Partial<ClusterSpec>;
  readonly world?: TestWorldOptions;
}

/** 16 pods with one CPU and 2Gi each, at rest. */
export async function withPods(
  shape: Shape,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  await TestWorld.run({ nodes: 9, ...shape.world }, async (world) => {
    await world.createCluster({
      databaseConfiguration: { redundancy_mode: "double" },
      processCounts: { storage: 8, log: 4, stateless: 4 },
      processes: shape.processes ?? sized("1", "2Gi"),
      ...shape.spec,
    });
    await world.untilReconciled();
    await world.clock.advance(2 * minuteMs);
    await body(world);
  });
}

export const main = "foundationdb";

export function runsWith(pod: Pod): string {
  const found = pod.status?.containerStatuses?.find(({ name }) => name === main)?.resources;
  return `${found?.limits?.["cpu"]} ${found?.limits?.["memory"]}`;
}

export async function allRunWith(world: TestWorld): Promise<string[]> {
  return [...new Set((await world.pods()).map(runsWith))].sort();
}

export async function podUids(world: TestWorld): Promise<string[]> {
  return (await world.pods()).map(({ metadata }) => metadata.uid ?? "").sort();
}

export async function restarts(world: TestWorld): Promise<number> {
  const statuses = (await world.pods()).flatMap(({ status }) => status?.containerStatuses ?? []);
  return statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

export async function marks(world: TestWorld): Promise<string[]> {
  return (await world.pods()).flatMap(
    ({ metadata }) => metadata.annotations?.[annotationKeys.resizeTarget] ?? [],
  );
}

export async function waitOf(world: TestWorld, reason: string) {
  const { status } = await world.cluster();
  return status?.blockedBy?.find((wait) => wait.reason === reason);
}
