// What a pass tells of an action that failed, and when the next one comes. Rules: spec/backup.md [BK2], [BK98], [BK109].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../api/backup.ts";
import { machineClock } from "../../env/clock.ts";
import { silentLog } from "../../env/log.ts";
import { backupWith } from "../../../test/fixtures/backup-scene.ts";
import { KubeError } from "../../kube/error.ts";
import { readingWait } from "../../plan/backup/description.ts";
import { againAfter, performAll, readOutputs } from "./pass.ts";
import type { PassSubject } from "./pass.ts";
import { newResourceState } from "./state.ts";

test("[BK2] a refusal that quotes the arguments of a pod is kept without the secret", async () => {
  const state = newResourceState();
  const logged: unknown[] = [];
  const log = { ...silentLog, warn: (_: string, fields?: unknown) => logged.push(fields) };
  const object = backupWith();
  const cache = { get: () => object } as unknown as PassSubject<typeof object>["cache"];
  const tools = { clock: machineClock(), log, isStopped: () => false };
  const action = { type: "setFinalizer", step: "deleteBackup", isPresent: true } as const;
  const plan = { actions: [action], waits: [], events: [], wanted: [], reads: [] };
  await performAll(
    tools as unknown as Parameters<typeof performAll>[0],
    { resource: foundationDbBackups, cache, object, state, figuresMs: 0 },
    plan,
    () => Promise.reject(new Error("args[2]: blobstore://key:hidden@host:443/x is refused")),
  );
  const told = JSON.stringify([[...state.failures.values()], logged]);
  assert.match(told, /blobstore:\/\/key:\*\*\*@host/);
  assert.doesNotMatch(told, /hidden/);
});

test("[BK98] what a command has printed is read once, and only then another pass follows at once", async () => {
  const state = { ...newResourceState(), intervalMs: 3_000 };
  const object = backupWith();
  let reads = 0;
  const client = {
    podLog: () => {
      reads += 1;
      return Promise.resolve("text");
    },
  };
  const tools = { client, clock: machineClock() } as unknown as Parameters<typeof readOutputs>[0];
  const subject = { resource: foundationDbBackups, object, state, figuresMs: 0 };
  const plan = { actions: [], waits: [], events: [], wanted: [], reads: ["describe-1"] };
  const pass = async (): Promise<number> => {
    const place = subject as unknown as PassSubject<typeof object>;
    const isNews = await readOutputs(tools, place, plan.reads);
    return againAfter(tools, place, plan, { outcomes: [], written: "unchanged", isNews });
  };
  const first = await pass();
  assert.ok(first < 1_000, `${first}`);
  assert.equal(await pass(), 3_000);
  assert.equal(await pass(), 3_000);
  assert.equal(reads, 1);
});

test("[BK109] an output that cannot be read is a wait with the words of Kubernetes, and is tried again", async () => {
  const state = { ...newResourceState(), intervalMs: 3_000 };
  const object = backupWith();
  let isThere = false;
  const client = {
    podLog: () =>
      isThere
        ? Promise.resolve("text")
        : Promise.reject(new KubeError(500, "InternalError", "dial tcp: no such host")),
  };
  const tools = { client, clock: machineClock() } as unknown as Parameters<typeof readOutputs>[0];
  const place = { resource: foundationDbBackups, object, state, figuresMs: 0 };
  const read = (): Promise<boolean> =>
    readOutputs(tools, place as unknown as PassSubject<typeof object>, ["describe-1"]);
  assert.equal(readingWait(state, "expireBackup", "describe-1").reason, "BackupCommandRunning");
  assert.equal(await read(), true);
  const wait = readingWait(state, "expireBackup", "describe-1");
  assert.equal(wait.reason, "BackupOutputUnreadable");
  assert.match(wait.message, /cannot be read: .*no such host/);
  assert.equal(await read(), false, "the same trouble is no news");
  isThere = true;
  assert.equal(await read(), true);
  assert.equal(state.outputs.get("describe-1"), "text");
  assert.equal(state.unread.size, 0);
});
