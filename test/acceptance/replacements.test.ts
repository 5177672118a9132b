// Checklist: process groups that are replaced because they failed, sit on tainted nodes, or cannot be made right in place.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { automationOf } from "../../src/api/effective.ts";
import type { Container, Pod, PodSpec } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { ConditionType } from "../../src/model/process-group.ts";
import {
  misconfigurationOf,
  securityContextChange,
} from "../../src/plan/replacement/misconfiguration.ts";
import { ReplacementBudget } from "../../src/plan/replacement/replacement-budget.ts";
import { defaultPlanOptions } from "../../src/plan/snapshot.ts";
import { item, table } from "./checklist-case.ts";
import { annotationKeys, markedBy, reasonsOf, Scene } from "./scene.ts";
import type { Group } from "./scene.ts";

type Spec = Partial<ClusterSpec>;
const longSeconds = 10_000;
const step = "replaceFailedProcessGroups";

const failing = (scene: Scene, ...ids: string[]): Scene => {
  for (const id of ids) scene.condition(id, "MissingProcesses", longSeconds);
  return scene;
};
const replaced = (scene: Scene): string[] => markedBy(scene.decideAsIs(step), scene.groups);
const replacements = (options: object): Spec => ({ automationOptions: { replacements: options } });
const storage = (scene: Scene): [string, string, string] => {
  const [a = "", b = "", c = ""] = scene.ids("storage");
  return [a, b, c];
};

const tainted = (
  scene: Scene,
  ids: readonly string[],
  type: ConditionType = "NodeTaintReplacing",
) => {
  for (const id of ids) scene.condition(id, type, longSeconds);
  return scene;
};
const taints = (more: object = {}): Spec =>
  replacements({
    taintReplacementOptions: [{ key: "*", durationInSeconds: 10 }],
    maxConcurrentReplacements: 5,
    ...more,
  });
item("B50.1", () => {
  const scene = new Scene().spec(taints());
  tainted(scene, [storage(scene)[0]], "NodeTaintDetected");
  assert.deepEqual(replaced(scene), []);
});
item("B50.2", () => {
  const scene = new Scene().spec(taints());
  tainted(scene, [storage(scene)[0]]);
  assert.deepEqual(replaced(scene), [storage(scene)[0]]);
});
item("B50.3", () => {
  const scene = new Scene();
  tainted(scene, [storage(scene)[0]]);
  assert.deepEqual(replaced(scene), []);
});
item("B50.4", () => {
  const scene = new Scene().spec(taints({ maxFaultDomainsWithTaintedProcessGroups: 1 }));
  tainted(scene, storage(scene));
  assert.deepEqual(replaced(scene), []);
});
item("B50.5", () => {
  const scene = new Scene().spec(taints({ maxFaultDomainsWithTaintedProcessGroups: 3 }));
  tainted(scene, storage(scene));
  assert.deepEqual(replaced(scene), storage(scene));
});

