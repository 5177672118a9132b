// Changes of version on plain objects: what is possible, who holds it up, how pods are prepared.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { SupportedVersion } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { actRefusal } from "../../src/plan/safety/act-refusal.ts";
import { PlanWorld } from "./plan-world.ts";
import { UpgradeWorld, client, newVersion, oldVersion } from "./upgrade-world.ts";

function waitOf(plan: Plan, step: string): string {
  const wait = plan.waits.find((one) => one.step === step);
  return wait === undefined ? "" : `${wait.reason}: ${wait.message}`;
}

const changes: readonly [from: string, to: string, verdict: string][] = [
  ["7.1.57", "7.1.60", ""],
  ["7.1.57", "7.1.40", ""],
  ["7.1.57", "7.3.63", ""],
  ["7.3.63", "7.3.27", ""],
  ["7.3.63", "7.1.57", "VersionChangeRefused"],
  ["7.3.63", "7.2.9", "VersionChangeRefused"],
];

test("[U1][U2] A17 versions go up and down within a line, and otherwise only up", () => {
  for (const [from, to, verdict] of changes) {
    const world = new UpgradeWorld({ version: from });
    world.changeSpec({ version: to });
    const plan = world.plan();
    const wait = waitOf(plan, "checkClientCompatibility");
    assert.equal(wait.split(":")[0], verdict, `${from} to ${to}: ${wait}`);
    if (verdict === "") continue;
    assert.match(wait, new RegExp(`${from} cannot be changed to ${to}`));
    assert.deepEqual(
      plan.actions.map((action) => action.type),
      [],
      "nothing is prepared",
    );
  }
});

test("[U3] within a line pods are made for the new version at once, and nobody is restarted in place", () => {
  const world = new UpgradeWorld({
    version: "7.3.27",
    automationOptions: { podUpdateStrategy: "Delete" },
  });
  world.changeSpec({ version: "7.3.63" });
  const plan = world.pass();
  const groups = plan.status.processGroups ?? [];
  assert.ok(
    groups.every(({ processGroupConditions: found = [] }) =>
      found.some(({ type }) => type === "IncorrectPodSpec"),
    ),
  );
  assert.deepEqual(world.kills, []);
  assert.deepEqual(world.imageChanges, []);
  assert.equal(world.announced(), "7.3.63");
});

const clientTable: readonly [what: string, clients: SupportedVersion[], blocked: boolean][] = [
  ["none", [], false],
  ["an old one", [client("10.9.0.1:4000", oldVersion)], true],
  ["one of the target's line", [client("10.9.0.1:4000", "7.3.1")], false],
  ["a newer one", [client("10.9.0.1:4000", "7.4.5")], false],
  [
    "the operator",
    [client("10.9.0.1:4000", oldVersion, { logGroup: "fdb-kubernetes-operator" })],
    false,
  ],
  ["an unknown protocol", [client("10.9.0.1:4000", oldVersion, { protocol: "Unknown" })], false],
  ["an unreadable address", [client("[::", oldVersion)], true],
  ["an unreadable version", [client("10.9.0.1:4000", "nightly")], true],
  [
    "an old one beside those that can follow",
    [client("10.9.0.1:4000", oldVersion), client("10.9.0.2:4000", newVersion)],
    true,
  ],
];

test("[U10][U11][U12] B22 which clients hold a jump up", () => {
  for (const [what, clients, isBlocked] of clientTable) {
    const world = new UpgradeWorld();
    world.showClients(clients);
    world.changeSpec({ version: newVersion });
    const plan = world.pass();
    const wait = waitOf(plan, "checkClientCompatibility");
    assert.equal(wait.startsWith("ClientsIncompatible"), isBlocked, `${what}: ${wait}`);
    assert.equal(world.imageChanges.length > 0, !isBlocked, what);
  }
});

