// A preview of a change, then the change: what was stated is what happens, also where the database is a real one.
import assert from "node:assert/strict";
import type { PreviewReport } from "../../src/preview/report.ts";
import { phasesOf } from "../../src/preview/phases.ts";
import type { Act } from "../../src/preview/recorder.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import { clusterOf, lifeKey, podsOf, statusOf, until, untilAtRest } from "./life-target.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";
import { quickKnobs } from "./life-worlds.ts";

/** What is set, by its path, as `--set` takes it. */
type Change = readonly [path: string, value: unknown];

export const lifePreviewCases: readonly LifeCase[] = [
  {
    title: "[DB80] a knob does what its preview stated",
    async run(target) {
      const knobs = [...quickKnobs, "knob_storage_hard_limit_bytes=1450000000"];
      const { stated } = await asStated(target, ["spec.processes.general.customParameters", knobs]);
      assert.deepEqual(stated.processGroups, { added: {}, removed: {} });
      assert.ok(stated.processesRestarted.least >= 9, "all processes are restarted");
    },
  },
  {
    title: "[DB80] a storage process that joins does what its preview stated",
    async run(target) {
      const { stated } = await asStated(target, ["spec.processCounts.storage", 4]);
      assert.deepEqual(stated.processGroups.added, { storage: { least: 1, most: 1 } });
    },
  },
  {
    title: "[DB80] a storage process that is replaced does what its preview stated",
    async run(target) {
      // A coordinator, where one is a storage process: the connection string changes, too.
      const connection = (await clusterOf(target)).status?.connectionString ?? "";
      const isCoordinator = ({ status }: Pod): boolean => connection.includes(`${status?.podIP}:`);
      const storage = await podsOf(target, "storage");
      const pod = storage.find(isCoordinator) ?? storage[0];
      const id = pod?.metadata.labels?.["foundationdb.org/fdb-process-group-id"];
      const { stated } = await asStated(target, ["spec.processGroupsToRemove", [id]]);
      const one = { storage: { least: 1, most: 1 } };
      assert.deepEqual(stated.processGroups, { added: one, removed: one });
    },
  },
  {
    title: "[DB80] a storage process that leaves does what its preview stated",
    async run(target) {
      const { stated } = await asStated(target, ["spec.processCounts.storage", 3]);
      assert.deepEqual(stated.processGroups.removed, { storage: { least: 1, most: 1 } });
    },
  },
];

/** Asks for a preview, makes the change, and compares. */
async function asStated(
  target: LifeTarget,
  [path, value]: Change,
): Promise<{ stated: PreviewReport }> {
  const change = `${path}=${JSON.stringify(value)}`;
  let stated = await previewOf(target, change);
  // What the database says of its health after a restart reaches the status of the resource a little later.
  await until(target, "a copy of a resting cluster rests", async () => {
    if (stated.pending.length > 0) stated = await previewOf(target, change);
    return stated.pending.length === 0;
  });
  assert.equal(stated.outcome, "done");
  const { status } = await clusterOf(target);
  const groups = (status?.processGroups ?? []).map(({ processGroupID, processClass }) => [
    processGroupID,
    processClass,
  ]);
  const before = { processGroups: Object.fromEntries(groups) as Record<string, string> };
  const generation = (await statusOf(target)).cluster?.generation ?? 0;
  const [mark, startedMs] = [target.activities.length, target.world.clock.nowMs()];
  const patch = path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  await target.world.client.patch(foundationDbClusters, lifeKey, patch as object, {
    type: "merge",
  });
  const rested = await untilAtRest(target);
  const recoveries = ((rested.cluster?.generation ?? 0) - generation) / 2;
  const happened = phasesOf({ acts: actsSince(target, mark), startedMs, before });
  const told = JSON.stringify({ stated: stated.phases, happened }, undefined, 2);
  assert.deepEqual(countsOf(happened), countsOf(stated.phases), told);
  const { least, most } = stated.recoveries;
  const allowed = most * target.mostRecoveriesOfOneKill;
  const isWithin = recoveries >= least && recoveries <= allowed;
  assert.ok(isWithin, `${recoveries} recoveries, ${least} to ${most} were stated\n${told}`);
  return { stated };
}

async function previewOf(target: LifeTarget, assignment: string): Promise<PreviewReport> {
  const { world, finish } = target;
  // Loaded before, so that the command does not wait for the disk while virtual time goes on.
  await import("../../src/cli/preview.ts");
  const place = { world, during: <T>(promise: Promise<T>): Promise<T> => finish(promise) };
  const args = ["preview", lifeKey.name, "--set", assignment, "-o", "json"];
  const { code, out, notes } = await runPlugin(place, args);
  assert.equal(code, 0, notes);
  return JSON.parse(out) as PreviewReport;
}

function actsSince({ activities }: LifeTarget, mark: number): Act[] {
  return activities
    .slice(mark)
    .flatMap((activity) =>
      activity.type === "action" && activity.error === undefined ? [activity] : [],
    );
}

/** How many things each kind of act is done to. How many changes of metadata and files are one write is left to chance. */
function countsOf(phases: PreviewReport["phases"]): Record<string, number | "some"> {
  const isSome = /^(change metadata|copy the configuration)/;
  return Object.fromEntries(
    phases.map(({ what, count }) => [what, isSome.test(what) ? "some" : count] as const).toSorted(),
  );
}
