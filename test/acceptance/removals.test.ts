// Checklist: removal of process groups, and inclusion at its end.
import { strict as assert } from "node:assert";
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import { automationOf } from "../../src/api/effective.ts";
import { validateDocument } from "../../src/api/validate-document.ts";
import { removalsNow } from "../../src/plan/removal/removal-pace.ts";
import type { RemovalRules } from "../../src/plan/removal/removal-pace.ts";
import { item } from "./checklist-case.ts";
import { byIp, excluded, isCoordinator, leaving } from "./leaving.ts";
import { actionsOf, reasonsOf, Scene } from "./scene.ts";

const nowMs = Date.UTC(2026, 0, 1);

const removed = (scene: Scene): string[] => {
  const [act] = actionsOf(scene.decide("removeProcessGroups"), "removeProcessGroups");
  return [...(act?.groups ?? [])].map((order) => order.processGroupId).sort();
};
/** One storage process group is marked, excluded and empty. */
function emptied(
  processClass = "storage",
  spec: Partial<ClusterSpec> = {},
): { scene: Scene; id: string } {
  const scene = new Scene({ processCounts: { storage: 6, log: 6, stateless: 3 }, ...spec });
  const id = scene.ids(processClass).find((each) => !isCoordinator(scene, each)) ?? "";
  scene.mark(id);
  scene.exclude(id);
  return { scene, id };
}
const degrade = (scene: Scene, copies: number): void => {
  scene.database.data = {
    state: { name: "healing", healthy: false, min_replicas_remaining: copies },
    team_trackers: [{ primary: true, state: { healthy: false, min_replicas_remaining: copies } }],
  };
};
const degradeLogs = (scene: Scene): void => {
  scene.database.logs = [{ current: true, log_replication_factor: 2, log_fault_tolerance: 0 }];
};
item("B43.1", () => {
  const { scene, id } = emptied();
  for (const process of scene.processes(id)) process.roles = [{ role: "coordinator" }];
  assert.deepEqual(removed(scene), []);
  assert.deepEqual(reasonsOf(scene.decide("removeProcessGroups")), ["RemovalPending"]);
});
item("B43.2", () => {
  const { scene, id } = emptied();
  const { metadata } = scene.pod(id);
  metadata.annotations = {
    ...metadata.annotations,
    "foundationdb.org/isolate-process-group": "true",
  };
  assert.deepEqual(removed(scene), []);
  assert.deepEqual(reasonsOf(scene.decide("removeProcessGroups")), ["RemovalBlocked"]);
});
item("B43.3", () => {
  const { scene, id } = emptied();
  scene.pods.delete(scene.podName(id));
  scene.loseProcesses(id);
  const targets = [`locality_instance_id:${id}`];
  const verified = new Map([[id, { targets, completedMs: scene.nowMs - 1_000 }]]);
  scene.rest = { knowledge: { verified } };
  assert.deepEqual(removed(scene), [id]);
});
item("B43.4", () => {
  const { scene, id } = emptied();
  assert.deepEqual(removed(scene), [id]);
});
item("B43.5", () => {
  const { scene } = emptied();
  degrade(scene, 1);
  assert.deepEqual(removed(scene), []);
});
item("B43.6", () => {
  const { scene } = emptied("log");
  degradeLogs(scene);
  assert.deepEqual(removed(scene), []);
});
item("B43.7", () => {
  const { scene } = emptied();
  scene.unavailable();
  assert.deepEqual(removed(scene), []);
});
item("B43.8", () => {
  const { scene } = emptied("log");
  scene.unavailable();
  assert.deepEqual(removed(scene), []);
});
item("B43.9", () => {
  const { scene } = leaving(1);
  scene.unavailable();
  assert.deepEqual(excluded(scene), []);
  const { scene: other } = emptied();
  other.unavailable();
  assert.deepEqual(other.decide("removeProcessGroups").questions ?? [], []);
});
item("B43.10", () => {
  const { scene, id } = emptied();
  scene.database.configuration = {
    ...scene.database.configuration,
    redundancy_mode: "three_data_hall",
  };
  degrade(scene, 3);
  assert.deepEqual(removed(scene), [id]);
});

