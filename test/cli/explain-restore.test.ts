// The page about a restore, as data and as text. Rules: spec/restore.md [RS90].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBRestore } from "../../src/api/restore.ts";
import { explainRestore } from "../../src/plugin/explain/restore.ts";
import type { RestorePage } from "../../src/plugin/explain/restore.ts";
import { explainText } from "../../src/plugin/explain/explain.ts";
import { datedPlan } from "../../src/operate/dated-plan.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { nowMs } from "../fixtures/backup-scene.ts";
import { planRestore } from "../../src/plan/restore/chain.ts";
import { recordWith, restoreWith, sceneOf, seen } from "../fixtures/restore-scene.ts";
import type { RestoreSnapshot } from "../../src/plan/restore/snapshot.ts";
import { RestoreWorld } from "../world/managed-restore.ts";

function pageOf(change: Partial<RestoreSnapshot>): RestorePage {
  const scene = sceneOf(change);
  const { status } = datedPlan(planRestore(scene), [], scene.nowMs);
  const restore = { ...scene.restore, status } as Stored<FoundationDBRestore>;
  return explainRestore({ restore, pods: [], events: [], unread: [] }, nowMs);
}

test("[RS90] the first sentence says how it is", () => {
  const url = "blobstore://k:s3cr3t@h:1/o?bucket=b";
  const table: [Partial<RestoreSnapshot>, string, RegExp][] = [
    [{}, "working", /being prepared/],
    [seen([recordWith({ url })], { lockUid: "u1" }), "working", /The restore runs/],
    [seen([recordWith({ state: "completed" })]), "healthy", /were restored to version 90000000/],
    [seen([recordWith({ state: "aborted" })]), "stuck", /holds a part of the data/],
    [seen([], { lockUid: "x" }), "stuck", /needs you: The database is locked by somebody else/],
    [
      { restore: restoreWith({}, {}, { deletionTimestamp: "2026-11-16T07:59:00Z" }) },
      "deleting",
      /being deleted/,
    ],
  ];
  for (const [change, verdict, headline] of table) {
    const page = pageOf(change);
    assert.equal(page.verdict, verdict);
    assert.match(page.headline, headline);
    assert.ok(!JSON.stringify(page).includes("s3cr3t"));
  }
});

test("[RS90] the page about a restore that waits names the remedy", async () => {
  await RestoreWorld.runRestores({}, async (scene) => {
    await scene.write("copy", { k: "1" });
    await scene.createRestore();
    await scene.untilReason("RestoreDestinationNotEmpty");
    const { client, clock } = scene.world;
    for (const name of ["restore/back", "fdbrestore/back", "foundationdbrestore/back"]) {
      const key = { namespace: "default", name };
      const options = { width: 100, hasColor: false };
      const text = await explainText(client, key, "server", clock, "text", options);
      assert.match(text, /RestoreDestinationNotEmpty \(checkDestination\)/);
      assert.match(text, /restore into copy/);
      assert.match(text, /Restore into an empty cluster/);
    }
  });
});
