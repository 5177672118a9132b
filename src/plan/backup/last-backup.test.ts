// Whether the data of the only backup that can be restored goes: who counts as another one, and what is said while nobody
// knows. Rules: spec/backup.md [BK71], [BK76], [BK77].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupSpec, BackupStatus, FoundationDBBackup } from "../../api/backup.ts";
import { timeMapObject } from "../../build/backup-time-map.ts";
import { backupFinalizer } from "./deletion.ts";
import {
  backupWith,
  commandPodOf,
  gistOf,
  nightlyUrl,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const gone = { layer: { kind: "missing", reason: "NoCluster", message: "" } } as const;
const none = { restorableTo: undefined, restorableFrom: undefined };

function deleted(status: BackupStatus = {}, spec: Partial<BackupSpec> = {}): FoundationDBBackup {
  const known = { backupUID: "u1", backupDetails: { url: nightlyUrl }, ...status };
  const metadata = {
    finalizers: [backupFinalizer],
    deletionTimestamp: "2026-11-16T07:59:00Z",
  };
  return backupWith({ deletionPolicy: "cleanup", ...spec }, known, metadata);
}

function other(
  spec: Partial<BackupSpec>,
  status: BackupStatus,
  creationTimestamp = "2026-11-02T00:00:00Z",
): FoundationDBBackup {
  return backupWith(spec, status, { name: "other", uid: "b-2", creationTimestamp });
}

/** The resource goes, and its data stays, which is told. */
function assertDataKept(scene: BackupSnapshot): void {
  const { actions, events } = planBackup(scene);
  assert.deepEqual(
    actions.map(({ type }) => type),
    ["setFinalizer"],
  );
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ["BackupDataKept"],
  );
}

const elsewhere = { accountName: "account@host", backupName: "elsewhere" };

test("[BK76] a resource that shows the very same backup is no other one that can be restored", () => {
  const aborted = seen(recordWith({ state: "Aborted" }));
  const watching: Partial<BackupSpec> = {
    backupType: "unmanaged",
    blobStoreConfiguration: undefined,
  };
  const shows = { backupDetails: { url: nightlyUrl, restorable: true } };
  const same = sceneOf({ backup: deleted(), others: [other(watching, shows)], ...aborted });
  assert.deepEqual(gistOf(same), { does: [], waits: ["BackupIsLast"] });
  // Its spec names another place, where it has not gone yet.
  const leaving = other({ blobStoreConfiguration: elsewhere }, shows);
  assert.deepEqual(gistOf({ ...same, others: [leaving] }).does, []);
  const there = {
    backupDetails: { url: nightlyUrl.replace("/nightly?", "/o?"), restorable: true },
  };
  const apart = other({ blobStoreConfiguration: elsewhere }, there);
  assert.deepEqual(gistOf({ ...same, others: [apart] }).does, ["delete"]);
});

test("[BK76] a run of a schedule that an unmanaged resource shows is not its own", () => {
  const url = nightlyUrl.replace("/nightly?", "/nightly-06?");
  const time = "2026-11-16T06:00:00Z";
  const run = { time, backupName: "nightly-06", url, result: "Succeeded" as const, ended: time };
  const schedule = { cron: "0 * * * *" };
  const backup = deleted({ runs: [run] }, { backupMode: "oneTime", schedule });
  const watching = other(
    { backupType: "unmanaged", blobStoreConfiguration: undefined },
    { backupDetails: { url, restorable: true } },
  );
  const record = recordWith({ state: "Completed", url });
  const scene = sceneOf({ backup, others: [watching], ...seen(record) });
  assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupIsLast"] });
});

test("[BK77] what the older resource of the tag writes there is not data of this one", () => {
  // The older one is to move away, and still writes where this one would have.
  const first = other(
    { blobStoreConfiguration: elsewhere },
    { backupUID: "u1", backupDetails: { url: nightlyUrl, running: true, restorable: true } },
    "2026-10-01T00:00:00Z",
  );
  const backup = deleted({ backupUID: "", backupDetails: {} });
  const scene = sceneOf({ backup, others: [first] });
  assertDataKept(scene);
});

/** The look into the store has ended and says this. */
function looked(scene: BackupSnapshot, text: string): BackupSnapshot {
  const pod = commandPodOf(planBackup(scene), { exitCode: 0 });
  const outputs = new Map([[pod.metadata.name ?? "", text]]);
  return { ...scene, commandPods: [pod], outputs };
}