/** Two empty groups in two zones, and perhaps a third whose objects were deleted so long ago. */
function pair(mode: "Zone" | "All", third?: { isFinished: boolean; ageSeconds: number }) {
  const automationOptions = { removalMode: mode, waitBetweenRemovalsSeconds: 60 };
  const scene = new Scene({
    processCounts: { storage: 7, log: 6, stateless: 3 },
    automationOptions,
  });
  const ids = scene
    .ids("storage")
    .filter((id) => !isCoordinator(scene, id))
    .slice(0, 2);
  for (const id of ids) {
    scene.mark(id);
    scene.exclude(id);
  }
  if (third !== undefined) {
    const last = scene.ids("storage").filter((id) => !isCoordinator(scene, id))[2] ?? "";
    scene.mark(last, 3_000);
    scene.exclude(last, { isKnown: true });
    scene.condition(last, "ResourcesTerminating", third.ageSeconds);
    const { metadata } = scene.pod(last);
    const claim = scene.pvcs.get(`${scene.podName(last)}-data`);
    const at = new Date(scene.nowMs - third.ageSeconds * 1000).toISOString();
    if (third.isFinished) {
      scene.pvcs.delete(`${scene.podName(last)}-data`);
      scene.pods.delete(scene.podName(last));
      scene.loseProcesses(last);
    } else {
      metadata.deletionTimestamp = at;
      if (claim) claim.metadata.deletionTimestamp = at;
    }
  }
  return { scene, ids };
}
const finished = { isFinished: true, ageSeconds: 400 };
const unfinished = { isFinished: false, ageSeconds: 400 };
const recent = { isFinished: false, ageSeconds: 20 };
item("B44.1", () => assert.equal(removed(pair("Zone").scene).length, 1));
item("B44.2", () => assert.equal(removed(pair("Zone", finished).scene).length, 1));
item("B44.3", () => assert.equal(removed(pair("Zone", unfinished).scene).length, 1));
item("B44.4", () => assert.deepEqual(removed(pair("Zone", recent).scene), []));
for (const [id, third] of [
  ["B44.5", undefined],
  ["B44.6", finished],
  ["B44.7", unfinished],
  ["B44.8", recent],
] as const) {
  item(id, () => {
    const { scene, ids } = pair("All", third);
    assert.deepEqual(removed(scene), ids);
  });
}

/** A group without any object left, whose exclusion is to be taken back. */
function gone(by: string[], spec: Partial<ClusterSpec> = {}, processClass = "storage") {
  const scene = new Scene({
    processCounts: { storage: 5, log: 4, stateless: 3, test: 1 },
    ...spec,
  });
  const id = scene.ids(processClass).find((each) => !isCoordinator(scene, each)) ?? "";
  const host = scene.pod(id).status?.podIP ?? "";
  scene.mark(id);
  scene.exclude(id, {
    isKnown: true,
    by: by.map((each) => each.replace("IP", host).replace("ID", id)),
  });
  scene.pvcs.delete(`${scene.podName(id)}-data`);
  scene.pods.delete(scene.podName(id));
  scene.loseProcesses(id);
  return { scene, id, host };
}
const included = (scene: Scene): string[] => {
  const [act] = actionsOf(scene.decide("removeProcessGroups"), "includeProcesses");
  return [...(act?.targets ?? [])].sort();
};
const locality = "locality_instance_id:ID";
item("B45.1", () => assert.deepEqual(included(new Scene(byIp)), []));
item("B45.2", () => {
  const { scene, host } = gone(["IP"], byIp);
  assert.deepEqual(included(scene), [host]);
});
item("B45.4", () => assert.deepEqual(included(new Scene()), []));
item("B45.5", () => {
  const { scene, id } = gone([locality]);
  assert.deepEqual(included(scene), [`locality_instance_id:${id}`]);
});
item("B45.6", () => {
  const { scene, id, host } = gone(["IP", locality]);
  assert.deepEqual(included(scene), [host, `locality_instance_id:${id}`].sort());
});
item("B45.7", () => {
  const { scene, id } = gone([]);
  assert.deepEqual(included(scene), []);
  const left = scene.decide("removeProcessGroups").groups?.map((group) => group.processGroupID);
  assert.ok(!left?.includes(id));
});
item("B45.8", () => {
  const { scene, id } = gone([locality], {}, "test");
  assert.deepEqual(included(scene), []);
  const left = scene.decide("removeProcessGroups").groups?.map((group) => group.processGroupID);
  assert.ok(!left?.includes(id));
});
item("B45.9", () => {
  const { scene, id } = gone([locality]);
  const [tester = ""] = scene.ids("test");
  scene.mark(tester);
  scene.group(tester).exclusionSkipped = true;
  scene.pods.delete(scene.podName(tester));
  scene.loseProcesses(tester);
  assert.deepEqual(included(scene), [`locality_instance_id:${id}`]);
});

item("C01.1", () => {
  const { scene, id } = emptied();
  scene.spec({ buggify: { blockRemoval: [id] } });
  assert.deepEqual(removed(scene), []);
  assert.deepEqual(reasonsOf(scene.decide("removeProcessGroups")), ["RemovalBlocked"]);
});

const inZones = (...zones: string[]): ProcessGroupStatus[] =>
  zones.map((faultDomain, index) => ({
    processGroupID: `storage-${index + 1}`,
    processClass: "storage",
    faultDomain,
  }));
