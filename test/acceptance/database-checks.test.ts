// Checklist: what is read out of a status before anything is disturbed.
import { Memory } from "../../src/env/memory.ts";
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { bounceDanger, uptimeSecondsOf } from "../../src/plan/restart/bounce-safety.ts";
import { missingCoordinators } from "../../src/plan/coordinators/coordinator-validity.ts";
import { exclusionsOf } from "../../src/plan/view/exclusion-targets.ts";
import { removalProblem } from "../../src/plan/safety/certificate.ts";
import {
  availabilityProblem,
  generationsProblem,
  performanceProblem,
  recoveryProblem,
} from "../../src/plan/safety/common-checks.ts";
import { statusGap } from "../../src/plan/safety/evidence.ts";
import {
  faultToleranceProblem,
  logProblem,
  replicationProblem,
} from "../../src/plan/safety/fault-tolerance.ts";
import { item, table } from "./checklist-case.ts";
import { actionsOf, reasonsOf, Scene } from "./scene.ts";

interface Options {
  spec?: Partial<ClusterSpec>;
  isVerified?: boolean;
}

/** What is missing in the proof that the first storage group may go, after a change of the scene. */
function problem(change: (scene: Scene, id: string) => void, options: Options = {}): string {
  const scene = new Scene({ processCounts: { storage: 6, log: 4, stateless: 3 }, ...options.spec });
  const isCoordinator = (id: string): boolean =>
    scene.processes(id)[0]?.roles?.some((each) => each.role === "coordinator") === true;
  const id = scene.ids("storage").find((each) => !isCoordinator(each)) ?? "";
  const host = scene.pod(id).status?.podIP ?? "";
  scene.mark(id);
  change(scene, id);
  if (options.isVerified === true) {
    const targets = [`locality_instance_id:${id}`, host];
    scene.rest = {
      knowledge: { verified: new Map([[id, { targets, completedMs: scene.nowMs - 1_000 }]]) },
    };
  }
  return removalProblem(scene.snapshot(), scene.group(id)) ?? "";
}
const two: Options = { spec: { storageServersPerPod: 2 } };
const hostOf = (scene: Scene, id: string): string => scene.pod(id).status?.podIP ?? "";
const lost = (scene: Scene, id: string): void => {
  scene.exclude(id);
  scene.loseProcesses(id);
};
const message = (name: string) => (scene: Scene, id: string) => {
  scene.exclude(id);
  scene.database.messages = [{ name }];
};

table(
  {
    "D07.1": [() => {}, "it is not excluded", {}],
    "D07.2": [
      (scene) => {
        scene.database.configuration = { redundancy_mode: "double" };
      },
      "it is not excluded",
      {},
    ],
    "D07.3": [(scene, id) => scene.exclude(id), "", {}],
    "D07.4": [
      (scene, id) => scene.exclude(id, { hasRoles: true }),
      "it still has roles: storage",
      {},
    ],
    "D07.5": [lost, "the database has not confirmed", {}],
    "D07.6": [
      (scene, id) => {
        for (const process of scene.processes(id)) process.roles = [];
      },
      "it is not excluded",
      {},
    ],
    "D07.7": [
      (scene, id) => {
        scene.exclude(id);
        const [process] = scene.processes(id);
        if (process) process.excluded = false;
      },
      "it is not excluded",
      {},
    ],
    "D07.8": [
      (scene, id) => {
        scene.exclude(id);
        const [, second] = scene.processes(id);
        if (second) second.roles = [{ role: "storage" }];
      },
      "it still has roles: storage",
      two,
    ],
    "D07.9": [(scene, id) => scene.exclude(id), "", two],
    "D07.10": [
      (scene, id) => {
        scene.exclude(id);
        const key = Object.keys(scene.database.processes ?? {}).find(
          (each) => each.includes(id) && each.endsWith("-2"),
        );
        delete scene.database.processes?.[key ?? ""];
      },
      "the database has not confirmed",
      two,
    ],
    "D07.11": [
      (scene, id) => {
        scene.exclude(id);
        scene.database.recovery_state = { name: "storage_recovered", active_generations: 3 };
      },
      "the database has not fully recovered",
      {},
    ],
    "D07.12": [
      (scene, id) => {
        scene.exclude(id);
        scene.unavailable();
      },
      "the database is not available",
      {},
    ],
    "D07.13": [
      (scene, id) => {
        lost(scene, id);
        const state = { healthy: false, min_replicas_remaining: 1 };
        scene.database.data = { state, team_trackers: [{ primary: true, state }] };
      },
      "some data has only 1 of 2 copies",
      { isVerified: true },
    ],
    "D07.14": [message("status_incomplete"), "the status is incomplete", {}],
    "D07.15": [
      message("unreachable_processes"),
      "a process cannot be reached",
      { spec: { lockOptions: { disableLocks: false } } },
    ],
    "D07.16": [(scene, id) => scene.exclude(id), "", {}],
    "D07.17": [lost, "", { isVerified: true }],
    "D07.18": [
      (scene, id) => scene.exclude(id, { by: [hostOf(scene, id), `locality_instance_id:${id}`] }),
      "",
      {},
    ],
    "D07.19": [
      (scene, id) => {
        scene.exclude(id, { by: ["10.7.7.7"] });
        scene.loseProcesses(id);
      },
      "not all of its addresses are excluded",
      { isVerified: true },
    ],
    "D07.20": [
      (scene, id) => {
        scene.exclude(id);
        scene.database.recovery_state = { name: "recruiting_transaction_servers" };
      },
      "the database is still recovering",
      {},
    ],
  } satisfies Record<string, [(scene: Scene, id: string) => void, string, Options]>,
  (change: (scene: Scene, id: string) => void, expected: string, options: Options) => {
    const found = problem(change, options);
    assert.ok(expected === "" ? found === "" : found.includes(expected), found);
  },
);

