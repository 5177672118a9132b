// Small questions to a world in which a running cluster is changed: recoveries by ground truth, acts of the operator, and
// how long commits were impossible.
import { strict as assert } from "node:assert";
import type { BlockedBy, ClusterSpec } from "../../src/api/cluster.ts";
import type { Action } from "../../src/plan/action.ts";
import { minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

export function recoveries(world: TestWorld): number {
  return world.world.fdb.truth.databases()[0]?.recoveries.length ?? 0;
}

/** Acts of one type that the operator carried out. */
export function acts<T extends Action["type"]>(
  world: TestWorld,
  type: T,
): (Action & { type: T })[] {
  return world.activities.flatMap((activity) =>
    activity.type === "action" && activity.error === undefined && activity.action.type === type
      ? [activity.action as Action & { type: T }]
      : [],
  );
}

/** The longest time without commits that a recovery ended since then. */
export function longestStallMs(world: TestWorld, sinceMs: number): number {
  const records = world.world.fdb.truth.databases()[0]?.recoveries ?? [];
  const stalls = records
    .filter((record) => record.startedMs >= sinceMs)
    .map((record) => (record.acceptedMs ?? Infinity) - record.stalledSinceMs);
  return Math.max(0, ...stalls);
}

export async function blockedBy(world: TestWorld, step: string): Promise<BlockedBy | undefined> {
  const { status } = await world.cluster();
  return status?.blockedBy?.find((entry) => entry.step === step);
}

export async function untilBlocked(world: TestWorld, reason: string): Promise<BlockedBy> {
  const find = async (): Promise<BlockedBy | undefined> =>
    (await world.cluster()).status?.blockedBy?.find((entry) => entry.reason === reason);
  await world.until(async () => (await find()) !== undefined, `blocked by ${reason}`);
  const found = await find();
  assert.ok(found !== undefined);
  return found;
}

/** Lets time pass in steps and fails when the database cannot commit for longer than a recovery takes. */
export async function whileServing(
  world: TestWorld,
  condition: () => Promise<boolean>,
  limitMs = 30 * minuteMs,
): Promise<void> {
  let downMs = 0;
  const stepMs = 1_000;
  for (let passedMs = 0; !(await condition()); passedMs += stepMs) {
    assert.ok(passedMs < limitMs, `it takes too long\n${await world.report()}`);
    await world.clock.advance(stepMs);
    const isUp = world.world.fdb.truth.databases()[0]?.isAvailable === true;
    downMs = isUp ? 0 : downMs + stepMs;
    assert.ok(downMs <= 15_000, `no commits for ${downMs} ms\n${await world.report()}`);
  }
}

export async function isReconciled(world: TestWorld): Promise<boolean> {
  const { metadata, status } = await world.cluster();
  return status?.generations?.reconciled === metadata.generation;
}

export function knobs(...customParameters: string[]): Partial<ClusterSpec> {
  return { processes: { general: { customParameters } } };
}

/** The pod template of world-harness.ts with another variable for the servers. */
export function templateWith(value: string): Partial<ClusterSpec> {
  const resources = { requests: { cpu: "50m", memory: "64Mi" } };
  const containers = [
    { name: "foundationdb", resources, env: [{ name: "ANSWER", value }] },
    { name: "foundationdb-kubernetes-sidecar", resources },
  ];
  return { processes: { general: { podTemplate: { spec: { containers } } } } };
}
