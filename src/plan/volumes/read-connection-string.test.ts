// Which readings count for a claim.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { volumeReader } from "../../build/volume-reader.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { readConnectionString } from "./read-connection-string.ts";

const name = "sample-log-1-data";
const cluster = {
  ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBCluster" },
  metadata: { name: "sample", namespace: "default", uid: "u1" },
  spec: { version: "7.3.63", adopt: { volumes: { matchLabels: {} } } },
};
const server = {
  metadata: { name: "sample-log-1" },
  spec: {
    containers: [{ name: "foundationdb", volumeMounts: [{ name: "data", mountPath: "/d" }] }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
  },
} as Stored<Pod>;

function claim(uid: string): Stored<PersistentVolumeClaim> {
  const labels = {
    "foundationdb.org/fdb-process-group-id": "log-1",
    "foundationdb.org/fdb-process-class": "log",
  };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, uid, labels } };
}

function reader(uid: string): Stored<Pod> {
  const made = volumeReader(cluster, claim(uid), server);
  assert.ok(made !== undefined);
  const host = "sample-log-1.sample.default.svc.cluster.local";
  const terminated = { exitCode: 0, message: `# comment\na:b@${host}:4501\n` };
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