test("[U11] B22 whoever runs fdbcli on a machine of the database is not asked", () => {
  const world = new UpgradeWorld();
  const host = Object.values(world.processes)[0]?.address?.split(":")[0] ?? "";
  world.showClients([client(`${host}:51000`, oldVersion), client("10.9.0.1:1", oldVersion)]);
  world.changeSpec({ version: newVersion });
  const wait = waitOf(world.plan(), "checkClientCompatibility");
  assert.match(wait, /10\.9\.0\.1:1 /);
  assert.ok(!wait.includes(host));
});

test("[U13] the wait and the event name address, log group and version", () => {
  const world = new UpgradeWorld();
  world.showClients([client("10.9.0.1:4000", oldVersion, { logGroup: "shop" })]);
  world.changeSpec({ version: newVersion });
  const plan = world.plan();
  const wait = waitOf(plan, "checkClientCompatibility");
  assert.match(wait, /10\.9\.0\.1:4000 \(log group shop, version 7\.1\.57\)/);
  const events = plan.events.filter(({ reason }) => reason === "UnsupportedClient");
  assert.equal(events.length, 1);
  assert.equal(events[0]?.type, "Warning");
});

test("[U11] A20 log groups of the resource replace the default, an empty list does not", () => {
  const clients = [
    client("10.9.0.1:1", oldVersion, { logGroup: "batch" }),
    client("10.9.0.2:1", oldVersion, { logGroup: "fdb-kubernetes-operator" }),
  ];
  const blockedWith = (ignoreLogGroupsForUpgrade: string[]): string => {
    const world = new UpgradeWorld({ automationOptions: { ignoreLogGroupsForUpgrade } });
    world.showClients(clients);
    world.changeSpec({ version: newVersion });
    return waitOf(world.plan(), "checkClientCompatibility");
  };
  assert.match(blockedWith(["batch"]), /10\.9\.0\.2/);
  assert.doesNotMatch(blockedWith(["batch"]), /10\.9\.0\.1/);
  assert.match(blockedWith([]), /10\.9\.0\.1/);
  assert.equal(blockedWith(["batch", "fdb-kubernetes-operator"]), "");
});

test("[U4] a jump waits for a status that tells of clients, unless it is told not to ask", () => {
  const world = new UpgradeWorld();
  const { clients: _, ...rest } = world.statusOverlay;
  world.statusOverlay = rest;
  world.changeSpec({ version: newVersion });
  const plan = world.pass();
  assert.deepEqual(world.imageChanges, []);
  assert.match(waitOf(plan, "checkClientCompatibility"), /^StatusIncomplete/);
  world.changeSpec({ ignoreUpgradabilityChecks: true });
  world.pass();
  assert.equal(world.imageChanges.length, world.pods.size);
});

test("[U5] while clients hold the jump up, a lost pod is made anew with a configuration that it can run", () => {
  const world = new UpgradeWorld();
  world.showClients([client("10.9.0.1:4000", oldVersion)]);
  world.changeSpec({ version: newVersion });
  world.pass();
  const [name = ""] = world.pods.keys();
  world.pods.delete(name);
  world.pass();
  const images = (world.pods.get(name)?.spec?.containers ?? []).map(({ image }) => image);
  assert.ok(
    images.every((image) => image?.endsWith(oldVersion)),
    images.join(),
  );
  assert.equal(world.announced(), oldVersion);
});

test("[U6] the verdict follows the running version, also when the wanted one was changed twice", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.pass();
  world.changeSpec({ version: "7.1.60" });
  assert.equal(waitOf(world.plan(), "checkClientCompatibility"), "");
});

test("[U14] when the last client has gone the jump goes on", () => {
  const world = new UpgradeWorld();
  world.showClients([client("10.9.0.1:4000", oldVersion)]);
  world.changeSpec({ version: newVersion });
  world.prepare();
  assert.deepEqual([world.imageChanges, world.kills], [[], []]);
  world.showClients([]);
  world.prepare();
  assert.equal(world.kills.length > 0, true);
});

