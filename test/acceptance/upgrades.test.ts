// Checklist: the steps of an upgrade in which all processes change at once, its clients, and the lock's deny list.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { StatusProcess, SupportedVersion } from "../../src/model/database-status.ts";
import { parseVersion } from "../../src/model/version.ts";
import { incompatibleHosts } from "../../src/model/incompatible-hosts.ts";
import { defaultPlanOptions } from "../../src/plan/snapshot.ts";
import { unsupportedClients } from "../../src/plan/upgrade/unsupported-clients.ts";
import { upgradeTargets } from "../../src/plan/upgrade/upgrade-targets.ts";
import { configMap } from "../../src/build/config-map.ts";
import { normalCluster } from "../../src/build/normalise.ts";
import { item } from "./checklist-case.ts";
import { actionsOf, annotationKeys, reasonsOf, Scene } from "./scene.ts";

type Spec = Partial<ClusterSpec>;
const target = "7.4.5";
const locked: Spec = { lockOptions: { disableLocks: false }, minimumUptimeSecondsForBounce: 1 };
const unlocked: Spec = { lockOptions: { disableLocks: true }, minimumUptimeSecondsForBounce: 1 };

/** Everything is prepared for the restart: sidecars run the new image and pods know the new configuration. */
function staged(spec: Spec = locked): Scene {
  const scene = new Scene(spec).spec({ version: target });
  scene.database.clients = { count: 0, supported_versions: [] };
  const data =
    configMap(normalCluster({ ...scene.cluster, status: scene.draft().status })).data ?? {};
  const current = scene.snapshot().configMap;
  assert.ok(current);
  scene.rest = { ...scene.rest, configMap: { ...current, data } };
  for (const pod of scene.pods.values()) {
    const lists = [pod.spec?.containers ?? [], pod.status?.containerStatuses ?? []];
    for (const each of lists.flat()) {
      if (each.name !== "foundationdb")
        each.image = `foundationdb/fdb-kubernetes-monitor:${target}`;
    }
    const processClass = pod.metadata.labels?.["foundationdb.org/fdb-process-class"] ?? "";
    const text = data[`fdbmonitor-conf-${processClass}-json`] ?? "";
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      [annotationKeys.launcherConfiguration]: text,
    };
  }
  const draft = scene.draft();
  for (const group of draft.groups) {
    const pod = scene.pod(group.processGroupID);
    const hash = draft.desired.configHash(group, pod);
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      [annotationKeys.lastAppliedConfigMap]: hash,
    };
  }
  return scene;
}
const announced = (scene: Scene, ids: readonly string[], version = target): Scene => {
  const pendingUpgrades = { version, ids, sinceMs: 0, observedMs: scene.nowMs - 500 };
  scene.rest = { ...scene.rest, knowledge: { verified: new Map(), pendingUpgrades } };
  return scene;
};
const ids = (scene: Scene): string[] => scene.groups.map((group) => group.processGroupID).sort();
const restarted = (scene: Scene): string[] => {
  const [act] = actionsOf(scene.decide("bounceProcesses"), "killProcesses");
  return [...(act?.processGroupIds ?? [])];
};
const registered = (scene: Scene): string[] => {
  const [act] = actionsOf(scene.decide("bounceProcesses"), "registerPendingUpgrade");
  return [...(act?.processGroupIds ?? [])].sort();
};
const foreign = (scene: Scene, more: Partial<StatusProcess> = {}): Scene => {
  const processes = scene.database.processes ?? {};
  processes["foreign"] = {
    address: "10.50.0.1:4501",
    class_type: "storage",
    locality: { instance_id: "other-storage-1", zoneid: "far" },
    version: "7.3.79",
    uptime_seconds: 3_000,
    roles: [{ role: "storage" }],
    ...more,
  };
  return scene;
};

