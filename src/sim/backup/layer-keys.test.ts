// What the layer tells of itself in the keys of the database and in its status.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfBinary, textOfBytes } from "../../fdb/bytes.ts";
import { decodeTuple } from "../../fdb/tuple.ts";
import { benchWithAgent, read, start, statusOf } from "./agent-bench.ts";
import { capturedLayers } from "./captures.ts";
import { uidText } from "./layer-config.ts";
import { containerUrl, openBench } from "./tool-bench.ts";

test("[BSIM22] the layer in status is up to forty seconds old, counts a dead agent for two minutes, and vanishes", async () => {
  const bench = await openBench();
  assert.deepEqual((await bench.sample.status()).cluster?.layers, { _valid: true });
  const agent = bench.agent();
  await bench.sample.pass(3);
  await start(bench, "daily", "-z");
  await bench.sample.pass(60);
  const layer = (await bench.sample.status()).cluster?.layers?.["backup"] as Record<
    string,
    Record<string, unknown>
  >;
  const captured = capturedLayers()["cluster.layers"]?.["backup"] as typeof layer;
  const shape = (value: unknown, name: string): unknown => {
    if (value === null || typeof value !== "object") return typeof value;
    // Tags and instances are named by people and by chance.
    if (name === "tags" || name === "instances") {
      const entries = Object.entries(value).filter(
        ([key]) => key === "daily" || name === "instances",
      );
      return shape(entries[0]?.[1], "");
    }
    if (name === "locality" || Array.isArray(value)) return name;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, shape(member, key)]),
    );
  };
  assert.deepEqual(shape(layer, ""), shape(captured, ""));
  assert.deepEqual(
    [layer["instances_running"], layer["total_workers"], layer["paused"]],
    [1, 10, false],
  );
  const nowSeconds = bench.sample.clock.nowMs() / 1000;
  assert.ok(nowSeconds - Number(layer["last_updated"]) <= 41);
  agent.process.kill();
  await bench.sample.pass(70);
  assert.notEqual((await bench.sample.status()).cluster?.layers?.["backup"], undefined);
  await bench.sample.pass(60);
  assert.deepEqual((await bench.sample.status()).cluster?.layers, { _valid: true });
});

test("[BSIM20] the time keeper has a pair every ten seconds, and versions jump where the database recovered", async () => {
  const bench = await benchWithAgent();
  await start(bench, "daily", "-z");
  await bench.sample.pass(60);
  const before = await statusOf(bench, "daily");
  for (const name of ["log-1", "log-2"]) bench.sample.cluster.stop(name);
  await bench.sample.pass(60);
  for (const name of ["log-1", "log-2"]) bench.sample.cluster.restart(name);
  await bench.sample.pass(45);
  const pairs = (await read(bench, "\xff\x02/timeKeeper/map/\x18", "\xff\x02/timeKeeper0")).map(
    ({ key, value }) => {
      const [second] = decodeTuple(key.slice("..\x02/timeKeeper/map/".length - 1));
      return [Number(second), Number(decodeTuple(value)[0])] as const;
    },
  );
  const steps = pairs.slice(1).map(([second, version], index) => {
    const [earlier, earlierVersion] = pairs[index] ?? [0, 0];
    return [second - earlier, version - earlierVersion] as const;
  });
  const plain = steps.filter(([seconds]) => seconds === 10);
  assert.ok(
    plain.length > 8 && plain.every(([, versions]) => versions === 10_000_000),
    JSON.stringify(steps),
  );
  const gap = steps.find(([seconds]) => seconds > 10);
  assert.ok(
    gap !== undefined && gap[0] >= 60 && gap[1] - gap[0] * 1_000_000 >= 100_000_000,
    JSON.stringify(steps),
  );
  const after = await statusOf(bench, "daily");
  assert.ok(
    (after.LatestRestorablePoint?.Version ?? 0) >
      (before.LatestRestorablePoint?.Version ?? 0) + 100_000_000,
  );
  assert.ok((after.LatestRestorablePoint?.LagSeconds ?? 99) < 30);
});

test("[BSIM21] tag and configuration lie under the real keys, in the real encodings", async () => {
  const bench = await benchWithAgent();
  await start(bench, "daily", "-z", "-s", "45");
  await bench.sample.pass(30);
  const { UID } = await statusOf(bench, "daily");
  const [tag] = await read(
    bench,
    "\xff\x02/backup-agent/tag->uid/",
    "\xff\x02/backup-agent/tag->uid0",
  );
  assert.deepEqual(tag?.key, bytesOfBinary("\xff\x02/backup-agent/tag->uid/\x01daily\x00"));
  const [uid, aborted] = decodeTuple(tag?.value ?? new Uint8Array());
  assert.deepEqual([uidText(uid as Uint8Array), aborted], [UID, 0]);
  assert.equal(
    uidText(bytesOfBinary("\x03\xca]\xf7\xb7;\xb8{\x06\xd3\x93\x89\x1c\x13c'")),
    "7bb83bb7f75dca032763131c8993d306",
  );
  const prefix = "\xff\x02/backup-agent/uid->config/";
  const config = await read(bench, prefix, "\xff\x02/backup-agent/uid->config0");
  const named = new Map(
    config.map(({ key, value }) => {
      const [name] = decodeTuple(key.slice(prefix.length + 16));
      return [textOfBytes(name as Uint8Array), value];
    }),
  );
  assert.deepEqual(named.get("stateEnum"), bytesOfBinary("\x15\x03"));
  assert.deepEqual(named.get("snapshotIntervalSeconds"), bytesOfBinary("\x15-"));
  assert.deepEqual(named.get("stopWhenDone"), bytesOfBinary("\x14"));
  assert.deepEqual(named.get("tag"), bytesOfBinary("\x01daily\x00"));
  assert.deepEqual(
    named.get("backupContainer"),
    bytesOfBinary(`\x01${containerUrl("daily")}\x00\x01\x00\x01\x00\x14`),
  );
  assert.equal(named.get("rangeBytesWritten")?.length, 8);
  const ranges =
    "\x01\x01\x00\xff\x01\xff\x00\xff\x00\x01\x01\xff\x02/blobRange/\x00\xff\x01\xff\x02/blobRange0\x00\xff\x00" +
    "\x01\x01\xff/metacluster/clusterRegistration\x00\xff\x01\xff/metacluster/clusterRegistration\x00\xff\xff\x00\xff\x00" +
    "\x01\x01\xff/tagQuota/\x00\xff\x01\xff/tagQuota0\x00\xff\x00\x01\x01\xff/tenant/\x00\xff\x01\xff/tenant0\x00\xff\x00";
  assert.deepEqual(named.get("backupRanges"), bytesOfBinary(ranges));
});