test("[U20] every sidecar gets the new image in place, and only the sidecar", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  const plan = world.pass();
  assert.equal(world.imageChanges.length, world.pods.size);
  assert.ok(world.sidecarImages().every((image) => image.endsWith(`:${newVersion}`)));
  for (const pod of world.pods.values()) {
    const main = pod.spec?.containers.find(({ name }) => name === "foundationdb");
    assert.ok(main?.image?.endsWith(`:${oldVersion}`));
  }
  const events = plan.events.filter(({ reason }) => reason === "SidecarUpgraded");
  assert.equal(events.length, 1);
  world.pass();
  assert.equal(world.imageChanges.length, world.pods.size, "nobody twice");
});

test("[U21] pods that are going are left alone", () => {
  const world = new UpgradeWorld();
  const [name = ""] = world.pods.keys();
  const pod = world.pods.get(name);
  assert.ok(pod);
  const metadata = { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  world.pods.set(name, { ...pod, metadata });
  world.changeSpec({ version: newVersion });
  world.pass();
  assert.equal(world.imageChanges.length, world.pods.size - 1);
  assert.ok(world.imageChanges.every((change) => !change.startsWith(`${name} `)));
});

test("[U86] another version of the new line is named when no pod runs with a copied binary any more", () => {
  const world = new UpgradeWorld({ automationOptions: { deletionMode: "None" } });
  world.changeSpec({ version: newVersion });
  world.prepare();
  for (const process of Object.values(world.processes)) process.version = newVersion;
  world.changeSpec({ version: "7.3.69" });
  for (let count = 0; count < 3; count += 1) world.pass();
  assert.equal(world.announced(), newVersion);
  const [first = ""] = world.pods.keys();
  const renew = (name: string): void => {
    const pod = world.pods.get(name);
    assert.ok(pod?.spec);
    const containers = pod.spec.containers.map((container) => ({
      ...container,
      image: container.image?.replace(/:[^:]*$/, ":7.3.69") ?? "",
    }));
    world.pods.set(name, { ...pod, spec: { ...pod.spec, containers } });
  };
  for (const name of world.pods.keys()) if (name !== first) renew(name);
  // Most run the later version by now.
  for (const process of Object.values(world.processes)) process.version = "7.3.69";
  world.pass();
  assert.equal(world.announced(), newVersion);
  renew(first);
  world.pass();
  assert.equal(world.announced(), "7.3.69");
});

test("[P60] a pod of another version of the same line is told again when it did not follow", () => {
  const automationOptions = { deletionMode: "None", podUpdateStrategy: "Delete" } as const;
  const world = new UpgradeWorld({ version: "7.3.27", automationOptions });
  world.changeSpec({ version: "7.3.63" });
  world.pass();
  world.pass();
  world.nowMs += 61_000;
  const told = world.plan().actions.filter(({ step }) => step === "updatePodConfig");
  assert.equal(told.length, world.pods.size);
});

test("[U24] a client that turns up after the announcement takes it back", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.pass();
  world.pass();
  assert.equal(world.announced(), newVersion);
  world.showClients([client("10.9.0.1:4000", oldVersion)]);
  world.pass();
  assert.equal(world.announced(), oldVersion);
});

test("[U27] a monitor that was told too early is told again after two seconds", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  for (let count = 0; count < 4; count += 1) world.pass();
  const tells = (plan: Plan): number =>
    plan.actions.filter(({ type, step }) => type === "patchPod" && step === "updatePodConfig")
      .length;
  world.nowMs += 1_000;
  assert.equal(tells(world.plan()), 0);
  world.nowMs += 1_000;
  assert.equal(tells(world.plan()), world.pods.size);
});

test("[U29] an upgrade that is taken back takes the sidecar images back", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.pass();
  world.changeSpec({ version: oldVersion });
  world.pass();
  assert.ok(world.sidecarImages().every((image) => image.endsWith(`:${oldVersion}`)));
  assert.equal(world.announced(), oldVersion);
});

