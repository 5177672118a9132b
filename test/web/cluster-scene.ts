// Objects of a small cluster for tests of views, each as small as it may be.
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import type { Event, Node, PersistentVolumeClaim, Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { formatTime } from "../../src/kube/time.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";

export const nowMs = Date.parse("2026-11-17T12:00:00Z");
export const minutesAgo = (minutes: number): string => formatTime(nowMs - minutes * 60_000);

type Status = NonNullable<FoundationDBCluster["status"]>;
type Groups = NonNullable<Status["processGroups"]>;

export function group(
  id: string,
  conditions: readonly string[] = [],
  more: object = {},
): Groups[0] {
  return {
    ...{ processGroupID: id, processClass: id.replace(/-\d+$/, ""), addresses: ["10.1.0.1"] },
    processGroupConditions: conditions.map((type) => ({ type, timestamp: nowMs / 1000 - 240 })),
    ...more,
  } as Groups[0];
}

export function sceneCluster(
  processGroups: Groups,
  status: Partial<Status> = {},
  generation = 3,
): Stored<FoundationDBCluster> {
  const condition = (type: string, value: string): object => ({
    ...{ type, status: value, reason: "R", message: "all is well", observedGeneration: generation },
    lastTransitionTime: minutesAgo(60),
  });
  return {
    ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBCluster" },
    metadata: { name: "sample", namespace: "default", uid: "u1", generation },
    spec: { version: "7.3.63", databaseConfiguration: { redundancy_mode: "double" } },
    status: {
      ...{ configured: true, runningVersion: "7.3.63", processGroups },
      generations: { reconciled: generation },
      conditions: [
        ...[condition("Available", "True"), condition("Degraded", "False")],
        condition("Reconciled", "True"),
      ],
      ...status,
    },
  } as unknown as Stored<FoundationDBCluster>;
}

export const waiting = (
  reason: string,
  more: object = {},
): NonNullable<Status["blockedBy"]>[0] => ({
  ...{ step: "addPods", reason, message: `it waits: ${reason}`, since: minutesAgo(5) },
  ...more,
});

export function scenePod(id: string, node: string, more: object = {}): Stored<Pod> {
  const name = `sample-${id}`;
  return {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: {
      ...{ name, namespace: "default", uid: `pod-${id}`, creationTimestamp: minutesAgo(90) },
      labels: {
        "foundationdb.org/fdb-cluster-name": "sample",
        "foundationdb.org/fdb-process-group-id": id,
      },
    },
    spec: {
      nodeName: node,
      containers: [{ name: "foundationdb", image: "fdb:7.3.63" }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: `${name}-data` } }],
    },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: minutesAgo(80) }],
      containerStatuses: [
        {
          ...{ name: "foundationdb", image: "fdb:7.3.63", imageID: "", ready: true },
          ...{ restartCount: 1, state: { running: { startedAt: minutesAgo(20) } } },
          lastState: {
            terminated: { exitCode: 137, reason: "OOMKilled", finishedAt: minutesAgo(21) },
          },
        },
      ],
    },
    ...more,
  } as unknown as Stored<Pod>;
}

export function sceneClaim(id: string): Stored<PersistentVolumeClaim> {
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim" },
    metadata: { name: `sample-${id}-data`, namespace: "default", uid: `pvc-${id}` },
    spec: { storageClassName: "fast" },
    status: { phase: "Bound", capacity: { storage: "128Gi" } },
  } as unknown as Stored<PersistentVolumeClaim>;
}

export function sceneNode(name: string, zone: string): Stored<Node> {
  return {
    ...{ apiVersion: "v1", kind: "Node" },
    metadata: { name, labels: { "topology.kubernetes.io/zone": zone } },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  } as unknown as Stored<Node>;
}

export function sceneEvent(
  uid: string,
  about: string,
  reason: string,
  more: Partial<Event> = {},
): Stored<Event> {
  const [kind, name] = about.split("/");
  return {
    ...{ apiVersion: "v1", kind: "Event", type: "Normal", reason, message: `told: ${reason}` },
    metadata: { name: uid, namespace: "default", uid, resourceVersion: "1" },
    involvedObject: { kind, name, namespace: "default" },
    ...{ firstTimestamp: minutesAgo(4), lastTimestamp: minutesAgo(3), count: 1 },
    ...more,
  } as unknown as Stored<Event>;
}

/** One process for each of them. */
export function sceneStatus(
  processes: Readonly<Record<string, { roles: readonly string[]; zone?: string }>>,
  cluster: object = {},
): DatabaseStatus {
  return {
    client: {
      database_status: { available: true, healthy: true },
      coordinators: { coordinators: [] },
    },
    cluster: {
      ...{ generation: 4, recovery_state: { name: "fully_recovered" } },
      processes: Object.fromEntries(
        Object.entries(processes).map(([id, { roles, zone }]) => [
          id,
          {
            ...{ address: `10.1.0.9:${id.length}`, class_type: id.replace(/-\d+$/, "") },
            locality: { instance_id: id, zoneid: zone ?? id, machineid: id },
            roles: roles.map((role) => ({ role })),
          },
        ]),
      ),
      ...cluster,
    },
  } as unknown as DatabaseStatus;
}