const rules = (mode: RemovalRules["mode"], pauseSeconds = 60): RemovalRules => ({
  mode,
  pauseSeconds,
  nowMs,
});
const chosen = (ready: ProcessGroupStatus[], mode: RemovalRules["mode"], all = ready): string[] => {
  const choice = removalsNow(ready, all, rules(mode));
  return choice.kind === "now" ? choice.chosen.map((group) => group.processGroupID) : [choice.kind];
};
item("C14.1", () =>
  assert.deepEqual(chosen(inZones("b", "a", "b"), "Zone"), ["storage-1", "storage-3"]),
);
item("C14.2", () => assert.deepEqual(chosen(inZones("a", "b"), "Zone"), ["storage-1"]));
item("C14.3", () => assert.deepEqual(chosen(inZones("a", "a"), "ProcessGroup"), ["storage-1"]));
item("C14.4", () => assert.deepEqual(chosen(inZones("a", "b"), "All"), ["storage-1", "storage-2"]));
item("C14.5", () => assert.deepEqual(chosen(inZones("a", "b"), "None"), ["never"]));
item("C14.6", () => assert.deepEqual(chosen([], "Zone", inZones("a")), []));
item("C14.7", () => {
  const spec = { version: "7.3.63", automationOptions: { removalMode: "Sometimes" } };
  const findings = validateDocument({
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample" },
    spec,
  });
  assert.ok(findings.some((finding) => JSON.stringify(finding).includes("removalMode")));
});
const deletedAgo = (seconds: number): ProcessGroupStatus[] => [
  {
    ...inZones("z")[0],
    processGroupID: "storage-9",
    processClass: "storage",
    processGroupConditions: [{ type: "ResourcesTerminating", timestamp: nowMs / 1000 - seconds }],
  },
];
item("C14.8", () => assert.equal(removalsNow(inZones("a"), [], rules("Zone")).kind, "now"));
item("C14.9", () => {
  const choice = removalsNow(inZones("a"), deletedAgo(20), rules("Zone"));
  assert.deepEqual(choice, { kind: "later", remainingMs: 40_000 });
});
item("C14.10", () => {
  assert.equal(removalsNow(inZones("a"), deletedAgo(90), rules("Zone")).kind, "now");
});

/** An absent process: what the database is asked to confirm. */
const asked = (
  processClass: string,
  spec: Partial<ClusterSpec>,
  by: (host: string, id: string) => string[],
) => {
  const scene = new Scene({ processCounts: { storage: 6, log: 6, stateless: 3 }, ...spec });
  const id = scene.ids(processClass).find((each) => !isCoordinator(scene, each)) ?? "";
  const host = scene.pod(id).status?.podIP ?? "";
  scene.mark(id);
  scene.exclude(id, { by: by(host, id) });
  scene.loseProcesses(id);
  const [question] = scene.decide("removeProcessGroups").questions ?? [];
  assert.ok(question?.type === "verifyExclusion");
  assert.equal(question.processGroupId, id);
  return { targets: [...question.targets], host, id };
};
for (const [name, processClass] of [
  ["C14.11", "storage"],
  ["C14.12", "log"],
] as const) {
  item(name, () => {
    const { targets, host } = asked(processClass, byIp, (each) => [each]);
    assert.deepEqual(targets, [host]);
  });
}
for (const [name, processClass] of [
  ["C14.13", "storage"],
  ["C14.14", "log"],
] as const) {
  item(name, () => {
    const { targets, id } = asked(processClass, {}, (_, each) => [`locality_instance_id:${each}`]);
    assert.deepEqual(targets, [`locality_instance_id:${id}`]);
  });
}
item("C14.15", () => {
  const { scene, id } = emptied();
  scene.group(id).exclusionTimestamp = "2026-01-01T00:00:00Z";
  assert.deepEqual(removed(scene), [id]);
});
item("C14.16", () => {
  const { scene, id } = emptied("storage", byIp);
  const host = scene.pod(id).status?.podIP ?? "";
  scene.group(id).addresses = ["10.7.7.7", host];
  scene.database.configuration = {
    ...scene.database.configuration,
    excluded_servers: [{ address: "10.7.7.7" }, { address: host }],
  };
  scene.loseProcesses(id);
  const [question] = scene.decide("removeProcessGroups").questions ?? [];
  assert.ok(question?.type === "verifyExclusion");
  assert.deepEqual([...question.targets].sort(), ["10.7.7.7", host].sort());
});
item("C14.17", () => {
  const { scene, id } = emptied();
  scene.group(id).exclusionTimestamp = "2026-01-01T00:00:00Z";
  scene.loseProcesses(id);
  assert.deepEqual(removed(scene), []);
  assert.equal(scene.decide("removeProcessGroups").questions?.[0]?.type, "verifyExclusion");
});
item("C14.18", () => {
  const { scene, id } = emptied();
  assert.deepEqual(removed(scene), [id]);
  assert.deepEqual(scene.decide("removeProcessGroups").questions, []);
});
item("E05.23", () => {
  const spec = { version: "7.3.63" };
  assert.equal(automationOf(spec).removalMode, "Zone");
  assert.equal(
    automationOf({ ...spec, automationOptions: { removalMode: "All" } }).removalMode,
    "All",
  );
});