const cluster = (more: NonNullable<DatabaseStatus["cluster"]>): DatabaseStatus => ({
  client: {
    database_status: { available: true, healthy: true },
    coordinators: { quorum_reachable: true, coordinators: [] },
  },
  cluster: more,
});
item("D07.21", () => {
  const excluded_servers = [{ address: "1.1.1.1" }, { locality: "locality_instance_id:a" }];
  const found = exclusionsOf(
    { memory: new Memory() },
    cluster({ configuration: { excluded_servers } }),
  );
  assert.deepEqual(
    [[...found.addresses], [...found.localities]],
    [["1.1.1.1"], ["locality_instance_id:a"]],
  );
});
item("D07.22", () => {
  const scene = new Scene();
  const roles = Object.values(scene.database.processes ?? {}).filter((process) =>
    process.roles?.some((each) => each.role === "coordinator"),
  );
  assert.equal(roles.length, 3);
  assert.deepEqual(
    missingCoordinators(
      { memory: new Memory() },
      scene.status,
      scene.cluster.status?.connectionString ?? "",
    ),
    [],
  );
});
item("D07.23", () => {
  const processes = {
    a: { uptime_seconds: 90 },
    b: { uptime_seconds: 40 },
    t: { uptime_seconds: 1, class_type: "test" },
  };
  const recovery_state = { name: "fully_recovered", seconds_since_last_recovered: 60 };
  assert.equal(uptimeSecondsOf(cluster({ processes, recovery_state }), "7.3.63"), 40);
  const recent = { name: "fully_recovered", seconds_since_last_recovered: 5 };
  assert.equal(uptimeSecondsOf(cluster({ processes, recovery_state: recent }), "7.3.63"), 5);
});
const copies = (count: number): DatabaseStatus =>
  cluster({
    configuration: { redundancy_mode: "double" },
    data: { team_trackers: [{ primary: true, state: { min_replicas_remaining: count } }] },
    logs: [{ log_replication_factor: 2, log_fault_tolerance: 1 }],
  });
const logs = (tolerance: number): DatabaseStatus =>
  cluster({ logs: [{ log_replication_factor: 2, log_fault_tolerance: tolerance }] });
item("D07.24", () => {
  assert.equal(replicationProblem(copies(2)), undefined);
  assert.ok(replicationProblem(copies(1))?.includes("1 of 2"));
  assert.ok(replicationProblem(cluster({})));
});
item("D07.25", () => {
  assert.equal(logProblem(logs(1)), undefined);
  assert.ok(logProblem(logs(0)));
  assert.ok(logProblem(cluster({})));
});
const withCoordinator = (reachable: boolean): DatabaseStatus => {
  const status = copies(2);
  const coordinators = [{ address: "1.1.1.1:4501", reachable }];
  return {
    ...status,
    client: { ...status.client, coordinators: { quorum_reachable: true, coordinators } },
  };
};
item("D07.26", () => {
  assert.equal(faultToleranceProblem(withCoordinator(true), "double"), undefined);
  assert.ok(faultToleranceProblem(withCoordinator(false), "double")?.includes("1.1.1.1:4501"));
});
item("D07.27", () => {
  assert.equal(faultToleranceProblem(copies(2), "double"), undefined);
  assert.ok(faultToleranceProblem(copies(1), "double"));
  const unavailable = {
    ...copies(2),
    client: { database_status: { available: false, healthy: false } },
  };
  assert.ok(faultToleranceProblem(unavailable, "double"));
});
item("D07.28", () => {
  const scene = new Scene();
  assert.equal(statusGap(scene.status), undefined);
  assert.equal(availabilityProblem(scene.status), undefined);
  for (const name of [
    "status_incomplete",
    "unreachable_master_worker",
    "unreadable_configuration",
  ]) {
    scene.database.messages = [{ name }];
    assert.ok(statusGap(scene.status)?.includes(name), name);
  }
  scene.unavailable();
  assert.ok(statusGap(scene.status) && availabilityProblem(scene.status));
});
const recovered = (seconds: number, generations = 1) =>
  cluster({
    recovery_state: {
      name: "fully_recovered",
      seconds_since_last_recovered: seconds,
      active_generations: generations,
    },
  });