item("B12.3", () => {
  const scene = staged();
  assert.deepEqual(restarted(announced(scene, ids(scene))), ids(scene));
});
item("B12.4", () => {
  const scene = staged();
  for (const id of ids(scene)) for (const process of scene.processes(id)) process.version = target;
  assert.equal(scene.draft().status.runningVersion, target);
});
item("B12.5", () => {
  const scene = staged();
  assert.deepEqual(registered(announced(scene, [])), ids(scene));
});
const missing = (scene: Scene, ageSeconds: number): string => {
  const [id = ""] = scene.ids("storage");
  scene.loseProcesses(id);
  scene.condition(id, "MissingProcesses", ageSeconds);
  return id;
};
item("B12.6", () => {
  const scene = staged({ ...locked, storageServersPerPod: 2 });
  missing(scene, 5);
  const result = announced(scene, ids(scene)).decide("bounceProcesses");
  assert.deepEqual(actionsOf(result, "killProcesses"), []);
  assert.deepEqual(reasonsOf(result), ["UpgradeStaging"]);
});
item("B12.7", () => {
  const scene = staged({ ...locked, storageServersPerPod: 2 });
  const id = missing(scene, 600);
  const others = ids(scene).filter((each) => each !== id);
  assert.deepEqual(registered(announced(scene, [])), others);
  assert.deepEqual(restarted(announced(scene, others)), others);
});
item("B13.1", () => {
  const scene = foreign(staged());
  const result = announced(scene, ids(scene)).decide("bounceProcesses");
  assert.deepEqual(actionsOf(result, "killProcesses"), []);
  assert.deepEqual(reasonsOf(result), ["UpgradePending"]);
});
item("B13.2", () => {
  const scene = foreign(staged());
  assert.deepEqual(registered(announced(scene, [])), ids(scene));
});
item("B13.3", () => {
  const scene = foreign(staged());
  const all = [...ids(scene), "other-storage-1"].sort();
  assert.deepEqual(restarted(announced(scene, all)), all);
});
item("B13.4", () => {
  const scene = foreign(staged());
  const all = [...ids(scene), "other-storage-1"];
  assert.deepEqual(restarted(announced(scene, all, "7.4.1")), []);
});
item("B13.5", () => {
  const scene = foreign(staged(unlocked));
  assert.deepEqual(restarted(scene), ids(scene));
  assert.deepEqual(registered(scene), []);
});
item("B14.1", () => {
  const scene = staged(unlocked);
  missing(scene, 5);
  assert.deepEqual(restarted(scene), []);
});
item("B14.2", () => {
  const scene = staged(unlocked);
  const id = missing(scene, 600);
  assert.deepEqual(
    restarted(scene),
    ids(scene).filter((each) => each !== id),
  );
});

const foreigners = (more: Partial<StatusProcess>): string[] => {
  const scene = foreign(staged(), more);
  const snapshot = scene.snapshot();
  const found = upgradeTargets(snapshot, scene.draft(snapshot), scene.status).foreign;
  return found.map((process) => process.locality?.["instance_id"] ?? "");
};
item("B18.1", () => {
  const scene = foreign(staged(), { class_type: "test" });
  const result = announced(scene, ids(scene)).decide("bounceProcesses");
  assert.equal(actionsOf(result, "killProcesses").length, 1);
});
item("B18.2", () => assert.deepEqual(foreigners({ locality: {} }), []));
item("B18.3", () => assert.deepEqual(foreigners({ version: target }), []));
item("B18.4", () => {
  const scene = foreign(staged());
  const [wait] = announced(scene, ids(scene)).decide("bounceProcesses").waits ?? [];
  assert.ok(wait?.message.includes("other-storage-1"), wait?.message);
});
item("C16.3", () => {
  const scene = staged(unlocked);
  const [id = ""] = scene.ids("storage");
  const { metadata } = scene.pod(id);
  metadata.annotations = { ...metadata.annotations, [annotationKeys.lastAppliedSpec]: "other" };
  assert.ok(restarted(scene).includes(id));
});
item("B68.5", () => {
  const scene = new Scene().spec({ version: "7.3.80" });
  for (const id of ids(scene))
    for (const process of scene.processes(id)) process.version = "7.3.80";
  const [id = ""] = scene.ids("storage");
  assert.ok(scene.conditions(id).includes("IncorrectSidecarImage"));
});

