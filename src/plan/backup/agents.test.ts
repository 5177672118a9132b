// The Deployment of the agents, and agents that ended. Rules: spec/backup.md [BK5], [BK32]-[BK35].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { agentDeployment } from "../../build/backup-deployment.ts";
import type { Deployment, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  backupWith,
  gistOf,
  nowMs,
  planBackup,
  readyDeployment,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupSnapshot } from "./snapshot.ts";

function readyWith(
  change: (deployment: Stored<Deployment>) => Stored<Deployment>,
): Stored<Deployment> {
  const deployment = readyDeployment(backupWith());
  assert.ok(deployment);
  return change(deployment);
}

function withMetadata(metadata: Partial<Stored<Deployment>["metadata"]>): Stored<Deployment> {
  return readyWith((deployment) => ({
    ...deployment,
    metadata: { ...deployment.metadata, ...metadata },
  }));
}

test("[BK32] a missing Deployment is created, an unwanted one deleted", () => {
  assert.deepEqual(gistOf(sceneOf({ deployment: undefined })).does, ["createDeployment"]);
  const none = backupWith({ agentCount: 0 });
  const deployment = readyDeployment(backupWith());
  assert.deepEqual(gistOf(sceneOf({ backup: none, deployment })).does, ["deleteDeployment"]);
  assert.deepEqual(gistOf(sceneOf({ backup: none, deployment: undefined })).does, []);
});

test("[BK32] a Deployment of an older spec is updated, and annotations of others stay", () => {
  const annotations = { "foundationdb.org/last-applied-spec": "old", "example.org/note": "kept" };
  const scene = sceneOf({ deployment: withMetadata({ annotations }) });
  const [action] = planBackup(scene).actions;
  assert.equal(action?.type, "updateDeployment");
  assert.ok(action.type === "updateDeployment");
  const { metadata } = action.object;
  assert.equal(metadata.annotations?.["example.org/note"], "kept");
  assert.equal(metadata.annotations?.["foundationdb.org/last-applied-spec"]?.length, 64);
  assert.equal(metadata.resourceVersion, "7");
  assert.equal(planBackup(scene).status.deploymentConfigured, false);
  const more = withMetadata({ labels: { ...scene.deployment?.metadata.labels, extra: "x" } });
  assert.deepEqual(gistOf(sceneOf({ deployment: more })).does, ["updateDeployment"]);
});

test("[BK33] a Deployment of somebody else is not touched", () => {
  const scene = sceneOf({ deployment: withMetadata({ ownerReferences: [], annotations: {} }) });
  assert.deepEqual(gistOf(scene), { does: [], waits: ["BackupAgentsForeign"] });
});

test("[BK34][BK35] agents that are missing are waited for, and those that ended make room", () => {
  const deployment = readyWith((each) => ({
    ...each,
    status: { ...each.status, readyReplicas: 1 },
  }));
  const agent = (name: string, creationTimestamp: string): Stored<Pod> => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, uid: name, resourceVersion: "1", creationTimestamp },
    status: { phase: "Failed" },
  });
  const old = agent("old", "2026-11-16T07:59:00Z");
  const young = agent("young", "2026-11-16T07:59:45Z");
  const scene = sceneOf({ deployment, agentPods: [old, young] });
  assert.deepEqual(gistOf(scene), { does: ["deletePod"], waits: ["BackupAgentsNotReady"] });
  const { status, isReconciled } = planBackup(sceneOf({ deployment }));
  assert.deepEqual([status.agentCount, isReconciled], [1, false]);
  assert.equal(status.generations?.needsBackupAgentUpdate, 3);
});

test("[BK83] agents that have been silent for long are made anew, once", () => {
  const silent = { cluster: { layers: { _valid: true } } } as DatabaseStatus;
  const agent = (name: string, minutesAgo: number): Stored<Pod> => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name, uid: name, resourceVersion: "1" },
      creationTimestamp: formatTime(nowMs - minutesAgo * 60_000),
    },
    status: { phase: "Running" },
  });
  const agentPods = [agent("old", 60), agent("new", 5)];
  const since = (minutes: number): BackupSnapshot => {
    const facts = { agentsSilent: nowMs - minutes * 60_000 };
    return sceneOf({ agentPods, database: silent, facts });
  };
  const deleted = (scene: BackupSnapshot): string[] =>
    planBackup(scene).actions.map((each) => (each.type === "deletePod" ? each.basis.name : ""));
  assert.deepEqual(deleted(since(9)), []);
  assert.deepEqual(deleted(since(11)), ["old"]);
  const speaking = { cluster: { layers: { _valid: true, backup: { instances_running: 1 } } } };
  assert.deepEqual(deleted({ ...since(11), database: speaking as DatabaseStatus }), []);
  const stopped = backupWith({ backupState: "Stopped" });
  const ended = { backup: stopped, ...seen(recordWith({ state: "Completed" })) };
  const rests = { ...since(11), ...ended };
  assert.deepEqual(deleted(rests), ["old"], "a restore may need them");
  assert.deepEqual(
    planBackup(rests).waits.map(({ reason }) => reason),
    [],
  );
});

test("[BK83] [P107] a silence goes on while nobody tells, and is stored", () => {
  const silent = { cluster: { layers: { _valid: true } } } as DatabaseStatus;
  const sinceOf = (change: Partial<BackupSnapshot>): unknown =>
    planBackup(sceneOf(change)).status.observedSince;
  const facts = { agentsSilent: nowMs - 90_000 };
  const stored = { agentsSilent: formatTime(facts.agentsSilent) };
  assert.deepEqual(sinceOf({ database: silent }), { agentsSilent: formatTime(nowMs) });
  assert.deepEqual(sinceOf({ database: silent, facts }), stored);
  assert.deepEqual(sinceOf({ database: undefined, facts }), stored);
  const speaking = { cluster: { layers: { _valid: true, backup: { instances_running: 1 } } } };
  assert.equal(sinceOf({ database: speaking as DatabaseStatus, facts }), undefined);
});

test("[BK5] a volume of the template with a name of ours stays as it is", () => {
  const logs = { name: "logs", persistentVolumeClaim: { claimName: "mine" } };
  const backup = backupWith({ podTemplateSpec: { spec: { containers: [], volumes: [logs] } } });
  const built = agentDeployment(backup);
  assert.ok(built.ok);
  const volumes = built.value?.spec?.template.spec?.volumes ?? [];
  assert.deepEqual(
    volumes.map(({ name }) => name),
    ["logs", "dynamic-conf", "config-map"],
  );
  assert.deepEqual(volumes[0], logs);
});
