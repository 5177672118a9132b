// What agents do for a restore: read what the container holds, copy range by range, apply the log up to the target, and
// unlock the database. A step that fails is tried again when its task has timed out; until then the state stays as it is,
// with the error, and the database stays locked. Carries rules BSIM16, BSIM17 and BSIM18.
import { notifyChange } from "../database/database.ts";
import { follow } from "./agent-work.ts";
import type { AgentWork, Outcome, TaskRunner } from "./agent-work.ts";
import { LayerConfig, merged } from "./layer-config.ts";
import type { KeyChanges } from "./layer-config.ts";
import { blocksOf, itemsToWrite, mutationsToApply, planRestore } from "./restore-plan.ts";
import type { RestorePlan } from "./restore-plan.ts";
import { appliedKey, appliedValue, restoreStates, viewRestore } from "./restore-view.ts";
import type { RestoreView } from "./restore-view.ts";
import type { Task } from "./task-bucket.ts";
import { ToolError } from "./tool-error.ts";

const type = {
  start: "restore_start",
  range: "restore_range_data",
  log: "restore_log_data",
} as const;
export const restoreStartType: string = type.start;

/** What an agent writes into the destination in a millisecond. */
const bytesPerMs = 15_000;
const stepMs = 700;

export const restoreTasks: Readonly<Record<string, TaskRunner>> = {
  [type.start]: start,
  [type.range]: writeRange,
  [type.log]: applyLog,
};

async function readPlan(work: AgentWork, restore: RestoreView): Promise<RestorePlan> {
  const container = work.open(restore.url);
  if (restore.encryptionKeyFile !== "" && work.readFile(restore.encryptionKeyFile) === undefined) {
    throw new ToolError(1511);
  }
  const objects = await container.objects();
  return planRestore(container.name, objects, restore.version, restore.ranges);
}

async function start(work: AgentWork, task: Task): Promise<Outcome> {
  const { store } = work.database;
  const config = new LayerConfig(store, "restore", task.uid);
  store.write([], config.changes({ stateEnum: [restoreStates.starting] }));
  await work.life.sleep(stepMs);
  const restore = viewRestore(store, task.uid);
  const plan = await readPlan(work, restore);
  return () =>
    merged(
      config.changes({
        stateEnum: [restoreStates.running],
        fileCount: { count: plan.files.length + plan.logs.length },
        fileBlockCount: { count: plan.blocks },
        filesBlocksDispatched: { count: plan.blocks },
        fileBlocksFinished: { count: 0 },
        bytesWritten: { count: 0 },
        firstConsistentVersion: [plan.firstConsistentVersion],
      }),
      new Map([[appliedKey(task.uid), appliedValue(plan.beginVersion)]]),
      nextStep(work, task.uid, plan, 0),
    );
}

function nextStep(work: AgentWork, uid: string, plan: RestorePlan, index: number): KeyChanges {
  return index < plan.files.length
    ? follow(work, "restore", uid, type.range, { index })
    : follow(work, "restore", uid, type.log);
}

async function writeRange(work: AgentWork, task: Task): Promise<Outcome> {
  const { store } = work.database;
  const index = Number(task.parameters["index"]);
  const restore = viewRestore(store, task.uid);
  const plan = await readPlan(work, restore);
  const object = plan.files[index];
  if (object?.content.kind !== "range") throw new ToolError(2363);
  if (object.isDamaged === true) throw new ToolError(2362);
  const items = itemsToWrite(object.content, restore);
  const bytes = items.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  await work.life.sleep(100 + Math.ceil(bytes / bytesPerMs));
  return () => {
    const config = new LayerConfig(store, "restore", task.uid);
    const written = new Map(items.map(({ key, value }) => [key, value]));
    return merged(
      written,
      config.changes({
        fileBlocksFinished: { count: config.count("fileBlocksFinished") + blocksOf(object) },
        bytesWritten: { count: config.count("bytesWritten") + bytes },
      }),
      nextStep(work, task.uid, plan, index + 1),
    );
  };
}

async function applyLog(work: AgentWork, task: Task): Promise<Outcome> {
  const { store } = work.database;
  const restore = viewRestore(store, task.uid);
  const plan = await readPlan(work, restore);
  if (plan.logs.some((object) => object.isDamaged === true)) throw new ToolError(2362);
  const mutations = mutationsToApply(plan, restore.version, restore);
  const bytes = plan.logs.reduce((sum, object) => sum + object.bytes, 0);
  await work.life.sleep(stepMs + Math.ceil(bytes / bytesPerMs));
  return () => {
    for (const { cleared, written } of mutations) store.write(cleared, written);
    const config = new LayerConfig(store, "restore", task.uid);
    unlock(work, task.uid);
    return config.changes({
      stateEnum: [restoreStates.completed],
      fileBlocksFinished: { count: plan.blocks },
      bytesWritten: { count: config.count("bytesWritten") + bytes },
    });
  };
}

/** Only the lock that the restore itself has set. */
function unlock({ database }: AgentWork, uid: string): void {
  if (database.lockUid !== uid) return;
  database.lockUid = undefined;
  notifyChange(database);
}
