// Excluding, including, and when an exclusion is complete.
import assert from "node:assert/strict";
import { processOf, rolesOf, settled, statusOf } from "./database-case.ts";
import type { DatabaseCase, DatabaseTarget } from "./database-case.ts";

const commandMs = 30_000;

function exclude(target: DatabaseTarget, ...targets: readonly string[]): Promise<void> {
  return target.finish(target.admin.exclude(targets, { wait: false, timeoutMs: commandMs }));
}

function drain(target: DatabaseTarget, name: string, timeoutMs = 240_000): Promise<void> {
  return target.finish(target.admin.exclude([name], { wait: true, timeoutMs }));
}

function excluded(target: DatabaseTarget): Promise<string[]> {
  return target.finish(target.admin.excluded(commandMs));
}

/** Whatever happens in a case, the next one finds nothing excluded. */
async function includingAll(target: DatabaseTarget, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await target.finish(target.admin.include(["all"], commandMs));
  }
  assert.deepEqual(await excluded(target), []);
}

export const exclusionCases: readonly DatabaseCase[] = [
  {
    title: "[DB32] malformed targets are refused, and nothing is excluded",
    stage: "running",
    async run(target) {
      const storage = target.endpoint("storage-1");
      await assert.rejects(exclude(target, storage, "storage-1"), /valid network endpoint address/);
      await assert.rejects(exclude(target, `${storage}:tls`), /valid network endpoint address/);
      await assert.rejects(exclude(target), /must be provided/);
      await assert.rejects(target.finish(target.admin.include(["nonsense"], commandMs)));
      assert.deepEqual(await excluded(target), []);
    },
  },
  {
    title: "[DB32] addresses and localities are excluded and included alike",
    stage: "running",
    run: (target) =>
      includingAll(target, async () => {
        const storage = target.endpoint("storage-1");
        const locality = "locality_instance_id:stateless-2";
        await exclude(target, storage, locality);
        assert.deepEqual(await excluded(target), [storage, locality]);
        const status = await statusOf(target);
        assert.equal(processOf(status, storage)?.excluded, true);
        assert.equal(processOf(status, target.endpoint("stateless-2"))?.excluded, true);
        assert.equal(processOf(status, target.endpoint("storage-2"))?.excluded, false);
        await target.finish(target.admin.include([storage], commandMs));
        assert.deepEqual(await excluded(target), [locality]);
        await target.finish(target.admin.include([locality, storage], commandMs));
        assert.deepEqual(await excluded(target), []);
      }),
  },
  {
    title: "[DB32] what the database does not have can be excluded",
    stage: "running",
    run: (target) =>
      includingAll(target, async () => {
        await exclude(target, "127.83.9.9:4501", "locality_instance_id:nobody");
        assert.equal((await excluded(target)).length, 2);
      }),
  },
  {
    title: "[DB33] a storage server is drained before its exclusion is complete",
    stage: "running",
    run: (target) =>
      includingAll(target, async () => {
        await settled(target);
        const storage = target.endpoint("storage-3");
        await drain(target, storage);
        const status = await statusOf(target);
        assert.ok(!rolesOf(status, storage).includes("storage"));
        const inProgress = await target.finish(target.admin.exclusionsInProgress(commandMs));
        assert.deepEqual(inProgress, []);
      }),
  },
  {
    title: "[DB33] a log server that is excluded by locality is drained too",
    stage: "running",
    run: (target) =>
      includingAll(target, async () => {
        await settled(target);
        await drain(target, "locality_instance_id:log-3");
        const status = await statusOf(target);
        assert.ok(!rolesOf(status, target.endpoint("log-3")).includes("log"));
        const logs = (status.cluster?.logs ?? []).flatMap(({ log_interfaces = [] }) =>
          log_interfaces.map(({ address }) => address),
        );
        assert.ok(!logs.includes(target.address("log-3")));
      }),
  },
  {
    title: "[DB15] [DB33] an exclusion that cannot be completed is timed_out",
    stage: "running",
    run: (target) =>
      includingAll(target, async () => {
        await settled(target);
        const two = [target.endpoint("storage-1"), target.endpoint("storage-2")];
        await assert.rejects(
          target.finish(target.admin.exclude(two, { wait: true, timeoutMs: 8_000 })),
          { code: 1031 },
        );
        assert.deepEqual(await excluded(target), two);
        const inProgress = await target.finish(target.admin.exclusionsInProgress(commandMs));
        assert.notDeepEqual(inProgress, []);
      }),
  },
];
