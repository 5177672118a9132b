// What is read from the keys of restores: on captures of a real one, and beside the simulated tools.
// Rules: spec/restore.md [RS20], [RS21].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { lockUidOf, readRestoreLayer } from "../../src/fdb/restore-layer.ts";
import { bytesOfBinary } from "../../src/fdb/bytes.ts";
import type { RestoreLayer } from "../../src/fdb/restore-layer.ts";
import { Captured } from "./captured.ts";
import { RestoreWorld } from "../world/managed-restore.ts";
import { minuteMs } from "../world/world-harness.ts";

test("[RS21] the keys of a real database are read as its tools show them", async () => {
  const database = new Captured();
  await database.fill("restore-keys.txt");
  database.store.registerModule({
    beginKey: bytesOfBinary("\xff\xff/management/"),
    endKey: bytesOfBinary("\xff\xff/management0"),
    read: () => [],
    write: () => () => {},
  });
  const layer = await database.run(
    readRestoreLayer(database.store, { tag: "ud", ranges: [] }, 5000),
  );
  assert.deepEqual(
    layer.restores.map(({ tag }) => tag),
    ["default", "pfx2", "r2", "tov", "tts", "ttz", "two", "ud"],
  );
  assert.deepEqual(
    layer.restores.find(({ tag }) => tag === "ud"),
    {
      tag: "ud",
      uid: "146ab564becd1d1a5c2d8c1dbb1a23a0",
      state: "completed",
      url: "blobstore://BKKEY@127.0.0.1:7070/db100?bucket=fdb-backups&sc=0&region=us-east-1",
      version: 420_627_957,
      blocks: 103,
      blocksFinished: 103,
      bytes: 100_187_140,
      appliedVersion: undefined,
      error: undefined,
    },
  );
});

test("[RS21] the UID of a lock is read in both forms", () => {
  const uid = "414e325ed0d1dc5d91286a5a2657476a";
  assert.equal(lockUidOf(bytesOfBinary(uid)), uid);
  const stored = "\0\0\0\0D\xed\x01\xae\0\0]\xdc\xd1\xd0^2NAjGW&Zj(\x91";
  assert.equal(lockUidOf(bytesOfBinary(stored)), uid);
});

test("[RS20] lock, progress and what lies in the way are read of a locked database", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.write("copy", { "new/k": "1" });
    scene.store.fail({ extraLatencyMs: 5_000 });
    await scene.createRestore({ addPrefix: "old/" });
    await scene.untilRestore(({ running }) => running === true, "the start");
    const { connectionString = "" } = (await scene.world.cluster({ name: "copy" })).status ?? {};
    const { admin } = scene.world.world.fdb;
    const client = admin.open({ name: "test", connectionString, version: "7.3.63" });
    const read = (begin: string, end: string): Promise<RestoreLayer> =>
      scene.world.during(
        readRestoreLayer(client, { tag: "", ranges: [{ begin, end }] }, minuteMs),
        minuteMs,
        "a look",
      );
    const layer = await read("new/", "new0");
    const [record] = layer.restores;
    assert.equal(layer.lockUid, record?.uid);
    assert.ok(record && ["queued", "starting", "running"].includes(record.state));
    assert.deepEqual(layer.occupied, { range: { begin: "new/", end: "new0" }, key: "new/k" });
    assert.equal((await read("none/", "none0")).occupied, undefined);
    client.close();
  });
});
