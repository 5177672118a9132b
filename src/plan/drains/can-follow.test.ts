// A table of where a storage could go on with its data when its node is drained, and of who leaves at all.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { PlanWorld } from "../../../test/operate/plan-world.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Node, PersistentVolume, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { addCondition, hasCondition } from "../../model/process-group.ts";
import type { Snapshot } from "../snapshot.ts";
import { canFollow, isBoundToCordoned } from "./can-follow.ts";
import { drainCause, withDraining } from "./leaving-groups.ts";

const here = "here";
const volumeName = "volume-1";

interface Scene {
  readonly elsewhere?: Node["spec"];
  readonly labels?: Record<string, string>;
  readonly isReady?: boolean;
  readonly isHereCordoned?: boolean;
  /** Undefined: of any node; null: the volume cannot be seen. */
  readonly volumeOn?: string | null;
  readonly hasNoVolume?: boolean;
  readonly pod?: Partial<Pod["spec"]>;
  readonly isBlind?: boolean;
}

function node(name: string, spec: Node["spec"], scene: Scene): Stored<Node> {
  return {
    ...{ apiVersion: "v1", kind: "Node", spec: spec ?? {} },
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...scene.labels } },
    status: { conditions: [{ type: "Ready", status: scene.isReady === false ? "False" : "True" }] },
  };
}

function volume(on: string | undefined): Stored<PersistentVolume> {
  const values = [on ?? ""];
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In" as const, values }];
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: volumeName } },
    spec: on === undefined ? {} : { nodeAffinity },
  };
}

function staged(scene: Scene): { snapshot: Snapshot; group: ProcessGroup } {
  const world = new PlanWorld({ automationOptions: { drains: { enabled: true } } });
  world.settle(4);
  const isStorage = ({ processClass }: ProcessGroup): boolean => processClass === "storage";
  const storage = world.cluster.status?.processGroups?.find(isStorage)?.processGroupID ?? "";
  const podName = `sample-${storage}`;
  const pod = world.pods.get(podName);
  const claim = world.pvcs.get(`${podName}-data`);
  assert.ok(pod?.spec !== undefined && claim !== undefined);
  world.pods.set(podName, { ...pod, spec: { ...pod.spec, nodeName: here, ...scene.pod } });
  const bound = { ...claim.spec, volumeName: scene.hasNoVolume === true ? "" : volumeName };
  world.pvcs.set(`${podName}-data`, { ...claim, spec: bound });
  const nodes = [
    node(here, { unschedulable: scene.isHereCordoned ?? true }, scene),
    node("there", scene.elsewhere, scene),
  ];
  const { volumeOn } = scene;
  const volumes = new Map(volumeOn === null ? [] : [[volumeName, volume(volumeOn)]]);
  const wayOut = scene.isBlind === true ? undefined : { nodes, volumes };
  const snapshot = world.snapshot({
    nodes: new Map(nodes.map((each) => [each.metadata.name ?? "", each])),
    wayOut,
  });
  const group = snapshot.cluster.status?.processGroups?.find(
    ({ processGroupID }) => processGroupID === storage,
  );
  assert.ok(group !== undefined);
  return { snapshot, group };
}

const tainted = { taints: [{ key: "dedicated", value: "other", effect: "NoSchedule" as const }] };
const rows: readonly [title: string, scene: Scene, follows: boolean, isBound: boolean][] = [
  ["another node takes it, and its volume can be used from any", {}, true, false],
  ["its volume can be used from there", { volumeOn: "there" }, true, false],
  ["its volume can be used from here alone", { volumeOn: here }, false, true],
  ["its volume is on a node that nobody knows", { volumeOn: "gone" }, false, false],
  ["its volume cannot be seen", { volumeOn: null }, false, false],
  ["it has no volume yet", { hasNoVolume: true }, true, false],
  ["the other node is cordoned, too", { elsewhere: { unschedulable: true } }, false, true],
  ["the other node is not ready", { isReady: false }, false, false],
  ["the other node has a taint that it does not tolerate", { elsewhere: tainted }, false, true],
  [
    "the other node has a taint that it tolerates",
    {
      elsewhere: tainted,
      pod: { tolerations: [{ key: "dedicated", operator: "Exists" as const }] },
    },
    true,
    false,
  ],
  [
    "the other node is short of memory, which goes by",
    {
      elsewhere: { taints: [{ key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" }] },
    },
    true,
    false,
  ],
  [
    "its pod wants a label that no node has",
    { pod: { nodeSelector: { disk: "fast" } } },
    false,
    false,
  ],
  [
    "its pod wants a label that the other node has",
    { pod: { nodeSelector: { disk: "fast" } }, labels: { disk: "fast" } },
    true,
    false,
  ],
  ["nodes cannot be seen", { isBlind: true }, false, false],
];

for (const [title, scene, follows, isBound] of rows) {
  test(`[DRAIN15] [DRAIN16] ${title}: ${follows ? "it goes with its volume" : "it is replaced"}`, () => {
    const { snapshot, group } = staged(scene);
    assert.equal(canFollow(snapshot, group), follows);
    assert.equal(isBoundToCordoned(snapshot, group), isBound);
    const leaving = addCondition(group, "NodeDraining", snapshot.nowMs);
    assert.equal(drainCause(snapshot, leaving) === undefined, follows);
    assert.equal(drainCause(snapshot, group), undefined);
  });
}

const wishes: readonly [title: string, scene: Scene, wasNoted: boolean, leaves: boolean][] = [
  ["a cordon alone is no wish", {}, false, false],
  ["a noted wish stands while the node is cordoned", {}, true, true],
  ["a node that takes pods again takes it back", { isHereCordoned: false }, true, false],
  ["a node that is gone took no wish back", { pod: { nodeName: "gone" } }, true, true],
  ["a pod without a node that finds one stays", { pod: { nodeName: "" } }, true, false],
  ["one that finds none leaves", { pod: { nodeName: "" }, volumeOn: here }, true, true],
];

for (const [title, scene, wasNoted, leaves] of wishes) {
  test(`[DRAIN13] [DRAIN14] [DRAIN17] ${title}`, () => {
    const { snapshot, group } = staged(scene);
    const before = wasNoted ? addCondition(group, "NodeDraining", snapshot.nowMs) : group;
    assert.equal(hasCondition(withDraining(snapshot, before), "NodeDraining"), leaves);
    const fenced = addCondition(before, "Fenced", snapshot.nowMs);
    assert.equal(hasCondition(withDraining(snapshot, fenced), "NodeDraining"), false);
  });
}
