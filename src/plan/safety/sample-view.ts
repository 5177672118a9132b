// A small healthy database for the tests of the safety checks: storages and logs in three zones, double redundancy,
// the logs as coordinators. Everything can be changed before it is looked at.
import type { FoundationDBCluster, ProcessGroupStatus } from "../../api/cluster.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { isStateful } from "../../model/process-class.ts";
import { podNameOf, volumeClaimNameOf } from "../../model/process-group-id.ts";
import { defaultPlanOptions, nothingRemembered } from "../snapshot.ts";
import type { LedgerEntry } from "../snapshot.ts";
import type { SafetyView } from "./view.ts";

export const sampleNowMs = Date.UTC(2026, 0, 2);

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface Sample {
  groups: Writable<ProcessGroupStatus>[];
  pods: Map<string, Stored<Pod>>;
  pvcs: Map<string, Stored<PersistentVolumeClaim>>;
  status: DatabaseStatus;
  /** That of the resource when absent. */
  runningVersion?: string;
}

const processesPerClass = { storage: 3, log: 3, stateless: 1 };

export function sampleDatabase(): Sample {
  const sample: Sample = { groups: [], pods: new Map(), pvcs: new Map(), status: {} };
  const processes: Record<string, StatusProcess> = {};
  for (const [processClass, count] of Object.entries(processesPerClass)) {
    for (let number = 1; number <= count; number += 1) {
      addGroup(sample, processes, processClass, number);
    }
  }
  const coordinators = ["10.0.1.1:4501", "10.0.1.2:4501", "10.0.1.3:4501"];
  sample.status = {
    client: {
      coordinators: {
        coordinators: coordinators.map((address) => ({ address, reachable: true })),
        quorum_reachable: true,
      },
      database_status: { available: true, healthy: true },
      messages: [],
    },
    cluster: {
      configuration: { redundancy_mode: "double", excluded_servers: [] },
      connection_string: `sample:abc@${coordinators.join(",")}`,
      cluster_controller_timestamp: sampleNowMs / 1000,
      data: { team_trackers: [{ primary: true, state: { min_replicas_remaining: 2 } }] },
      fault_tolerance: {
        max_zone_failures_without_losing_availability: 1,
        max_zone_failures_without_losing_data: 1,
      },
      logs: [{ log_replication_factor: 2, log_fault_tolerance: 1 }],
      messages: [],
      processes,
      recovery_state: {
        name: "fully_recovered",
        active_generations: 1,
        seconds_since_last_recovered: 3_600,
      },
    },
  };
  return sample;
}

function addGroup(
  sample: Sample,
  processes: Record<string, StatusProcess>,
  processClass: string,
  number: number,
): void {
  const id = `${processClass}-${number}`;
  const name = podNameOf("sample", processClass, id);
  const ip = `10.0.${Object.keys(processesPerClass).indexOf(processClass)}.${number}`;
  const zone = `zone-${number}`;
  const createdMs = sampleNowMs - 7_200_000;
  sample.groups.push({
    processGroupID: id,
    processClass,
    faultDomain: zone,
    addresses: [ip],
    processGroupConditions: [],
  });
  sample.pods.set(name, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${id}`,
      resourceVersion: "1",
      creationTimestamp: formatTime(createdMs),
    },
    spec: { containers: [{ name: "foundationdb" }], nodeName: `node-${number}` },
    status: {
      phase: "Running",
      podIP: ip,
      podIPs: [{ ip }],
      containerStatuses: [
        { name: "foundationdb", ready: true, restartCount: 0, image: "", imageID: "" },
      ],
    },
  });
  if (isStateful(processClass)) sample.pvcs.set(volumeClaimNameOf(name), claimOf(name, id));
  const roles = { storage: ["storage"], log: ["log", "coordinator"], stateless: ["master"] };
  processes[id] = {
    address: `${ip}:4501`,
    class_type: processClass,
    excluded: false,
    locality: { instance_id: id, zoneid: zone },
    roles: (roles[processClass as keyof typeof roles] ?? []).map((role) => ({ role })),
    uptime_seconds: 3_600,
  };
}

function claimOf(podName: string, id: string): Stored<PersistentVolumeClaim> {
  const metadata = { name: volumeClaimNameOf(podName), namespace: "default", uid: `claim-${id}` };
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { ...metadata, resourceVersion: "1" },
    spec: {},
    status: { phase: "Bound" },
  };
}

export function viewOf(sample: Sample, overrides: Partial<SafetyView> = {}): SafetyView {
  const { status } = sample;
  const cluster: FoundationDBCluster = {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample", namespace: "default", uid: "cluster" },
    spec: { version: "7.3.79" },
    status: {
      processGroups: sample.groups,
      configured: true,
      ...(sample.runningVersion === undefined ? {} : { runningVersion: sample.runningVersion }),
    },
  };
  return {
    ...nothingRemembered,
    nowMs: sampleNowMs,
    cluster,
    pods: sample.pods,
    pvcs: sample.pvcs,
    database: { kind: "seen", status, observedMs: sampleNowMs - 1_000 },
    statuses: [
      { status, observedMs: sampleNowMs - 1_000 },
      { status, observedMs: sampleNowMs - 3_000 },
    ],
    options: defaultPlanOptions,
    ...overrides,
  };
}

export function sampleProcess(sample: Sample, id: string): StatusProcess {
  const process = sample.status.cluster?.processes?.[id];
  if (process === undefined) throw new Error(`there is no process ${id}`);
  return process;
}

export function sampleGroup(sample: Sample, id: string): Writable<ProcessGroupStatus> {
  const group = sample.groups.find((each) => each.processGroupID === id);
  if (group === undefined) throw new Error(`there is no process group ${id}`);
  return group;
}

/** Its data has moved away after an exclusion by locality. */
export function emptySampleProcess(sample: Sample, id: string): void {
  const process = sampleProcess(sample, id);
  process.excluded = true;
  process.roles = [];
  excludeSample(sample, { locality: `locality_instance_id:${id}` });
}

export function excludeSample(
  sample: Sample,
  entry: { address?: string; locality?: string },
): void {
  sample.status.cluster?.configuration?.excluded_servers?.push(entry);
}

/** A status never changes, so the sample gets another one. */
export function killSample(sample: Sample, id: string): void {
  const { cluster } = sample.status;
  const { [id]: _gone, ...processes } = cluster?.processes ?? {};
  sample.status = { ...sample.status, cluster: { ...cluster, processes } };
}

export function sampleEntry(overrides: Partial<LedgerEntry>): LedgerEntry {
  return {
    type: "deletePods",
    beganMs: sampleNowMs - 20_000,
    atMs: sampleNowMs - 20_000,
    processGroupIds: [],
    zones: [],
    addresses: [],
    starts: new Map(),
    podUids: [],
    ...overrides,
  };
}