function described(ends: readonly (readonly [number, boolean])[]): string {
  return JSON.stringify({
    Snapshots: ends.map(([version, Restorable]) => ({
      ...{ Start: { Version: version - 5 }, End: { Version: version }, Restorable },
    })),
    ...(ends.some(([, isWhole]) => isWhole) ? { MaxRestorablePoint: { Version: 900 } } : {}),
  });
}

test("[BK71] what lies in the place of a moved backup is lost only if it can be nothing but the snapshot of the move", () => {
  const moved = { backupUID: "u1", version: 100 };
  const backup = deleted({ moved });
  const record = recordWith({ state: "Aborted", ...none });
  for (const scene of [
    sceneOf({ backup, ...seen(record) }),
    sceneOf({ backup, cluster: undefined, ...gone }),
  ]) {
    const does = (ends: readonly (readonly [number, boolean])[]): string[] =>
      gistOf(looked(scene, described(ends))).does;
    assert.deepEqual(does([]), ["delete"]);
    assert.deepEqual(does([[120, true]]), ["delete"], "its files lie in the old place");
    assert.deepEqual(does([[50, true]]), [], "it was moved back to where it had been");
    assert.deepEqual(
      does([
        [50, true],
        [120, false],
      ]),
      [],
    );
    assert.deepEqual(
      does([
        [120, true],
        [140, true],
      ]),
      [],
    );
    // The move was noticed late: the snapshot of the move had ended before.
    assert.deepEqual(
      does([
        [90, false],
        [120, true],
      ]),
      [],
    );
  }
});

test("[BK75] what lies below its place would be deleted along, so nothing is while somebody has that", () => {
  const aborted = seen(recordWith({ state: "Aborted" }));
  const annotations = { "foundationdb.org/delete-last-backup": "nightly" };
  const held = deleted();
  const backup = { ...held, metadata: { ...held.metadata, annotations } };
  const named = (backupName: string): FoundationDBBackup =>
    other({ blobStoreConfiguration: { accountName: "account@host", backupName } }, {});
  for (const name of ["nightly/orders", "nightly/", "/nightly/a/b"]) {
    const scene = sceneOf({ backup, others: [named(name)], ...aborted });
    assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupDestinationInUse"] }, name);
  }
  for (const name of ["nightly-orders", "night", "orders/nightly"]) {
    const scene = sceneOf({ backup, others: [named(name)], ...aborted });
    assert.deepEqual(gistOf(scene).does, ["delete"], name);
  }
  // Its spec names another place, where it has not gone yet.
  const url = nightlyUrl.replace("/nightly?", "/nightly/orders?");
  const leaving = other({ blobStoreConfiguration: elsewhere }, { backupDetails: { url } });
  assert.deepEqual(gistOf(sceneOf({ backup, others: [leaving], ...aborted })).does, []);
  const otherWriters = [{ tag: "orders", url }];
  const record = recordWith({ state: "Aborted" });
  assert.deepEqual(gistOf(sceneOf({ backup, ...seen(record, { otherWriters }) })).does, []);
});

test("[BK71] what the store has said once is remembered: it is not looked at again and again", () => {
  const record = recordWith({ state: "Aborted", ...none });
  for (const scene of [
    sceneOf({ backup: deleted(), ...seen(record) }),
    sceneOf({ backup: deleted(), cluster: undefined, ...gone }),
  ]) {
    const text =
      '{"MinRestorablePoint":{"Version":5},"MaxRestorablePoint":{"Version":7},"Snapshots":[]}';
    const { status } = planBackup(looked(scene, text));
    assert.deepEqual(status.restorable, { from: { version: 5 }, to: { version: 7 } });
    const later = { ...scene, backup: { ...scene.backup, status } };
    assert.deepEqual(gistOf(later), { does: [], waits: ["BackupIsLast"] });
  }
});

test("[BK77] data that the spec does not name any more stays with its map of times, and an event says so", () => {
  const annotations = { "foundationdb.org/delete-last-backup": "nightly" };
  const time = "2026-11-16T06:00:00Z";
  const url = nightlyUrl.replace("/nightly?", "/before-06?");
  const run = { time, backupName: "nightly-06", url, result: "Succeeded" as const, ended: time };
  const schedule = { cron: "0 * * * *" };
  const nameless = { blobStoreConfiguration: { accountName: "account" } };
  for (const [backup, record] of [
    [deleted({}, nameless), recordWith({ state: "Aborted" })],
    [deleted({ runs: [run] }, { backupMode: "oneTime", schedule }), undefined],
  ] as const) {
    const metadata = { ...backup.metadata, annotations };
    const timeMap = timeMapObject(backup, []);
    const scene = sceneOf({ backup: { ...backup, metadata }, timeMap, ...seen(record) });
    assertDataKept(scene);
  }
});
