// What keeps a database from falling asleep. Rules: spec/hibernation.md [HIB2]-[HIB9].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, ClusterStatus } from "../../api/cluster.ts";
import { hibernationConsents } from "../../api/hibernation.ts";
import { formatTime } from "../../kube/time.ts";
import type { DatabaseStatus, StatusClient } from "../../model/database-status.ts";
import type { DisruptiveAction } from "../action.ts";
import type { DatabaseObservation } from "../snapshot.ts";
import {
  sampleDatabase,
  sampleGroup,
  sampleNowMs,
  sampleProcess,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";
import { actRefusal } from "./act-refusal.ts";
import { sleepObstacles } from "./sleep-obstacles.ts";
import type { SafetyView } from "./view.ts";

const names = "sample:abc@log-1.sample:4501,log-2.sample:4501,log-3.sample:4501";

/** A database whose coordinators have names, at rest, without clients. */
function resting(change: (sample: Sample) => void = () => {}): Sample {
  const sample = sampleDatabase();
  const { cluster } = sample.status;
  if (cluster !== undefined) {
    cluster.connection_string = names;
    cluster.clients = { count: 0, supported_versions: [] };
  }
  change(sample);
  return sample;
}

function wishing(sample: Sample, spec: Partial<ClusterSpec> = {}, more: Partial<SafetyView> = {}) {
  const view = viewOf(sample, more);
  const { cluster } = view;
  return { ...view, cluster: { ...cluster, spec: { ...cluster.spec, hibernate: true, ...spec } } };
}

function told(sample: Sample, spec: Partial<ClusterSpec> = {}, more: Partial<SafetyView> = {}) {
  return sleepObstacles(wishing(sample, spec, more)).map(
    ({ reason, message }) => `${reason}: ${message}`,
  );
}

function clusterOf(sample: Sample): NonNullable<DatabaseStatus["cluster"]> {
  return sample.status.cluster ?? {};
}

function withClients(...clients: StatusClient[]): (sample: Sample) => void {
  return (sample) => {
    const version = { client_version: "7.3.79", protocol_version: "fdb00b073000000" };
    clusterOf(sample).clients = {
      supported_versions: [{ ...version, max_protocol_clients: clients }],
    };
  };
}

test("[HIB2] nothing is in the way of a healthy database at rest", () => {
  assert.deepEqual(told(resting()), []);
});

const held: readonly (readonly [string, (sample: Sample) => void, RegExp])[] = [
  [
    "an upgrade",
    (s) => (s.runningVersion = "7.1.57"),
    /version 7.1.57 runs, and 7.3.79 is wanted/i,
  ],
  [
    "a removal",
    (s) => (sampleGroup(s, "storage-1").removalTimestamp = "2026-01-01T00:00:00Z"),
    /Process group storage-1 is being removed/,
  ],
  [
    "a pod of an older specification",
    (s) =>
      (sampleGroup(s, "log-1").processGroupConditions = [
        { type: "IncorrectPodSpec", timestamp: 1 },
      ]),
    /Process group log-1 is not as it should be: IncorrectPodSpec/,
  ],
  [
    "an exclusion",
    (s) => (sampleProcess(s, "storage-2").excluded = true),
    /moved away from 10.0.0.2/,
  ],
  [
    "a recovery",
    (s) => (clusterOf(s).recovery_state = { name: "accepting_commits" }),
    /not fully recovered/,
  ],
  [
    "a lock",
    (s) => (clusterOf(s).database_lock_state = { locked: true, lock_uid: "u1" }),
    /locked by u1/,
  ],
  [
    "a copy that is missing",
    (s) =>
      (clusterOf(s).data = {
        team_trackers: [{ primary: true, state: { min_replicas_remaining: 1 } }],
      }),
    /only 1 of 2 copies/,
  ],
  [
    "data that is being healed",
    (s) =>
      (clusterOf(s).data = { ...clusterOf(s).data, state: { healthy: false, name: "healing" } }),
    /not where it should be: healing/,
  ],
  ["a maintenance", (s) => (clusterOf(s).maintenance_zone = "zone-1"), /under maintenance/],
];

for (const [title, change, message] of held) {
  test(`[HIB2] held: ${title}`, () => {
    const [first = "", ...rest] = told(resting(change));
    assert.match(first, /^HibernationHeld: /);
    assert.match(first, message);
    assert.deepEqual(rest, []);
  });
}

const later: readonly (readonly [string, string, Partial<ClusterStatus>, boolean])[] = [
  ["a pod of an older specification", "IncorrectPodSpec", {}, true],
  ["a process of an older command line", "IncorrectCommandLine", {}, true],
  ["a claim of another specification", "MissingPVC", {}, true],
  ["a replacement that has begun", "MissingPVC", { begunWork: { since: "2026-01-01" } }, false],
  ["a pod that fails", "PodFailing", {}, false],
];

for (const [what, type, status, isLeft] of later) {
  test(`[WIN4] ${what} ${isLeft ? "waits for its window over the sleep" : "comes first"}`, () => {
    const sample = resting();
    sampleGroup(sample, "log-1").processGroupConditions = [{ type, timestamp: 1 }] as never;
    const heldIn = (maintenanceWindows: readonly { cron: string; duration: string }[]) => {
      const view = wishing(sample, { automationOptions: { maintenanceWindows } });
      const cluster = { ...view.cluster, status: { ...view.cluster.status, ...status } };
      return sleepObstacles({ ...view, cluster }).length;
    };
    assert.equal(heldIn([{ cron: "0 12 * * *", duration: "1h" }]), isLeft ? 0 : 1);
    assert.equal(heldIn([{ cron: "0 0 * * *", duration: "1h" }]), 1, "the window is open");
    assert.equal(heldIn([]), 1);
  });
}

test("[HIB2] [S162] held: what went before the operator looked may not be noticed yet", () => {
  const early = { watchedSinceMs: sampleNowMs - 89_000 };
  const [first = ""] = told(resting(), {}, early);
  assert.match(first, /^HibernationHeld: The operator has just begun to look/);
  assert.deepEqual(told(resting(), {}, { watchedSinceMs: sampleNowMs - 90_000 }), []);
});

test("[HIB2] held: no database, no status, one that is only being created", () => {
  const missing = { kind: "missing", reason: "Asking", message: "", sinceMs: 0 } as const;
  assert.match(told(resting(), {}, { database: missing })[0] ?? "", /^HibernationHeld: /);
  const view = wishing(resting());
  const status = { ...view.cluster.status, configured: false };
  const [first] = sleepObstacles({ ...view, cluster: { ...view.cluster, status } });
  assert.match(first?.message ?? "", /to be created first/);
  const spec = { ...view.cluster.spec, adopt: { volumes: { matchLabels: { mine: "yes" } } } };
  const [adopted] = sleepObstacles({ ...view, cluster: { ...view.cluster, spec, status } });
  assert.match(adopted?.message ?? "", /to be brought back from its disks first/);
});

test("[HIB3] coordinators by address are refused, unless the addresses are those of services", () => {
  const sample = resting((s) => (clusterOf(s).connection_string = "sample:abc@10.0.1.1:4501"));
  const [first = ""] = told(sample);
  assert.match(
    first,
    /^HibernationRefused: Coordinators are known by addresses .*10\.0\.1\.1:4501/,
  );
  const routing = { publicIPSource: "service" } as const;
  // A pod has that address: those of services are only wished for yet.
  assert.equal(told(sample, { routing })[0], first);
  const served = resting((s) => (clusterOf(s).connection_string = "sample:abc@10.9.1.1:4501"));
  assert.match(told(served)[0] ?? "", /^HibernationRefused: /);
  assert.deepEqual(told(served, { routing }), []);
});

test("[HIB4] data in a pod alone, and a claim that goes, are refused", () => {
  const without = resting((s) => (sampleProcess(s, "stateless-1").roles = [{ role: "storage" }]));
  sampleGroup(without, "stateless-1").processClass = "unset";
  const lying = /^HibernationRefused: The data of stateless-1 lies in its pod alone/;
  assert.match(told(without)[0] ?? "", lying);
  const gone = told(resting((s) => s.pvcs.delete("sample-log-1-data")));
  assert.match(
    gone[0] ?? "",
    /^HibernationRefused: The volume claim sample-log-1-data of log-1 is gone/,
  );
  const going = told(
    resting((s) => {
      const claim = s.pvcs.get("sample-storage-1-data");
      assert.ok(claim);
      const metadata = { ...claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
      s.pvcs.set("sample-storage-1-data", { ...claim, metadata });
    }),
  );
  assert.match(going[0] ?? "", /^HibernationRefused: .* is being deleted/);
});

test("[HIB5] clients are named, until they are accepted; the operator, agents and servers are none", () => {
  const operator = { address: "10.9.0.1:4000", log_group: "fdb-kubernetes-operator" };
  const agent = { address: "10.9.0.2:4000", log_group: "default" };
  const tool = { address: "10.0.0.1:4000", log_group: "default" };
  const own = resting(withClients(operator, agent, tool));
  assert.deepEqual(told(own, {}, { agentHosts: new Set(["10.9.0.2"]) }), []);
  const [first = ""] = told(own);
  assert.equal(first, "HibernationUnconfirmed: 1 client connected: 10.9.0.2:4000");
  assert.deepEqual(told(own, { hibernateDespite: ["ConnectedClients"] }), []);
  const unknown = resting((s) => delete clusterOf(s).clients);
  assert.match(told(unknown)[0] ?? "", /^HibernationUnconfirmed: The status does not tell/);
});

test("[HIB6] a backup that runs is named, until it is accepted", () => {
  const tags = { daily: { running_backup: true }, old: { running_backup: false } };
  const sample = resting((s) => (clusterOf(s).layers = { _valid: true, backup: { tags } }));
  assert.deepEqual(told(sample), ["HibernationUnconfirmed: A backup runs: tag daily"]);
  assert.deepEqual(told(sample, { hibernateDespite: ["RunningBackup"] }), []);
});

test("[HIB7] processes of other resources are named, until they are accepted; then the rest may follow", () => {
  const foreign = (s: Sample): void => {
    const locality = { instance_id: "east-storage-1", zoneid: "zone-9" };
    const process = { address: "10.9.0.9:4501", class_type: "storage", locality };
    clusterOf(s).processes = { ...clusterOf(s).processes, foreign: process };
  };
  const [first = ""] = told(resting(foreign));
  assert.match(first, /^HibernationUnconfirmed: Processes of other .*: east-storage-1/);
  const consent: Partial<ClusterSpec> = { hibernateDespite: ["SharedDatabase"] };
  assert.deepEqual(told(resting(foreign), consent), []);
  assert.deepEqual(toldOfRest(6), []);
  assert.match(toldOfRest(6, {}, {})[0] ?? "", /^HibernationHeld: /);
});

test("[HIB7] where no coordinator answers, nobody can tell who is connected, and that is accepted by name", () => {
  const shared: Partial<ClusterSpec> = { hibernateDespite: ["SharedDatabase"] };
  const untold = /^HibernationUnconfirmed: No coordinator answers, .* clients .* backup/;
  assert.match(toldOfRest(6, {}, shared)[0] ?? "", untold);
  const clients: Partial<ClusterSpec> = {
    hibernateDespite: ["SharedDatabase", "ConnectedClients"],
  };
  assert.match(toldOfRest(6, {}, clients)[0] ?? "", untold);
  const answering = (isReachable: boolean, observedMs = sampleNowMs): string[] => {
    const status = structuredClone(resting().status);
    status.client = {
      database_status: { available: false, healthy: false },
      coordinators: { coordinators: [{ address: "a:4501", reachable: isReachable }] },
    };
    return toldOfRest(6, {}, shared, { kind: "seen", status, observedMs });
  };
  assert.deepEqual(answering(true), []);
  assert.match(answering(false)[0] ?? "", untold);
  assert.match(answering(true, 0)[0] ?? "", untold);
});

test("[HIB5] [HIB7] what an incomplete status leaves out is for nobody to accept", () => {
  const gap = resting((s) => {
    delete clusterOf(s).clients;
    clusterOf(s).messages = [{ name: "status_incomplete" }];
  });
  assert.deepEqual(told(gap), ["HibernationHeld: The status is incomplete (status_incomplete)"]);
});

const silent = { kind: "missing", reason: "Unreachable", message: "", sinceMs: 0 } as const;

/** When the database has not been available for so long. */
function toldOfRest(
  minutes: number,
  stored: Partial<ClusterStatus> = {},
  consent: Partial<ClusterSpec> = { hibernateDespite: [...hibernationConsents] },
  database: DatabaseObservation = silent,
): string[] {
  const view = wishing(resting(), consent, { database });
  const lastTransitionTime = formatTime(sampleNowMs - minutes * 60_000);
  const conditions = [
    { type: "Available", status: "False" as const, reason: "", message: "", lastTransitionTime },
  ];
  const status = { ...view.cluster.status, connectionString: names, conditions, ...stored };
  return sleepObstacles({ ...view, cluster: { ...view.cluster, status } }).map(
    ({ reason, message }) => `${reason}: ${message}`,
  );
}

test("[HIB7] a database that falls silent for a moment was not stopped by others, and its coordinators have to survive all the same", () => {
  assert.match(toldOfRest(4)[0] ?? "", /^HibernationHeld: The database does not serve, .* five/);
  const connectionString = "sample:abc@10.0.1.1:4501";
  assert.match(toldOfRest(6, { connectionString })[0] ?? "", /^HibernationRefused: .*10\.0\.1\.1/);
  const removalTimestamp = "2026-01-01T00:00:00Z";
  const processGroups = resting().groups.map((group) => ({ ...group, removalTimestamp }));
  assert.match(toldOfRest(6, { processGroups })[0] ?? "", /is being removed/);
});

function stop(sample: Sample): DisruptiveAction {
  const pods = sample.groups.flatMap(({ processGroupID: id, processClass }) => {
    const basis = { name: `sample-${id}`, uid: `uid-${id}`, resourceVersion: "1" };
    return sample.pods.has(basis.name) ? [{ basis, processGroupId: id, processClass }] : [];
  });
  const base = { step: "hibernate", evidenceMs: sampleNowMs, needsLock: false };
  return { ...base, type: "deletePods", because: "hibernate", pods };
}

function refused(sample: Sample, spec: Partial<ClusterSpec> = {}, isDecided = true): string {
  const view = wishing(sample, spec);
  const hibernation = isDecided ? { hibernation: { since: "2026-01-01T00:00:00Z" } } : {};
  const status = { ...view.cluster.status, ...hibernation };
  const found = actRefusal({ ...view, cluster: { ...view.cluster, status } }, stop(sample));
  return found === undefined ? "" : `${found.reason}: ${found.message}`;
}

test("[HIB8] the guard lets the pods of a whole database go, and of one that is not whole none", () => {
  assert.equal(refused(resting()), "");
  assert.match(refused(resting(), {}, false), /^EvidenceStale: nobody wants/);
  assert.match(refused(resting(), { hibernate: false }), /^EvidenceStale: nobody wants/);
  const client = { address: "10.9.0.2:4000", log_group: "default" };
  assert.match(refused(resting(withClients(client))), /^StatusIncomplete: 1 client connected/);
});

test("[HIB9] once a pod is gone the others follow, but never one whose volume goes", () => {
  const half = resting((s) => s.pods.delete("sample-log-1"));
  clusterOf(half).recovery_state = { name: "reading_coordinated_state" };
  assert.equal(refused(half), "");
  half.pvcs.delete("sample-storage-1-data");
  assert.match(refused(half), /^VolumeAtRisk: /);
});
