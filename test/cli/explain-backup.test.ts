// The page about a backup, as data and as text. Rules: spec/backup.md [BK110].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBBackup } from "../../src/api/backup.ts";
import { backupText, explainBackup } from "../../src/plugin/explain/backup.ts";
import type { BackupPage } from "../../src/plugin/explain/backup.ts";
import { explainText } from "../../src/plugin/explain/explain.ts";
import { renderPage } from "../../src/plugin/explain/text.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { datedPlan } from "../../src/operate/dated-plan.ts";
import {
  backupWith,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../fixtures/backup-scene.ts";
import type { BackupSnapshot } from "../../src/plan/backup/snapshot.ts";
import { BackupWorld } from "../world/managed-backup.ts";
import { minuteMs } from "../world/world-harness.ts";

function pageOf(scene: BackupSnapshot, later = 0): BackupPage {
  const backup = {
    ...scene.backup,
    status: datedPlan(planBackup(scene), [], nowMs).status,
  } as Stored<FoundationDBBackup>;
  return explainBackup({ backup, pods: [], events: [], unread: [] }, nowMs + later);
}

test("[BK110] the first sentence says how it is", () => {
  const table: [BackupPage, string, RegExp][] = [
    [pageOf(sceneOf()), "healthy", /as it should be/],
    [pageOf(sceneOf(seen(undefined))), "starting", /being brought about/],
    [
      pageOf(
        sceneOf({
          ...seen(recordWith({ state: "Completed" })),
          backup: backupWith({ backupState: "Stopped" }),
        }),
      ),
      "healthy",
      /is stopped, as the spec says. It can be restored/,
    ],
    [
      pageOf(
        sceneOf({
          ...seen(recordWith(), { isPaused: true }),
          backup: backupWith({ backupState: "Paused" }),
        }),
      ),
      "healthy",
      /is paused, as the spec says, and falls behind/,
    ],
    [
      pageOf(
        sceneOf({
          ...seen(recordWith({ state: "Completed" })),
          backup: backupWith({ backupMode: "oneTime" }),
        }),
      ),
      "healthy",
      /one-time backup has ended. It can be restored/,
    ],
    [
      pageOf(sceneOf(seen(recordWith({ url: "blobstore://k:s3cr3t@h:1/o?bucket=b", uid: "u9" })))),
      "stuck",
      /needs you: The tag default of the database is used by/,
    ],
    [
      pageOf(
        sceneOf({ backup: backupWith({}, {}, { deletionTimestamp: "2026-11-16T07:59:00Z" }) }),
      ),
      "deleting",
      /being deleted/,
    ],
  ];
  const schedule = { cron: "0 4 * * 0" };
  const verification = { schedule, template: { spec: { processCounts: { storage: 1 } } } };
  const lastVerification = {
    ...{ time: "2026-11-15T04:00:00Z", result: "Failed" as const, message: "no key was restored" },
    lastPassed: "2026-11-08T04:10:00Z",
  };
  const inDoubt = pageOf(sceneOf({ backup: backupWith({ verification }, { lastVerification }) }));
  table.push([inDoubt, "degraded", /Whether the backup would work is in doubt/]);
  const { figures } = inDoubt;
  assert.equal(figures["Last drill"], "2026-11-15T04:00:00Z Failed: no key was restored");
  assert.match(figures["Last good"] ?? "", /^8d/);
  assert.equal(figures["Next drill"], "2026-11-22T04:00:00Z");
  for (const [page, verdict, headline] of table) {
    assert.equal(page.verdict, verdict);
    assert.match(page.headline, headline);
    assert.ok(!JSON.stringify(page).includes("s3cr3t"));
  }
  const unseen = explainBackup(
    {
      backup: { ...backupWith(), status: {} } as Stored<FoundationDBBackup>,
      pods: undefined,
      events: undefined,
      unread: ["pods: not allowed"],
    },
    nowMs,
  );
  assert.equal(unseen.verdict, "unseen");
  assert.match(renderPage(backupText(unseen), { width: 80, hasColor: false }), /pods: not allowed/);
});

test("[BK110] the page as text has the answers, the figures, and what to do", () => {
  const taken = sceneOf(seen(recordWith({ url: "blobstore://k@h:1/o?bucket=b", uid: "u9" })));
  const text = renderPage(backupText(pageOf(taken)), { width: 100, hasColor: false });
  assert.match(text, /^ns\/nightly {2}backup of sample/);
  assert.match(text, /Runs +no/);
  assert.match(text, /BackupTagInUse \(startBackup\)/);
  assert.match(text, /Do: {2}Make the resource anew/);
});

test("[BK110][E14] it is read from Kubernetes alone, by the name that kubectl uses", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.advance(minuteMs);
    const { client, clock } = scene.world;
    const key = { namespace: "default", name: "fdbbackup/nightly" };
    const form = { width: 100, hasColor: false };
    const text = await explainText(client, key, "here", clock, "text", form);
    assert.match(text, /The backup is as it should be/);
    assert.match(text, /Window +version \d+ \(\d+s ago\) to version \d+/);
    assert.match(text, /Told in the last hour/);
    const find = (name: string, namespace = "default") =>
      explainText(client, { namespace, name }, "here", clock, "text", form);
    await assert.rejects(
      find("backup/weekly"),
      /no FoundationDBBackup weekly in namespace default/,
    );
    await assert.rejects(find("backup/nightyl"), /did you mean nightly\?$/);
    await assert.rejects(find("backup/nightly", "shop"), /but one in default \(-n default\)$/);
    await assert.rejects(find("nightly"), /did you mean backup\/nightly\?$/);
  });
});