test("[U37] with locks, an upgrade that is taken back withdraws its announcements", () => {
  for (const disableLocks of [true, false]) {
    const world = new UpgradeWorld({ lockOptions: { disableLocks } });
    world.changeSpec({ version: newVersion });
    world.pass();
    world.changeSpec({ version: oldVersion });
    const plan = world.plan();
    assert.equal(isTakenBack(plan), disableLocks);
    if (disableLocks) continue;
    assert.ok(plan.databaseQuestions.some((each) => each.type === "pendingUpgrades"));
    const known = (ids: readonly string[], sinceMs: number): Plan => {
      const pendingUpgrades = { version: undefined, ids, sinceMs, observedMs: world.nowMs };
      return world.plan({ knowledge: { verified: new Map(), pendingUpgrades } });
    };
    const all = (world.cluster.status?.processGroups ?? []).map((each) => each.processGroupID);
    assert.deepEqual(withdrawn(known(all, 0)), [4]);
    assert.equal(isTakenBack(known(all, 0)), false, "the others still count on them");
    const observedMs = world.snapshot().database.kind === "seen" ? world.nowMs : 0;
    const fresh = known(["other-1"], observedMs - 5_000);
    assert.deepEqual(withdrawn(fresh), []);
    assert.equal(isTakenBack(fresh), false, "a restart may have been decided before");
    assert.match(waitOf(fresh, "updateSidecarVersions"), /UpgradeStaging: .*7\.3\.63.*taken back/);
    assert.equal(isTakenBack(known(["other-1"], observedMs - 60_000)), true);
  }
});

test("[U87] an older version than the running one in the ConfigMap is corrected at once, with locks too", () => {
  for (const disableLocks of [true, false]) {
    const world = new UpgradeWorld({ version: newVersion, lockOptions: { disableLocks } });
    assert.equal(world.announced(), newVersion);
    const data = Object.entries(world.configMap?.data ?? {});
    const older = data.map(([key, text]) => [key, text.replaceAll(newVersion, oldVersion)]);
    assert.ok(world.configMap);
    world.configMap = { ...world.configMap, data: Object.fromEntries(older) };
    assert.equal(world.announced(), oldVersion);
    world.pass();
    assert.equal(world.announced(), newVersion);
  }
});

function withdrawn(plan: Plan): number[] {
  return plan.actions.flatMap((action) =>
    action.type === "withdrawPendingUpgrade" ? [action.processGroupIds.length] : [],
  );
}

function isTakenBack(plan: Plan): boolean {
  return plan.actions.some(({ type }) => type === "updatePodImage" || type === "updateConfigMap");
}

test("[U39] a version that is taken back while a restart may have happened takes nothing back", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.prepare();
  world.changeSpec({ version: oldVersion });
  assert.ok(isTakenBack(world.plan()), "nothing has happened");
  const runningCommand = "restart everything";
  const killed = {
    type: "killProcesses" as const,
    ...{ beganMs: world.nowMs, atMs: world.nowMs, zones: [], podUids: [] },
    ...{ processGroupIds: [], addresses: [], starts: new Map<string, number>() },
  };
  for (const uncertain of [{ runningCommand }, { ledger: [killed] }]) {
    const plan = world.plan(uncertain);
    assert.equal(isTakenBack(plan), false);
    assert.equal(plan.isReconciled, false);
    assert.match(waitOf(plan, "checkClientCompatibility"), /may have restarted with version 7\.3/);
    assert.deepEqual(plan.databaseQuestions, [
      { type: "reachableVersion", versions: [newVersion, oldVersion] },
    ]);
  }
  const kill = world.kills[0];
  assert.ok(kill);
  const evidenceMs = world.nowMs;
  assert.match(
    actRefusal(world.snapshot(), { ...kill, evidenceMs })?.message ?? "",
    /wants version 7\.1\.57 meanwhile/,
  );
  world.statusOverlay = { ...world.statusOverlay, processes: {}, clients: {} };
  assert.equal(isTakenBack(world.plan()), false, "nobody reports");
});

test("[U57] nobody is restarted for another reason in pods that are prepared", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.prepare();
  const kill = world.kills[0];
  assert.ok(kill);
  world.changeSpec({ version: oldVersion });
  const knob = (): string => {
    const restart = { ...kill, isUpgrade: false, evidenceMs: world.nowMs };
    return actRefusal(world.snapshot(), restart)?.message ?? "";
  };
  assert.equal(knob(), "pods are prepared for version 7.3.63");
  world.pass();
  assert.equal(knob(), "");
});