item("B51.1", () => assert.deepEqual(replaced(new Scene()), []));
item("B51.2", () => {
  const scene = new Scene();
  const [id] = storage(scene);
  const result = failing(scene, id).decideAsIs(step);
  assert.deepEqual(markedBy(result), [id]);
  const group = result.groups?.find((each) => each.processGroupID === id);
  assert.notEqual(group?.exclusionSkipped, true);
});
table(
  {
    "B51.3": [{ emptyMonitorConf: true }],
    "B51.4": [{ crashLoop: ["*"] }],
    "B51.5": [{ crashLoop: ["ID"] }],
    "B51.6": [{ crashLoopContainers: [{ containerName: "foundationdb", targets: ["ID"] }] }],
    "B51.7": [
      {
        crashLoopContainers: [
          { containerName: "foundationdb-kubernetes-sidecar", targets: ["ID"] },
        ],
      },
    ],
  },
  (buggify: object) => {
    const scene = new Scene();
    const [id] = storage(scene);
    scene.spec(JSON.parse(JSON.stringify({ buggify }).replaceAll("ID", id)) as Spec);
    assert.deepEqual(replaced(failing(scene, id)), []);
  },
);
item("B51.8", () => {
  const scene = new Scene();
  const [a, b] = storage(scene);
  const result = failing(scene, a, b).decideAsIs(step);
  assert.deepEqual(markedBy(result), [a]);
  assert.deepEqual(reasonsOf(result), ["ReplacementLimited"]);
});
const byDomain = replacements({ faultDomainBasedReplacements: true });
const inZone = (scene: Scene, zone: string, ...ids: string[]): Scene => {
  for (const id of ids) scene.group(id).faultDomain = zone;
  return scene;
};
item("B51.9", () => {
  const scene = new Scene().spec(byDomain);
  const [a, b] = storage(scene);
  assert.deepEqual(replaced(failing(inZone(scene, "z", a, b), a, b)), [a, b]);
});
item("B51.10", () => {
  const scene = new Scene().spec(byDomain);
  const [a, b] = storage(scene);
  assert.deepEqual(replaced(failing(scene, a, b)), [a]);
});
item("B51.11", () => {
  const scene = new Scene();
  const [a, b] = storage(scene);
  scene.mark(b);
  assert.deepEqual(replaced(failing(scene, a)), []);
});
item("B51.12", () => {
  const scene = new Scene().spec(byDomain);
  const [a, b] = storage(scene);
  scene.mark(b);
  assert.deepEqual(replaced(failing(inZone(scene, "z", a, b), a)), [a]);
});
item("B51.13", () => {
  const scene = new Scene().spec(replacements({ maxConcurrentReplacements: 2 }));
  const [a, b, c] = storage(scene);
  assert.deepEqual(replaced(failing(scene, a, b, c)), [a, b]);
});
item("B51.14", () => {
  const scene = new Scene().spec(replacements({ maxConcurrentReplacements: 0 }));
  assert.deepEqual(replaced(failing(scene, storage(scene)[0])), []);
});
item("B51.15", () => {
  const scene = new Scene();
  const [a, b] = storage(scene);
  scene.mark(b);
  scene.group(b).exclusionTimestamp = "2026-01-01T00:00:00Z";
  assert.deepEqual(replaced(failing(scene, a)), [a]);
});

/** The group never had an address. */
function addressless(spec: Spec, change: (scene: Scene) => void = () => {}): Group | undefined {
  const scene = new Scene().spec(spec);
  const [id] = storage(scene);
  scene.group(id).addresses = [];
  change(scene);
  const groups = failing(scene, id).decideAsIs(step).groups ?? [];
  return groups.find((each) => each.processGroupID === id) as Group | undefined;
}
const byIp: Spec = { automationOptions: { useLocalitiesForExclusion: false } };
item("B51.16", () => {
  const group = addressless(byIp);
  assert.ok(group?.removalTimestamp !== undefined && group.exclusionSkipped === true);
});
item("B51.17", () => {
  const group = addressless(byIp, (scene) => {
    const state = { healthy: false, min_replicas_remaining: 1 };
    scene.database.data = { state, team_trackers: [{ primary: true, state }] };
  });
  assert.equal(group?.removalTimestamp, undefined);
});
item("B51.18", () => {
  const group = addressless(byIp, (scene) => scene.unavailable());
  assert.equal(group?.removalTimestamp, undefined);
});
item("B51.19", () => {
  const group = addressless({});
  assert.ok(group?.removalTimestamp !== undefined && group.exclusionSkipped !== true);
});
item("B51.20", () => {
  const scene = new Scene();
  const [id] = storage(scene);
  scene.database.maintenance_zone = scene.group(id).faultDomain ?? "";
  assert.deepEqual(replaced(failing(scene, id)), []);
});
item("B51.21", () => {
  const scene = new Scene();
  scene.condition(storage(scene)[0], "MissingProcesses", 30);
  assert.deepEqual(replaced(scene), []);
});
item("B51.22", () => {
  const scene = new Scene();
  scene.condition(storage(scene)[0], "IncorrectPodSpec", longSeconds);
  assert.deepEqual(replaced(scene), []);
});
table(
  {
    "B51.23": ["ProcessIsMarkedAsExcluded"],
    "B51.25": ["ProcessHasHighRunLoopBusy"],
    "B51.26": ["SidecarUnreachable"],
  } satisfies Record<string, [ConditionType]>,
  (type: ConditionType) => {
    const scene = new Scene();
    const [id] = storage(scene);
    scene.condition(id, type, longSeconds);
    assert.deepEqual(replaced(scene), [id]);
  },
);
item("B51.24", () => {
  const scene = new Scene();
  const [id] = storage(scene);
  scene.mark(id);
  scene.condition(id, "ProcessIsMarkedAsExcluded", longSeconds);
  assert.deepEqual(replaced(scene), []);
});
item("B52.1", () => {
  const scene = new Scene().spec({ version: "7.4.5", processGroupIDPrefix: "new" });
  const result = scene.decide("replaceMisconfiguredProcessGroups");
  assert.deepEqual(markedBy(result), []);
  assert.deepEqual(reasonsOf(result), ["ReplacementPostponed"]);
});