item("D07.29", () => {
  assert.equal(recoveryProblem(recovered(200), 120, "7.3.63"), undefined);
  assert.ok(recoveryProblem(recovered(60), 120, "7.3.63"));
  assert.equal(recoveryProblem(recovered(60), 120, "7.1.10"), undefined);
  assert.ok(generationsProblem(recovered(200, 11), 10));
});
item("D07.30", () => {
  assert.equal(generationsProblem(recovered(200, 10), 10), undefined);
  assert.ok(generationsProblem(recovered(200, 11), 10));
});
item("D07.31", () => {
  const calm = recovered(200);
  assert.equal(bounceDanger(calm), undefined);
  assert.ok(bounceDanger(recovered(200, 20)));
  const impact = { can_clean_bounce: false, reason: "no logs" };
  assert.ok(
    bounceDanger({ ...calm, cluster: { ...calm.cluster, bounce_impact: impact } })?.includes(
      "no logs",
    ),
  );
  assert.ok(bounceDanger({ cluster: {} }));
});
const configures = (change: (scene: Scene) => void): boolean => {
  const scene = new Scene().spec({ databaseConfiguration: { redundancy_mode: "triple" } });
  change(scene);
  return actionsOf(scene.decide("updateDatabaseConfiguration"), "configureDatabase").length > 0;
};
item("D07.32", () => {
  assert.ok(configures(() => {}));
  assert.ok(
    !configures(
      (scene) =>
        (scene.database.recovery_state = { name: "fully_recovered", active_generations: 20 }),
    ),
  );
  assert.ok(!configures((scene) => (scene.database.data = { state: { healthy: false } })));
});
item("D07.33", () => {
  assert.equal(performanceProblem(cluster({ qos: {} })), undefined);
  assert.ok(
    performanceProblem(cluster({ qos: { worst_data_lag_storage_server: { seconds: 90 } } })),
  );
  assert.ok(
    performanceProblem(cluster({ qos: { worst_durability_lag_storage_server: { seconds: 90 } } })),
  );
  assert.ok(
    performanceProblem(cluster({ qos: { worst_queue_bytes_log_server: 300 * 1024 * 1024 } })),
  );
});

/** Whether coordinators change when one of them is excluded or gone. */
function changes(
  how: "excluded" | "gone" | "both",
  seconds: number,
  generations = 1,
  isAvailable = true,
): boolean {
  const scene = new Scene();
  const coordinators = scene.groups
    .map((group) => group.processGroupID)
    .filter((id) => scene.processes(id)[0]?.roles?.some((each) => each.role === "coordinator"));
  const [first = "", second = ""] = coordinators;
  if (how !== "gone") scene.exclude(first, { hasRoles: true });
  if (how !== "excluded") scene.loseProcesses(second);
  scene.database.recovery_state = {
    name: "fully_recovered",
    seconds_since_last_recovered: seconds,
    active_generations: generations,
  };
  scene.missCoordinatorsFor(300_000);
  if (!isAvailable) scene.unavailable();
  const result = scene.decide("changeCoordinators");
  const isChanged = actionsOf(result, "changeCoordinators").length > 0;
  if (isAvailable) assert.equal(reasonsOf(result).length, isChanged ? 0 : 1);
  return isChanged;
}
item("D07.35", () => assert.ok(!changes("excluded", 500, 1, false)));
item("D07.36", () =>
  assert.deepEqual([changes("excluded", 500, 20), changes("excluded", 500, 1)], [false, true]),
);
item("D07.37", () =>
  assert.deepEqual([changes("excluded", 10), changes("excluded", 200)], [false, true]),
);
item("D07.38", () => assert.deepEqual([changes("gone", 10), changes("gone", 200)], [false, true]));
item("D07.39", () => assert.ok(changes("both", 200, 20)));