test("[U2][U39][U84] what runs is kept in order while the version of the resource is refused", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.prepare();
  world.changeSpec({ version: oldVersion });
  for (const process of Object.values(world.processes)) process.version = newVersion;
  const plan = world.plan();
  assert.equal(plan.status.runningVersion, newVersion);
  assert.equal(plan.isReconciled, false);
  assert.match(waitOf(plan, "checkClientCompatibility"), /VersionChangeRefused/);
  assert.equal(world.announced(), newVersion);
  assert.deepEqual(
    plan.actions.filter(({ type }) => type === "updatePodImage"),
    [],
  );
  const found = (plan.status.processGroups ?? []).flatMap((group) =>
    (group.processGroupConditions ?? []).map(({ type }) => type),
  );
  assert.ok(found.includes("IncorrectPodSpec"), "pods get the image of the version that runs");
  assert.ok(!found.includes("IncorrectCommandLine") && !found.includes("IncorrectSidecarImage"));
});

test("[U31] a database that is away for long is asked for the version that it runs", () => {
  const world = new UpgradeWorld();
  world.statusOverlay = { ...world.statusOverlay, processes: {} };
  const asked = (databaseSilent: number): unknown =>
    world.plan({ facts: { databaseSilent } }).databaseQuestions;
  assert.deepEqual(asked(world.nowMs - 14_000), []);
  assert.deepEqual(asked(world.nowMs - 15_000), [
    { type: "reachableVersion", versions: [oldVersion] },
  ]);
});

test("[U31] after a lost status the version that pods were made for is tried, too", () => {
  const world = new UpgradeWorld();
  world.isDatabaseReachable = false;
  const { connectionString = "" } = world.cluster.status ?? {};
  world.changeSpec({ version: newVersion });
  world.cluster = { ...world.cluster, status: { connectionString } };
  assert.ok(world.configMap?.data);
  world.configMap.data = { ...world.configMap.data, "running-version": newVersion };
  const asked = (databaseSilent: number): unknown => {
    const { databaseQuestions } = world.plan({ facts: { databaseSilent } });
    return databaseQuestions.filter(({ type }) => type === "reachableVersion");
  };
  assert.deepEqual(asked(world.nowMs - 59_000), []);
  assert.deepEqual(asked(world.nowMs - 60_000), [
    { type: "reachableVersion", versions: [newVersion, oldVersion] },
  ]);
});

test("[U29] a sidecar image whose name somebody else rewrote is left as it is", () => {
  const world = new UpgradeWorld();
  for (const [name, pod] of world.pods) {
    const containers = (pod.spec?.containers ?? []).map((container) => ({
      ...container,
      image: `mirror.example/${container.image}`,
    }));
    world.pods.set(name, { ...pod, spec: { ...pod.spec, containers } });
  }
  world.pass();
  assert.deepEqual(world.imageChanges, []);
});

test("[U31][U32][U33] the running version when nobody reports", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.prepare();
  world.statusOverlay = { ...world.statusOverlay, processes: {}, clients: {} };
  const silent = world.plan();
  assert.equal(silent.status.runningVersion, oldVersion);
  assert.deepEqual(silent.databaseQuestions, [
    { type: "reachableVersion", versions: [newVersion, oldVersion] },
  ]);
  const answered = (version: string, ageMs: number): string | undefined => {
    const reachableVersion = { version, observedMs: world.nowMs - ageMs };
    const knowledge = { verified: new Map(), reachableVersion };
    return world.plan({ knowledge }).status.runningVersion;
  };
  assert.equal(answered(newVersion, 1_000), newVersion);
  assert.equal(answered(newVersion, 121_000), oldVersion);
  assert.equal(answered(oldVersion, 1_000), oldVersion);
  assert.equal(answered("7.4.1", 1_000), "7.4.1");
  const { status: _, ...forgetful } = world.cluster;
  world.cluster = forgetful;
  assert.equal(world.plan().status.runningVersion, oldVersion);
  assert.equal(world.plan({ configMap: undefined }).status.runningVersion, oldVersion);
});

