// The note of a move at the map of times, where somebody has changed it or a part of the status. Rules: spec/backup.md [BK28].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupSpec, BackupStatus } from "../../api/backup.ts";
import { conditionIn } from "../../kube/condition.ts";
import type { ConfigMap } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { timeMapObject } from "../../build/backup-time-map.ts";
import { placeOfUrl } from "../../build/backup-url.ts";
import {
  backupWith,
  nightlyUrl,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupPlan } from "./chain.ts";

const annotation = "foundationdb.org/backup-moved";
const place = placeOfUrl(nightlyUrl);

function noted(text: string): Stored<ConfigMap> {
  const map = timeMapObject(backupWith(), []);
  return { ...map, metadata: { ...map.metadata, annotations: { [annotation]: text } } };
}

function planWith(
  note: string,
  status: BackupStatus = {},
  spec: Partial<BackupSpec> = {},
): BackupPlan {
  const backup = backupWith(spec, status);
  return planBackup(sceneOf({ backup, ...seen(recordWith()), timeMap: noted(note) }));
}

function reasonOf({ status }: BackupPlan): string | undefined {
  return conditionIn(status, "Restorable")?.reason;
}

test("[BK28] a note that somebody has edited proves nothing, and never makes a status that cannot be stored", () => {
  for (const [numbers, moved] of [
    [
      "40 60 2026-01-01T00:00:00Z",
      { version: 40, from: { version: 60, time: "2026-01-01T00:00:00Z" } },
    ],
    ["40 60 yesterday", { version: 40, from: { version: 60 } }],
    ["40 60 +099999-01-01T00:00:00Z", { version: 40, from: { version: 60 } }],
    ["40 0 -", { version: 40 }],
    ["40 yes -", { version: 40 }],
    ["40 -7 -", { version: 40 }],
    ["40 30 -", { version: 40 }],
    ["never 60 -", { version: 0 }],
    ["-40 60 -", { version: 0 }],
    ["99999999999999999999 60 -", { version: 0 }],
  ] as const) {
    const plan = planWith(`u1 ${numbers} ${place}`);
    assert.deepEqual(plan.status.moved, { backupUID: "u1", ...moved }, numbers);
    assert.equal(reasonOf(plan), "from" in moved ? "Restorable" : "Moved", numbers);
  }
  for (const note of ["", "u1", "u1 40", "u2 40 0 - ".concat(place), "u1 40 0 - elsewhere"]) {
    assert.equal(planWith(note).status.moved, undefined, note);
  }
});

test("[BK28] a status that has lost only the move gets it from the note, which stays", () => {
  const status = { backupUID: "u1", backupDetails: { url: nightlyUrl } };
  const note = `u1 40 0 - ${place}`;
  const plan = planWith(note, status);
  assert.deepEqual(plan.status.moved, { backupUID: "u1", version: 40 });
  assert.deepEqual(
    plan.actions.filter(({ step }) => step === "recordMove"),
    [],
  );
});

test("[BK28] a backup that was moved is not restorable for being a one-time backup now", () => {
  const moved = { backupUID: "u1", version: 40_000_000 };
  const status = { backupUID: "u1", backupDetails: { url: nightlyUrl }, moved };
  const note = `u1 40000000 0 - ${place}`;
  const plan = planWith(note, status, { backupMode: "oneTime" });
  assert.equal(reasonOf(plan), "Moved");
  assert.deepEqual(plan.status.moved, moved);
  const commands = plan.actions.flatMap((action) =>
    action.type === "createCommand" ? [action.command] : [],
  );
  assert.deepEqual(commands, [], "it goes on until it can be restored where it lies");
});
