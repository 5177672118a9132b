// Which readings count for a claim.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { volumeReader } from "../../build/volume-reader.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { readConnectionString } from "./read-connection-string.ts";

const cluster = {
  ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBCluster" },
  metadata: { name: "sample", namespace: "default", uid: "u1" },
  spec: { version: "7.3.63", adopt: { volumes: { matchLabels: {} } } },
};
const server = serverOf("log-1");

function serverOf(id: string): Stored<Pod> {
  const volume = { name: "data", persistentVolumeClaim: { claimName: `sample-${id}-data` } };
  const volumeMounts = [{ name: "data", mountPath: "/d" }];
  return {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: `sample-${id}` } },
    spec: { containers: [{ name: "foundationdb", volumeMounts }], volumes: [volume] },
  };
}

function claim(uid: string, id = "log-1"): Stored<PersistentVolumeClaim> {
  const labels = {
    "foundationdb.org/fdb-process-group-id": id,
    "foundationdb.org/fdb-process-class": id.replace(/-.*/, ""),
  };
  const metadata = { name: `sample-${id}-data`, uid, labels };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata };
}

function reader(
  uid: string,
  id = "log-1",
  text = "a:b@sample-log-1.sample.default.svc.cluster.local:4501",
): Stored<Pod> {
  const made = volumeReader(cluster, claim(uid, id), serverOf(id));
  assert.ok(made !== undefined);
  const terminated = { exitCode: 0, message: `# comment\n${text}\n` };
  const containerStatuses = [{ name: "foundationdb", state: { terminated } }];
  const status = { phase: "Succeeded", containerStatuses } as Pod["status"];
  return { ...made, metadata: { ...made.metadata, uid: "r1", resourceVersion: "1" }, status };
}

test("[ADO13] what was read of a claim does not count for one of its name that was made later", () => {
  const snapshot = { cluster, nowMs: 0, volumeReaders: [reader("c1")] } as unknown as Snapshot;
  const read = readConnectionString(snapshot, {} as Draft, [claim("c1")]);
  assert.match(read.status?.connectionString ?? "", /^a:b@sample-log-1/);
  const stale = readConnectionString(snapshot, {} as Draft, [claim("c2")]);
  assert.equal(stale.status, undefined);
  assert.deepEqual(
    stale.actions?.map(({ type }) => type),
    ["deleteVolumeReader"],
  );
  assert.match(stale.waits?.[0]?.message ?? "", /not meant any more end: sample-log-1-data-reader/);
});

test("[ADO25] where volumes disagree it is told how many of its own coordinators hold each string", () => {
  const ids = ["log-1", "log-2", "log-3", "storage-4"];
  const hostOf = (id: string): string => `sample-${id}.sample.default.svc.cluster.local:4501`;
  const older = `a:b@${["log-1", "log-2", "log-3"].map(hostOf).join(",")}`;
  const newer = `a:c@${["log-1", "log-2", "storage-4"].map(hostOf).join(",")}`;
  const claims = ids.map((id) => claim(`c-${id}`, id));
  const toldOf = (held: Readonly<Record<string, string>>): string => {
    const volumeReaders = ids.map((id) => reader(`c-${id}`, id, held[id] ?? newer));
    const snapshot = { cluster, nowMs: 0, volumeReaders } as unknown as Snapshot;
    const { status, waits = [] } = readConnectionString(snapshot, {} as Draft, claims);
    assert.equal(status, undefined, "a person decides");
    assert.match(waits[0]?.remedy ?? "", /most of its own coordinators hold/);
    return (waits[0]?.message ?? "").replace(/^[^:]*: /, "");
  };
  const names = ["sample-log-1-data", "sample-log-2-data", "sample-storage-4-data"] as const;
  // The server of log-3 was away when coordinators changed.
  const others = `${names[0]}, ${names[1]} and ${names[2]}`;
  assert.equal(
    toldOf({ "log-3": older }),
    `${newer} on ${others} (with 3 of its 3 coordinators); ${older} on sample-log-3-data (with 1 of its 3 coordinators)`,
  );
  assert.match(toldOf({ "log-3": "a:b@10.9.9.9:4501" }), /10\.9\.9\.9:4501 on sample-log-3-data$/);
  const elsewhere = older.replaceAll(".default.", ".elsewhere.");
  assert.match(toldOf({ "log-3": elsewhere }), /on sample-log-3-data \(with 0 of its 3/);
});

test("[ADO14] [OP70] a reader that has just begun is waited for, whatever our own clock says", () => {
  const hourMs = 3_600_000;
  const createdMs = Date.parse("2026-01-01T00:00:00Z");
  const { status: _, ...made } = reader("c1");
  const metadata = { ...made.metadata, creationTimestamp: "2026-01-01T00:00:00Z" };
  const volumeReaders = [{ ...made, metadata, status: { phase: "Pending" } }];
  const after = (ageMs: number, aheadMs: number): readonly string[] => {
    const nowMs = createdMs + ageMs + aheadMs;
    const given = { cluster, nowMs, serverAheadMs: -aheadMs, volumeReaders };
    const { waits = [], actions = [] } = readConnectionString(
      given as unknown as Snapshot,
      { groups: [] } as unknown as Draft,
      [claim("c1")],
    );
    return [...waits.map(({ reason }) => reason), ...actions.map(({ type }) => type)];
  };
  for (const aheadMs of [0, hourMs, -hourMs]) {
    assert.deepEqual(after(1_000, aheadMs), ["VolumesBeingRead"]);
    assert.deepEqual(after(400_000, aheadMs), ["ConnectionStringLost"]);
    assert.deepEqual(after(700_000, aheadMs), ["ConnectionStringLost", "deleteVolumeReader"]);
  }
});

test("[ADO13] a template of which no pod can be made is told as that", () => {
  const problem = { field: "spec.processes.general.podTemplate", value: "no image", remedy: "Fix" };
  const group = { processGroupID: "log-1", processClass: "log" };
  const draftOf = (desired: object): Draft => ({ groups: [group], desired }) as unknown as Draft;
  const snapshot = { cluster, nowMs: 0, volumeReaders: [] } as unknown as Snapshot;
  const broken = draftOf({ pod: () => undefined, podProblem: () => problem });
  const [wait] = readConnectionString(snapshot, broken, [claim("c1")]).waits ?? [];
  assert.equal(wait?.reason, "PodTemplateUnusable");
  assert.match(wait?.message ?? "", /podTemplate is no image/);
  const elsewhere = { ...server, spec: { ...server.spec, volumes: [] } };
  const blind = draftOf({ pod: () => ({ object: elsewhere }), podProblem: () => undefined });
  const [other] = readConnectionString(snapshot, blind, [claim("c1")]).waits ?? [];
  assert.match(other?.message ?? "", /mounts no volume where the data lies/);
});
