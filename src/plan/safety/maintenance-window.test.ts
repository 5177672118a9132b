// Which action needs a window, over every kind there is; and what lets it pass although none is open.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterStatus } from "../../api/cluster.ts";
import {
  emptySampleProcess,
  killSample,
  sampleDatabase,
  sampleGroup,
  sampleNowMs,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";
import type { Action, DisruptiveAction } from "../action.ts";
import { actRefusal } from "./act-refusal.ts";
import { doorRefusal } from "./door-refusal.ts";
import { workOf, windowRefusal } from "./maintenance-window.ts";
import type { SafetyView } from "./view.ts";
import { windowNeed } from "./window-need.ts";
import type { WindowNeed } from "./window-need.ts";

const base = { step: "test", evidenceMs: sampleNowMs - 1_000, needsLock: false };
const basis = { name: "sample-log-1", uid: "uid-log-1", resourceVersion: "1" };
const ids = { processGroupIds: ["log-1"] };
const targets = { targets: ["locality_instance_id:log-1"], ...ids };
const object = { metadata: {} } as never;

type Because = (DisruptiveAction & { type: "deletePods" })["because"];

function deleting(because: Because): DisruptiveAction {
  return { ...base, type: "deletePods", because, pods: [{ basis, processGroupId: "log-1" }] };
}

const killing: DisruptiveAction = {
  ...base,
  type: "killProcesses",
  addresses: ["10.0.1.1:4501"],
  ...ids,
  isUpgrade: false,
};
const configuring: DisruptiveAction = {
  ...base,
  type: "configureDatabase",
  arguments: "triple",
  isNew: false,
};
const moving: DisruptiveAction = { ...base, type: "changeCoordinators", addresses: [] };
const copying = { podName: "sample-log-1", host: "10.0.1.1", useTls: false, endpoints: [] };
const group = { processGroupId: "log-1" };

/** A kind that is missing here does not compile. */
const kinds: { [T in Action["type"]]: readonly [Action & { type: T }, WindowNeed][] } = {
  createConfigMap: [[{ step: "", type: "createConfigMap", object }, "free"]],
  updateConfigMap: [[{ step: "", type: "updateConfigMap", object, basis }, "free"]],
  createService: [[{ step: "", type: "createService", object }, "free"]],
  updateService: [[{ step: "", type: "updateService", object, basis }, "free"]],
  deleteService: [[{ step: "", type: "deleteService", basis }, "free"]],
  createNetworkPolicy: [[{ step: "", type: "createNetworkPolicy", object }, "free"]],
  updateNetworkPolicy: [[{ step: "", type: "updateNetworkPolicy", basis, spec: {} }, "free"]],
  deleteNetworkPolicy: [[{ step: "", type: "deleteNetworkPolicy", basis }, "free"]],
  createPvc: [[{ step: "", type: "createPvc", object, ...group }, "free"]],
  createPod: [[{ step: "", type: "createPod", object, ...group }, "free"]],
  createVolumeReader: [[{ step: "", type: "createVolumeReader", object }, "free"]],
  deleteVolumeReader: [[{ step: "", type: "deleteVolumeReader", basis }, "free"]],
  patchPod: [[{ step: "", type: "patchPod", basis, patch: {}, ...group } as never, "free"]],
  patchPvc: [[{ step: "", type: "patchPvc", basis, patch: {}, ...group } as never, "free"]],
  resizePod: [
    [
      { step: "", type: "resizePod", basis, containers: [], mark: "", specHash: "", ...group },
      "free",
    ],
  ],
  growPvc: [[{ step: "", type: "growPvc", basis, size: "1", specHash: "", ...group }, "free"]],
  copyToPod: [[{ step: "", type: "copyToPod", ...copying, ...group }, "free"]],
  updatePodImage: [
    [{ step: "", type: "updatePodImage", basis, container: "", image: "", ...group }, "free"],
  ],
  updateDenyList: [[{ step: "", type: "updateDenyList", add: [], remove: [] }, "free"]],
  registerPendingUpgrade: [
    [{ step: "", type: "registerPendingUpgrade", version: "7.3.79", ...ids }, "free"],
  ],
  withdrawPendingUpgrade: [[{ step: "", type: "withdrawPendingUpgrade", ...ids }, "free"]],
  updateMaintenanceList: [[{ step: "", type: "updateMaintenanceList", remove: [] }, "free"]],
  updateCoordination: [
    [{ step: "", type: "updateCoordination", prefix: "", updates: {} } as never, "free"],
  ],
  migrateCoordination: [
    [{ step: "", type: "migrateCoordination", prefix: "", entries: [] }, "free"],
  ],
  releaseLock: [[{ step: "", type: "releaseLock", lock: {} } as never, "free"]],
  setFinalizer: [[{ step: "", type: "setFinalizer", isPresent: true }, "free"]],
  createDisruptionBudget: [[{ step: "", type: "createDisruptionBudget", object } as never, "free"]],
  updateDisruptionBudget: [[{ step: "", type: "updateDisruptionBudget", object } as never, "free"]],
  deleteDisruptionBudget: [[{ step: "", type: "deleteDisruptionBudget", basis } as never, "free"]],
  deleteQuarantined: [[{ ...base, type: "deleteQuarantined", claims: [] } as never, "free"]],
  fencePods: [[{ ...base, type: "fencePods", pods: [] } as never, "free"]],
  lowerLimits: [[{ ...base, type: "lowerLimits", basis } as never, "free"]],
  resetMaintenanceZone: [[{ ...base, type: "resetMaintenanceZone", zone: "" }, "free"]],
  excludeProcesses: [[{ ...base, type: "excludeProcesses", ...targets }, "free"]],
  includeProcesses: [[{ ...base, type: "includeProcesses", ...targets }, "free"]],
  removeProcessGroups: [[{ ...base, type: "removeProcessGroups", groups: [] }, "free"]],
  deletePods: (
    [
      ["terminal", "free"],
      ["unstarted", "free"],
      ["early", "free"],
      ["buggify", "free"],
      ["hibernate", "free"],
      ["incompatible", "repair"],
      ["update", "faultDomain"],
    ] as const
  ).map(([because, need]) => [deleting(because) as never, need]),
  configureDatabase: [
    [configuring as never, "recovery"],
    [{ ...configuring, isNew: true } as never, "free"],
  ],
  changeCoordinators: [[moving as never, "recovery"]],
  killProcesses: [
    [killing as never, "recovery"],
    [{ ...killing, isUpgrade: true } as never, "recovery"],
  ],
};

for (const [action, need] of Object.values(kinds).flat() as [Action, WindowNeed][]) {
  const because = action.type === "deletePods" ? ` (${action.because})` : "";
  test(`[WIN3] [WIN4] in a healthy database ${action.type}${because} is ${need}`, () => {
    assert.equal(windowNeed(viewOf(sampleDatabase()), action), need);
  });
}

const repairs: readonly [string, (sample: Sample) => void, Action, WindowNeed][] = [
  [
    "a coordinator does not answer",
    (sample) => {
      const [first] = sample.status.client?.coordinators?.coordinators ?? [];
      if (first !== undefined) Object.assign(first, { reachable: false });
    },
    moving,
    "repair",
  ],
  [
    "its node is drained",
    (sample) => {
      sampleGroup(sample, "log-1").processGroupConditions = [
        { type: "NodeDraining", timestamp: 0 },
      ];
    },
    deleting("update"),
    "repair",
  ],
  [
    "a coordinator is to leave",
    (sample) => {
      sampleGroup(sample, "log-1").removalTimestamp = "2026-01-01T00:00:00Z";
    },
    moving,
    "repair",
  ],
  [
    "somebody else is to leave",
    (sample) => {
      sampleGroup(sample, "storage-1").removalTimestamp = "2026-01-01T00:00:00Z";
    },
    moving,
    "recovery",
  ],
  [
    "the process does not report",
    (sample) => killSample(sample, "log-1"),
    deleting("update"),
    "repair",
  ],
  [
    "the process is excluded and holds nothing",
    (sample) => emptySampleProcess(sample, "log-1"),
    deleting("update"),
    "repair",
  ],
  ["a recovery comes to its end", recovering("all_logs_recruited", 599), configuring, "recovery"],
  ["a recovery does not end", recovering("all_logs_recruited", 600), configuring, "repair"],
  [
    "a recovery does not even get so far that the database takes commits",
    recovering("recruiting_transaction_servers", -1),
    configuring,
    "repair",
  ],
];

function recovering(name: string, seconds: number): (sample: Sample) => void {
  return ({ status }) => {
    const state = status.cluster?.recovery_state;
    if (state === undefined) throw new Error("a sample without a recovery");
    Object.assign(state, { name, seconds_since_last_recovered: seconds });
  };
}

for (const [what, change, action, need] of repairs) {
  test(`[WIN4] ${action.type} when ${what}: ${need}`, () => {
    const sample = sampleDatabase();
    change(sample);
    assert.equal(windowNeed(viewOf(sample), action), need);
  });
}

interface Scene {
  readonly nowMs?: number;
  readonly begunWork?: ClusterStatus["begunWork"];
  readonly urgent?: string;
}

/** A window from two to three; it is midnight. */
function sceneOf({ nowMs = sampleNowMs, begunWork, urgent }: Scene = {}): SafetyView {
  const view = viewOf(sampleDatabase());
  const { cluster } = view;
  const maintenanceWindows = [{ cron: "0 2 * * *", duration: "1h" }];
  const annotations =
    urgent === undefined ? {} : { annotations: { "foundationdb.org/urgent-generation": urgent } };
  return {
    ...view,
    nowMs,
    cluster: {
      ...cluster,
      metadata: { ...cluster.metadata, generation: 7, ...annotations },
      spec: { ...cluster.spec, automationOptions: { maintenanceWindows } },
      status: { ...cluster.status, ...(begunWork === undefined ? {} : { begunWork }) },
    },
  };
}

const hourMs = 3_600_000;

test("[WIN6] the guard refuses what is safe when its time has not come", () => {
  const view = sceneOf();
  const action = deleting("update");
  assert.equal(actRefusal(view, action), undefined);
  assert.deepEqual(doorRefusal(view, action), {
    reason: "MaintenanceWindowClosed",
    message: "it waits for a maintenance window: the next one opens at 2026-01-02T02:00:00Z",
  });
  assert.equal(doorRefusal(viewOf(sampleDatabase()), action), undefined);
});

test("[WIN1] nothing waits in a window, everything does right after it", () => {
  const refusalAt = (hours: number) =>
    windowRefusal(sceneOf({ nowMs: sampleNowMs + hours * hourMs }), killing);
  assert.equal(refusalAt(2), undefined);
  assert.equal(refusalAt(2.99), undefined);
  assert.match(refusalAt(3)?.message ?? "", /2026-01-03T02:00:00Z/);
});

test("[WIN11] urgent is one generation", () => {
  assert.equal(windowRefusal(sceneOf({ urgent: "7" }), killing), undefined);
  for (const urgent of ["6", "8", "", "true"]) {
    assert.notEqual(windowRefusal(sceneOf({ urgent }), killing), undefined);
  }
});

test("[WIN8] [WIN9] [WIN12] what has begun goes on, and nothing else with it", () => {
  const since = "2026-01-01T02:00:00Z";
  const { processes = "", configuration = "" } = workOf(sceneOf(), "changeCoordinators");
  const passes = (begunWork: ClusterStatus["begunWork"], action: Action): boolean =>
    windowRefusal(sceneOf({ begunWork }), action) === undefined;
  for (const [begun, expected] of [
    [{ since, processes }, [true, true, false, true]],
    [{ since, configuration }, [false, false, true, true]],
    [{ since, upgrade: "7.3.79" }, [true, true, false, true]],
    [{ since, upgrade: "7.3.80", processes: "another" }, [false, false, false, false]],
  ] as const) {
    const found: boolean[] = [killing, deleting("update"), configuring, moving].map((action) =>
      passes(begun, action),
    );
    assert.deepEqual(found, expected, JSON.stringify(begun));
  }
});

for (const [image, passes] of [
  ["foundationdb/foundationdb:7.1.57", true],
  ["foundationdb/fdb-kubernetes-monitor:7.1.57", true],
  ["foundationdb/foundationdb:7.3.79", false],
  ["foundationdb/foundationdb:7.3.63", false],
] as const) {
  test(`[WIN26] without a note of begun work a pod with ${image} ${passes ? "is made again" : "waits"}`, () => {
    const view = sceneOf();
    assert.equal(view.cluster.status?.begunWork, undefined);
    const running = view.cluster.status?.runningVersion ?? view.cluster.spec.version;
    assert.match(running, /^7\.3\./);
    const pods = new Map(view.pods);
    const containers = [{ name: "foundationdb", image }];
    pods.set(basis.name, { metadata: { name: basis.name }, spec: { containers } } as never);
    const found: boolean[] = [deleting("update"), killing, configuring, moving].map(
      (action) => windowRefusal({ ...view, pods } as SafetyView, action) === undefined,
    );
    assert.deepEqual(found, [passes, false, false, false]);
  });
}

test("[WIN9] another number of processes, setting of the automation or a wish for sleep is the same work", () => {
  const view = sceneOf();
  const workWith = (more: object) =>
    workOf({ cluster: { ...view.cluster, spec: { ...view.cluster.spec, ...more } } }, "deletePods");
  const same = workOf(view, "deletePods");
  assert.deepEqual(workWith({ processCounts: { storage: 9 } }), same);
  assert.deepEqual(workWith({ automationOptions: {} }), same);
  assert.deepEqual(workWith({ hibernate: true, hibernateDespite: ["RunningBackup"] }), same);
  assert.deepEqual(workWith({ adopt: { volumes: { matchLabels: {} } } }), same);
  assert.deepEqual(workWith({ seedConnectionString: "a:b@10.0.0.1:4501" }), same);
  assert.notDeepEqual(workWith({ processes: { general: { customParameters: ["a=1"] } } }), same);
  assert.notDeepEqual(workWith({ version: "7.3.80" }), same);
});
