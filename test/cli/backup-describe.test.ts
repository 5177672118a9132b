// `kubectl fdb backup describe`. Rules: spec/backup.md [BK135].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parse } from "yaml";
import { foundationDbRestores } from "../../src/api/restore.ts";
import type { FoundationDBRestore } from "../../src/api/restore.ts";
import { validateRestore } from "../../src/api/validate-restore.ts";
import { describeText, restoreOf } from "../../src/cli/backup-describe.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { parseTimeLines, versionAtTime } from "../../src/model/backup-time-map.ts";
import { backupWith } from "../fixtures/backup-scene.ts";
import { agentTemplate, BackupWorld, nightly } from "../world/managed-backup.ts";
import { minuteMs } from "../world/world-harness.ts";

test("[BK135] the YAML is a restore that the API server takes, with everything that is needed elsewhere", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.advance(25 * minuteMs);
    const { client } = scene.world;
    const text = await describeText(client, nightly, "here", "yaml");
    assert.match(
      text,
      /^# Restores the backup default\/nightly when this Kubernetes cluster is gone/,
    );
    assert.match(text, /# Restorable from version \d+ \(.*Z\) to version \d+ \(.*Z\)/);
    const restore = parse(text) as Stored<FoundationDBRestore>;
    assert.deepEqual(validateRestore(restore), []);
    const metadata = { ...restore.metadata, namespace: "default" };
    const made = await client.create(
      foundationDbRestores,
      { ...restore, metadata },
      { fieldValidation: "Strict" },
    );
    assert.deepEqual(made.spec.agents?.podTemplateSpec?.spec, agentTemplate.spec);
    assert.deepEqual(made.spec.blobStoreConfiguration, {
      accountName: "KEY@store.example.com",
      backupName: "nightly",
      bucket: "backups",
      urlParameters: ["region=eu-1"],
    });
    const pairs = parseTimeLines(made.spec.timeline ?? []);
    const asked = scene.world.clock.nowMs() / 1000 - 900;
    assert.equal(versionAtTime(pairs, asked).kind, "found");
    const page = await describeText(client, nightly, "here", "text");
    assert.match(page, /^default\/nightly {2}backup of sample\nLies at blobstore:\/\/KEY@store/);
    assert.match(page, /Times are known from .*Z to .*Z \(\d+ pairs\)\./);
    await assert.rejects(
      describeText(client, { ...nightly, name: "weekly" }, "here", "text"),
      /there is no FoundationDBBackup weekly in namespace default/,
    );
  });
});

test("[BK135] a secret of accountName is left out, and of a schedule the newest good run is named", () => {
  const run = (backupName: string, result: "Succeeded" | "Running") => ({
    ...{ backupName, result },
    time: "2026-11-16T03:00:00Z",
  });
  const status = { runs: [run("nightly-1", "Succeeded"), run("nightly-2", "Running")] };
  const store = { accountName: "key:secret@host:443" };
  const { spec } = restoreOf(backupWith({ blobStoreConfiguration: store }, status), []);
  assert.deepEqual(spec, {
    destinationClusterName: "sample",
    blobStoreConfiguration: { accountName: "key:***@host:443", backupName: "nightly-1" },
  });
});