/** Limit, whether by fault domain, zones in flight, zone of the candidate, whether there is room. */
table(
  {
    "C15.1": [1, false, [], "a", true],
    "C15.2": [1, false, ["b"], "a", false],
    "C15.3": [undefined, false, ["b"], "a", false],
    "C15.4": [1, true, [], "a", true],
    "C15.5": [1, true, ["a"], "a", true],
    "C15.6": [1, true, ["b"], "a", false],
  } satisfies Record<string, [number | undefined, boolean, string[], string, boolean]>,
  (
    limit: number | undefined,
    isByDomain: boolean,
    inFlight: string[],
    zone: string,
    fits: boolean,
  ) => {
    const options = {
      faultDomainBasedReplacements: isByDomain,
      ...(limit === undefined ? {} : { maxConcurrentReplacements: limit }),
    };
    const { replacements: found } = automationOf({ version: "7.3.63", ...replacements(options) });
    const groups = inFlight.map((faultDomain, index) => ({
      processGroupID: `storage-${index}`,
      processClass: "storage",
      faultDomain,
      removalTimestamp: "2026-01-01T00:00:00Z",
    }));
    const candidate = { processGroupID: "storage-9", processClass: "storage", faultDomain: zone };
    assert.equal(new ReplacementBudget(found, groups).take(candidate) === undefined, fits);
  },
);
const share = (spec: Spec, count: number, zone?: string): string[] => {
  const scene = new Scene().spec(spec);
  const ids = storage(scene).slice(0, count);
  if (zone !== undefined) inZone(scene, zone, ...ids);
  return replaced(tainted(scene, ids));
};
item("C15.7", () => assert.deepEqual(share({}, 1), []));
item("C15.8", () => assert.deepEqual(share(taints(), 0), []));
item("C15.9", () => assert.equal(share(taints(), 1).length, 1));
item("C15.10", () => assert.deepEqual(share(taints(), 2), []));
item("C15.11", () => assert.equal(share(taints(), 2, "z").length, 2));

/** What is wrong with the first group of a class after a change of the spec, or of its pod. */
function misconfigured(
  spec: Spec,
  options: {
    from?: Spec;
    processClass?: string;
    pod?: (pod: Stored<Pod>) => void;
    scene?: (scene: Scene, id: string) => void;
    flag?: boolean;
  } = {},
): string {
  const scene = new Scene(options.from);
  const [id = ""] = scene.ids(options.processClass ?? "storage");
  options.pod?.(scene.pod(id));
  scene.spec(spec);
  options.scene?.(scene, id);
  if (options.flag === true) {
    scene.rest = { options: { ...defaultPlanOptions, replacesOnSecurityContextChange: true } };
  }
  const snapshot = scene.snapshot();
  const { desired } = scene.draft(snapshot);
  return misconfigurationOf(snapshot, desired, scene.group(id)) ?? "";
}
const template = (spec: Partial<PodSpec>): Spec => ({
  processes: { general: { podTemplate: { spec: { containers: [], ...spec } } } },
});
const strategy = (podUpdateStrategy: "Replace" | "ReplaceTransactionSystem" | "Delete"): Spec => ({
  automationOptions: { podUpdateStrategy },
});
const labelled: Spec = template({ priorityClassName: "high" });
const node = template({ nodeSelector: { disk: "fast" } });
const user = template({ securityContext: { runAsUser: 7 } });
const sized = (size: string): Spec => ({
  processes: {
    general: { volumeClaimTemplate: { spec: { resources: { requests: { storage: size } } } } },
  } as unknown as NonNullable<ClusterSpec["processes"]>,
});
const cpu = (text: string, replaceInstancesWhenResourcesChange: boolean): Spec => ({
  ...template({ containers: [{ name: "foundationdb", resources: { requests: { cpu: text } } }] }),
  replaceInstancesWhenResourcesChange,
});
const served: Spec = { routing: { publicIPSource: "service" } };
const splitImage: Spec = { imageType: "split" };
/** A pod that still carries the hash that is wanted now. */
const sameHash = (scene: Scene, id: string): void => {
  const wanted = scene.draft().desired.pod(scene.group(id))?.specHash ?? "";
  const { metadata } = scene.pod(id);
  metadata.annotations = { ...metadata.annotations, [annotationKeys.lastAppliedSpec]: wanted };
};
/** A pod of the split image, whose sidecar was told to use IPv6. */
const asSplitPod = (pod: Stored<Pod>): void => {
  const annotations: Record<string, string> = {
    ...pod.metadata.annotations,
    [annotationKeys.imageType]: "split",
  };
  delete annotations[annotationKeys.ipFamily];
  pod.metadata.annotations = annotations;
  const sidecar = pod.spec?.containers.find(
    (each) => each.name === "foundationdb-kubernetes-sidecar",
  );
  if (sidecar) sidecar.args = ["--public-ip-family", "6"];
};