test("[U38] a jump that is overtaken by another wish is found again, since it may have happened", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.prepare();
  const changesBefore = world.imageChanges.length;
  world.statusOverlay = { ...world.statusOverlay, processes: {}, clients: {} };
  world.changeSpec({ version: "7.4.6" });
  const silent = world.pass();
  assert.deepEqual(silent.databaseQuestions, [
    { type: "reachableVersion", versions: [newVersion, "7.4.6", oldVersion] },
  ]);
  assert.equal(
    world.imageChanges.length,
    changesBefore,
    "nothing is prepared while nobody reports",
  );
  assert.equal(world.announced(), newVersion);
  const reachableVersion = { version: newVersion, observedMs: world.nowMs };
  const found = world.plan({ knowledge: { verified: new Map(), reachableVersion } });
  assert.equal(found.status.runningVersion, newVersion);
});

test("[U30] while processes report, nobody asks which version reaches them", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  const reachableVersion = { version: newVersion, observedMs: world.nowMs };
  const plan = world.plan({ knowledge: { verified: new Map(), reachableVersion } });
  assert.equal(plan.status.runningVersion, oldVersion);
  assert.deepEqual(
    plan.databaseQuestions.filter(({ type }) => type === "reachableVersion"),
    [],
  );
});

test("[U50][U51][U52][U53] B42 pods that the database does not understand are deleted, once it is not being upgraded", () => {
  const world = new PlanWorld({ processCounts: { storage: 3, log: 3, stateless: 1 } });
  assert.ok(world.settle().isReconciled);
  const [first, second] = world.cluster.status?.processGroups ?? [];
  const address = (group: typeof first): string => group?.addresses?.[0] ?? "";
  const seen = world.database();
  assert.ok(seen.kind === "seen");
  const processes = Object.fromEntries(
    Object.entries(seen.status.cluster?.processes ?? {}).filter(
      ([, process]) => process.locality?.["instance_id"] !== first?.processGroupID,
    ),
  );
  world.statusOverlay = {
    processes,
    incompatible_connections: [
      `${address(first)}:4501`,
      `${address(second)}:4501`,
      "10.77.0.1:4501",
    ],
  };
  const deleted = (plan: Plan): string[] =>
    plan.actions.flatMap((action) =>
      action.type === "deletePods" && action.because === "incompatible"
        ? action.pods.map(({ processGroupId }) => processGroupId)
        : [],
    );
  assert.deepEqual(deleted(world.plan()), [first?.processGroupID]);
  const { cluster, statusOverlay } = world;
  world.cluster = { ...cluster, status: { ...cluster.status, configured: false } };
  const deletedIn = (name: string): string[] => {
    world.statusOverlay = { ...statusOverlay, recovery_state: { name } };
    return deleted(world.plan());
  };
  assert.deepEqual(deletedIn("locking_coordinated_state"), [first?.processGroupID]);
  assert.deepEqual(deletedIn("configuration_never_created"), []);
  Object.assign(world, { cluster, statusOverlay });
  const action = world.plan().actions.find(({ type }) => type === "deletePods");
  assert.ok(action?.type === "deletePods");
  const restart = {
    type: "killProcesses" as const,
    beganMs: world.nowMs - 1,
    atMs: world.nowMs - 1,
    processGroupIds: [first?.processGroupID ?? ""],
    zones: [],
    addresses: [],
    starts: new Map<string, number>(),
    podUids: [],
  };
  const view = world.snapshot({ ledger: [restart] });
  assert.equal(actRefusal(view, action), undefined, "the restart waits for it");
  const options = { ...world.snapshot().options, restartsIncompatibleProcesses: false };
  assert.deepEqual(deleted(world.plan({ options })), []);
  world.changeSpec({ version: "7.4.1" });
  assert.deepEqual(deleted(world.plan()), []);
});