const version = parseVersion(target);
assert.ok(version);
const clientsOf = (
  entries: SupportedVersion[],
  spec: Spec = {},
  agentHosts: ReadonlySet<string> = new Set(),
): string[] => {
  const scene = new Scene(spec);
  scene.database.clients = { supported_versions: entries };
  assert.ok(version);
  const found = unsupportedClients(scene.status, scene.cluster.spec, version, agentHosts) ?? [];
  return found.map((client) => client.address);
};
const entry = (client_version: string, ...clients: [string, string][]): SupportedVersion => ({
  client_version,
  protocol_version: "fdb00b0",
  max_protocol_clients: clients.map(([address, log_group]) => ({ address, log_group })),
});
const serverAddress = ((): string => {
  const scene = new Scene();
  return `${scene.pod(scene.ids("storage")[0] ?? "").status?.podIP}:33333`;
})();
item("B22.1", () => assert.deepEqual(clientsOf([entry("7.4.1", ["10.1.1.1:1", "app"])]), []));
item("B22.2", () => {
  assert.deepEqual(clientsOf([entry("7.3.63", ["10.1.1.1:1", "fdb-kubernetes-operator"])]), []);
});
item("B22.3", () => assert.deepEqual(clientsOf([entry("7.3.63", [serverAddress, "app"])]), []));
item("B22.4", () => {
  const list = entry(
    "7.3.63",
    ["10.1.1.1:1", "fdb-kubernetes-operator"],
    [serverAddress, "app"],
    ["10.1.1.2:1", "app"],
  );
  assert.deepEqual(clientsOf([list]), ["10.1.1.2:1"]);
});
item("B22.5", () => {
  const list = [
    entry("7.3.63"),
    entry(target, ["10.1.1.2:1", "app"]),
    entry("7.5.0", ["10.1.1.3:1", "app"]),
  ];
  assert.deepEqual(clientsOf(list), []);
});
item("A20.1", () => {
  const spec: Spec = { automationOptions: { ignoreLogGroupsForUpgrade: ["app"] } };
  assert.deepEqual(clientsOf([entry("7.3.63", ["10.1.1.2:1", "app"])], spec), []);
});
item("A20.2", () => {
  const spec: Spec = { automationOptions: { ignoreLogGroupsForUpgrade: [""] } };
  assert.deepEqual(clientsOf([entry("7.3.63", ["10.1.1.2:1", "app"])], spec), ["10.1.1.2:1"]);
});

/** A pod whose process tries to connect with another protocol. */
function incompatible(): { scene: Scene; id: string; host: string } {
  const scene = new Scene();
  const [id = ""] = scene.ids("storage");
  const host = scene.pod(id).status?.podIP ?? "";
  scene.loseProcesses(id);
  scene.database.incompatible_connections = [`${host}:4501`];
  return { scene, id, host };
}
const dropped = (scene: Scene): string[] => {
  const [act] = actionsOf(scene.decide("removeIncompatibleProcesses"), "deletePods");
  return [...(act?.pods ?? [])].map((order) => order.processGroupId);
};
item("B42.1", () => {
  const { scene, host } = incompatible();
  assert.deepEqual([...incompatibleHosts(scene.status, undefined)], [host]);
});
item("B42.2", () => {
  const scene = new Scene();
  const host = scene.pod(scene.ids("storage")[0] ?? "").status?.podIP ?? "";
  scene.database.incompatible_connections = [`${host}:4501`];
  assert.deepEqual([...incompatibleHosts(scene.status, undefined)], []);
});
item("B42.3", () => {
  const { scene, id } = incompatible();
  assert.deepEqual(dropped(scene), [id]);
});
item("B42.4", () => {
  const { scene } = incompatible();
  assert.deepEqual(dropped(scene.spec({ version: target })), []);
});
item("B42.5", () => {
  const { scene } = incompatible();
  scene.rest = { options: { ...defaultPlanOptions, restartsIncompatibleProcesses: false } };
  assert.deepEqual(dropped(scene), []);
});

const denied = (
  denyList: NonNullable<ClusterSpec["lockOptions"]>["denyList"],
  stored: string[],
) => {
  const scene = new Scene().spec({ lockOptions: { disableLocks: false, denyList } });
  const known = { ids: stored, observedMs: scene.nowMs - 500 };
  scene.rest = { knowledge: { verified: new Map(), denyList: known } };
  const [act] = actionsOf(scene.decide("updateLockConfiguration"), "updateDenyList");
  return act && [act.add, act.remove];
};
item("B61.1", () => assert.equal(denied([], ["dc2"]), undefined));
item("B61.2", () => assert.deepEqual(denied([{ id: "dc2" }], []), [["dc2"], []]));
item("B61.3", () => assert.deepEqual(denied([{ id: "dc2", allow: true }], ["dc2"]), [[], ["dc2"]]));