table(
  {
    "C15.12": [
      { processGroupIDPrefix: "p" },
      "",
      { scene: (scene, id) => void scene.pods.delete(scene.podName(id)) },
    ],
    "C15.13": [{ processGroupIDPrefix: "p" }, "", { scene: (scene, id) => scene.mark(id) }],
    "C15.14": [{ processGroupIDPrefix: "p" }, "its id has another prefix", {}],
    "C15.15": [served, "its public address comes from its pod", {}],
    "C15.16": [{ routing: {} }, "its public address comes from its service", { from: served }],
    "C15.17": [{ routing: { publicIPSource: "pod" } }, "", {}],
    "C15.18": [{ storageServersPerPod: 2 }, "its pod runs 1 server", {}],
    "C15.19": [node, "its pod has another node selector", {}],
    "C15.20": [node, "", { scene: sameHash }],
    "C15.21": [splitImage, "its pod has the unified image", {}],
    "C15.22": [{ ...splitImage, ...strategy("Delete") }, "", { from: { storageServersPerPod: 2 } }],
    "C15.23": [
      { ...labelled, ...strategy("Replace") },
      "its pod was made from another specification",
      {},
    ],
    "C15.24": [labelled, "its pod was made from another specification", { processClass: "log" }],
    "C15.25": [{ ...labelled, ...strategy("Delete") }, "", { processClass: "log" }],
    "C15.26": [
      {},
      "its volume has another name",
      {
        scene: (scene, id) => {
          const name = `${scene.podName(id)}-data`;
          const claim = scene.pvcs.get(name);
          if (claim === undefined) return;
          scene.pvcs.delete(name);
          scene.pvcs.set("other", { ...claim, metadata: { ...claim.metadata, name: "other" } });
          const data = scene.pod(id).spec?.volumes?.find((volume) => volume.name === "data");
          if (data !== undefined) data.persistentVolumeClaim = { claimName: "other" };
        },
      },
    ],
    "C15.27": [sized("256G"), "its volume was made from another specification", {}],
    "C15.28": [cpu("5", true), "its pod asks for less cpu", {}],
    "C15.29": [cpu("5", false), "", {}],
    "C15.30": [cpu("500m", true), "", {}],
    "C15.31": [
      {
        ...template({ containers: [{ name: "extra", resources: { requests: { cpu: "1" } } }] }),
        replaceInstancesWhenResourcesChange: true,
      },
      "its pod asks for less cpu",
      {},
    ],
    "C15.32": [user, "the user of container foundationdb changes", { flag: true }],
    "C15.33": [user, "", {}],
    "C15.34": [user, "", { flag: true, scene: sameHash }],
    "C15.35": [
      { ...splitImage, routing: { podIPFamily: 4 } },
      "its pod has another IP family",
      { pod: asSplitPod },
    ],
    "C15.36": [{ routing: { podIPFamily: 4 } }, "its pod has another IP family", {}],
    "C15.37": [{ routing: { podIPFamily: 0 } }, "", {}],
    "C15.38": [{ logServersPerPod: 2 }, "its pod runs 1 server", { processClass: "log" }],
  } satisfies Record<string, [Spec, string, NonNullable<Parameters<typeof misconfigured>[1]>]>,
  (spec: Spec, expected: string, options: NonNullable<Parameters<typeof misconfigured>[1]>) => {
    assert.equal(misconfigured(spec, options), expected);
  },
);

