// Restarts, coordinators, maintenance and the lock.
import assert from "node:assert/strict";
import { bytesOfBinary, bytesOfText } from "../../src/fdb/bytes.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { firstCoordinators, processOf, settled, statusOf, until } from "./database-case.ts";
import type { DatabaseCase, DatabaseTarget } from "./database-case.ts";

const commandMs = 30_000;
const lockKey = bytesOfBinary("\xff\xff/management/db_locked");
const lockUid = "0123456789abcdef0123456789abcdef";

function kill(target: DatabaseTarget, addresses: readonly string[]): Promise<void> {
  return target.finish(target.admin.kill(addresses, commandMs));
}

function moveTo(target: DatabaseTarget, addresses: readonly string[]): Promise<string> {
  return target.finish(target.admin.changeCoordinators(addresses, 60_000));
}

async function setLock(target: DatabaseTarget, isLocked: boolean): Promise<void> {
  const write = target.admin.transact(
    async (transaction) => {
      if (isLocked) transaction.set(lockKey, bytesOfText(lockUid));
      else transaction.clear(lockKey);
    },
    { timeoutMs: commandMs, specialKeySpaceEnableWrites: true, lockAware: true },
  );
  await target.finish(write);
}

export const managementCases: readonly DatabaseCase[] = [
  {
    title: "[DB35] an address that is not known is named, and nothing is killed",
    stage: "running",
    async run(target) {
      const storage = target.endpoint("storage-1");
      const before = processOf(await settled(target), storage)?.uptime_seconds ?? 0;
      await assert.rejects(kill(target, [storage, "127.83.9.9:4501"]), /127\.83\.9\.9:4501/);
      await assert.rejects(kill(target, [`${storage}:tls`]), /not recognized/);
      await target.pass(3);
      const after = processOf(await statusOf(target), storage)?.uptime_seconds ?? 0;
      assert.ok(after >= before);
    },
  },
  {
    title: "[DB35] processes that are killed start again",
    stage: "running",
    async run(target) {
      await settled(target);
      await target.pass(10);
      const names = ["storage-1", "storage-2"];
      const before = await statusOf(target);
      await kill(target, names.map(target.endpoint));
      await until(target, "restarted", (status) =>
        names.every((name) => {
          const now = processOf(status, target.endpoint(name))?.uptime_seconds;
          const was = processOf(before, target.endpoint(name))?.uptime_seconds ?? 0;
          return now !== undefined && now < was;
        }),
      );
      await settled(target);
    },
  },
  {
    title:
      "[DB53] a client that was closed has no issue to tell, also when the servers start again",
    stage: "running",
    async run(target) {
      await settled(target);
      const other = target.open();
      await target.finish(other.status(commandMs));
      other.close();
      await target.pass(1);
      await kill(target, ["log-1", "stateless-1"].map(target.endpoint));
      await target.pass(5);
      const status = await settled(target);
      assert.deepEqual(
        status.cluster?.messages?.map(({ name }) => name),
        [],
      );
      assert.equal(status.client?.database_status?.healthy, true);
    },
  },
  {
    title: "[DB34] bad, doubled and unreachable coordinators are refused; the same ones are fine",
    stage: "running",
    async run(target) {
      const status = await settled(target);
      const text = status.cluster?.connection_string ?? "";
      const now = [...coordinatorsOf(text)];
      await assert.rejects(moveTo(target, ["foo"]));
      await assert.rejects(moveTo(target, [now[0] ?? "", now[0] ?? ""]), /redundant/);
      const suffix = target.address("log-1").endsWith(":tls") ? ":tls" : "";
      await assert.rejects(
        moveTo(target, [...now.slice(0, 2), `127.83.9.9:4501${suffix}`]),
        /unreachable/,
      );
      assert.equal(await moveTo(target, now.toReversed()), text);
      assert.equal(await target.finish(target.admin.connectionString(commandMs)), text);
    },
  },
  {
    title: "[DB36] new coordinators give a new connection string, and clients follow it",
    stage: "running",
    async run(target) {
      await settled(target);
      const other = target.open();
      try {
        const before = await target.finish(target.admin.connectionString(commandMs));
        const wanted = ["storage-1", "storage-2", "storage-3"].map(target.address);
        const text = await moveTo(target, wanted);
        assert.notEqual(text, before);
        assert.deepEqual([...coordinatorsOf(text)].toSorted(), wanted.toSorted());
        assert.equal(await target.finish(target.admin.connectionString(commandMs)), text);
        const status = await target.finish(other.status(commandMs));
        assert.equal(status.cluster?.connection_string, text);
        await moveTo(target, firstCoordinators.map(target.address));
      } finally {
        other.close();
      }
      await settled(target);
    },
  },
  {
    title: "[DB37] a zone is under maintenance, another takes its place, none is",
    stage: "running",
    async run(target) {
      const { admin, finish } = target;
      const zone = async (): Promise<unknown> => (await statusOf(target)).cluster?.maintenance_zone;
      await finish(admin.setMaintenanceZone("zone-storage-1", 600, commandMs));
      assert.equal(await zone(), "zone-storage-1");
      await finish(admin.setMaintenanceZone("zone-storage-2", 600, commandMs));
      const status = await statusOf(target);
      assert.equal(status.cluster?.maintenance_zone, "zone-storage-2");
      const left = status.cluster?.maintenance_seconds_remaining ?? 0;
      assert.ok(left > 500 && left <= 600, String(left));
      await finish(admin.resetMaintenanceZone(commandMs));
      assert.equal(await zone(), undefined);
    },
  },
  {
    title: "[DB30] management goes on while the database is locked",
    stage: "running",
    async run(target) {
      const { admin, finish } = target;
      await setLock(target, true);
      try {
        assert.equal((await statusOf(target)).cluster?.database_lock_state?.locked, true);
        const read = { timeoutMs: commandMs };
        const key = bytesOfText("a");
        await assert.rejects(finish(admin.transact((transaction) => transaction.get(key), read)), {
          code: 1038,
        });
        await finish(
          admin.transact((transaction) => transaction.get(key), { ...read, lockAware: true }),
        );
        const storage = target.endpoint("storage-1");
        await finish(admin.exclude([storage], { wait: false, timeoutMs: commandMs }));
        assert.deepEqual(await finish(admin.excluded(commandMs)), [storage]);
        await finish(admin.include([storage], commandMs));
        await finish(admin.setMaintenanceZone("zone-storage-1", 60, commandMs));
        await finish(admin.resetMaintenanceZone(commandMs));
      } finally {
        await setLock(target, false);
      }
      assert.equal((await statusOf(target)).cluster?.database_lock_state?.locked, false);
    },
  },
];