const concurrency = (maxConcurrentReplacements?: number): number => {
  const automationOptions =
    maxConcurrentReplacements === undefined ? {} : { maxConcurrentReplacements };
  const scene = new Scene().spec({ processGroupIDPrefix: "p", automationOptions });
  return markedBy(scene.decide("replaceMisconfiguredProcessGroups")).length;
};
item("C15.39", () => assert.equal(concurrency(0), 0));
item("C15.40", () => assert.equal(concurrency(2), 2));
item("C15.41", () => assert.equal(concurrency(), 11));

const containers = (...list: Partial<Container>[]): PodSpec => ({
  containers: list.map((each) => ({ name: "foundationdb", ...each })),
});
const plain = containers({});
const podContext = (securityContext: PodSpec["securityContext"]): PodSpec => ({
  ...plain,
  securityContext,
});
const mainContext = (securityContext: Container["securityContext"]): PodSpec =>
  containers({ securityContext });
const sidecarUser = (runAsUser: number): PodSpec =>
  containers({}, { name: "foundationdb-kubernetes-sidecar", securityContext: { runAsUser } });
const otherUser = (runAsUser: number): PodSpec =>
  containers({}, { name: "helper", securityContext: { runAsUser } });

/** Before, after, whether the process group must be replaced. */
table(
  {
    "C15.42": [plain, plain, false],
    "C15.43": [plain, podContext({}), false],
    "C15.44": [plain, podContext({ fsGroup: 1 }), true],
    "C15.45": [podContext({ fsGroup: 1 }), podContext({ fsGroup: 2 }), true],
    "C15.46": [podContext({ fsGroup: 1 }), podContext({ fsGroup: 1 }), false],
    "C15.47": [podContext({ fsGroup: 1 }), plain, true],
    "C15.48": [plain, podContext({ fsGroupChangePolicy: "Always" }), true],
    "C15.49": [plain, podContext({ runAsUser: 1 }), true],
    "C15.50": [podContext({ runAsUser: 1 }), podContext({ runAsUser: 2 }), true],
    "C15.51": [podContext({ runAsUser: 1 }), podContext({ runAsUser: 1 }), false],
    "C15.52": [podContext({ runAsUser: 1 }), plain, true],
    "C15.53": [plain, podContext({ runAsGroup: 1 }), true],
    "C15.54": [podContext({ runAsGroup: 1 }), podContext({ runAsGroup: 2 }), true],
    "C15.55": [podContext({ runAsGroup: 1 }), podContext({ runAsGroup: 1 }), false],
    "C15.56": [podContext({ runAsGroup: 1 }), plain, true],
    "C15.57": [plain, mainContext({ runAsUser: 1 }), true],
    "C15.58": [mainContext({ runAsUser: 1 }), mainContext({ runAsUser: 2 }), true],
    "C15.59": [mainContext({ runAsUser: 1 }), mainContext({ runAsUser: 1 }), false],
    "C15.60": [mainContext({ runAsGroup: 1 }), mainContext({ runAsGroup: 2 }), true],
    "C15.61": [podContext({ runAsUser: 1 }), mainContext({ runAsUser: 1 }), false],
    "C15.62": [
      podContext({ runAsUser: 1 }),
      { ...podContext({ runAsUser: 1 }), ...mainContext({ runAsUser: 2 }) },
      true,
    ],
    "C15.63": [sidecarUser(1), sidecarUser(2), true],
    "C15.64": [otherUser(1), otherUser(2), true],
    "C15.65": [plain, podContext({ runAsNonRoot: true }), false],
    "C15.66": [plain, podContext({ supplementalGroups: [1] }), false],
    "C15.67": [plain, otherUser(3), false],
  } satisfies Record<string, [PodSpec, PodSpec, boolean]>,
  (before: PodSpec, after: PodSpec, isReplaced: boolean) =>
    assert.equal(securityContextChange(before, after) !== undefined, isReplaced),
);
