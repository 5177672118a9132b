// What becomes of a pod that differs in its resources, by what differs, what its kubelet says and what the API server said.
// Rules: spec/pod-resize.md [SIZE1]-[SIZE7], [SIZE9], [SIZE10].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { Container, Pod, PodStatus } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { misconfigurationOf } from "../../src/plan/replacement/misconfiguration.ts";
import { resizeMark } from "../../src/plan/resize/resize-mark.ts";
import { resizePods } from "../../src/plan/resize/resize-pods.ts";
import { resizeStateOf } from "../../src/plan/resize/resize-state.ts";
import { planObservedStatus } from "../../src/plan/status/update-status.ts";
import type { ActionFailure } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

type Resources = NonNullable<Container["resources"]>;
type Amounts = Readonly<Record<string, string>>;

const both = (requests: Amounts, limits: Amounts = requests): Resources => ({ requests, limits });
const small = both({ cpu: "1", memory: "2Gi" });
const large = both({ cpu: "2", memory: "4Gi" });

function template(resources: Resources, more: Partial<Container> = {}): Partial<ClusterSpec> {
  const containers = [{ name: "foundationdb", resources, ...more }];
  return { processes: { general: { podTemplate: { spec: { containers } } } } };
}

/** Pods made from the template, running. */
function worldWith(resources: Resources, more: Partial<Container> = {}): PlanWorld {
  const world = new PlanWorld({
    ...template(resources, more),
    databaseConfiguration: { redundancy_mode: "double" },
  });
  world.settle();
  return world;
}

/** The first one with data is looked at. */
function groupOf(world: PlanWorld) {
  const group = world.cluster.status?.processGroups?.find((one) => one.processClass === "storage");
  assert.ok(group);
  return group;
}

function nameOf(world: PlanWorld): string {
  return `sample-${groupOf(world).processGroupID}`;
}

interface Change {
  /** What the spec of the pod has by now. */
  readonly has?: Resources;
  readonly mark?: { readonly specHash: string; readonly agoMs: number; readonly text?: string };
  readonly status?: Partial<PodStatus>;
  readonly generation?: number;
}

function changed(world: PlanWorld, { has, mark, status, generation }: Change): Stored<Pod> {
  const pod = world.pods.get(nameOf(world));
  assert.ok(pod?.spec);
  const containers = pod.spec.containers.map((container) =>
    has !== undefined && container.name === "foundationdb"
      ? { ...container, resources: has }
      : container,
  );
  const text =
    mark && (mark.text ?? resizeMark({ nowMs: world.nowMs - mark.agoMs }, mark.specHash, false));
  const annotations = {
    ...pod.metadata.annotations,
    ...(text === undefined ? {} : { [annotationKeys.resizeTarget]: text }),
  };
  const result: Stored<Pod> = {
    ...pod,
    metadata: { ...pod.metadata, annotations, ...(generation === undefined ? {} : { generation }) },
    spec: { ...pod.spec, containers },
    status: { ...pod.status, phase: "Running", ...status },
  };
  world.pods.set(nameOf(world), result);
  return result;
}

function stateOf(world: PlanWorld, change: Change = {}, failures: readonly ActionFailure[] = []) {
  const pod = changed(world, change);
  const snapshot = world.snapshot({ failures });
  const { desired } = planObservedStatus(snapshot);
  return resizeStateOf(snapshot, desired, groupOf(world), pod);
}

function wantedHash(world: PlanWorld): string {
  const { desired } = planObservedStatus(world.snapshot());
  return desired.pod(groupOf(world))?.specHash ?? "";
}

const cpuToo = { name: "foundationdb", resources: both({ cpu: "2", memory: "4Gi" }) };

const reads = (resource: string): Partial<Container> => ({
  env: [{ name: "A", valueFrom: { resourceFieldRef: { resource } } }],
});
const restarts = (resourceName: string): Partial<Container> => ({
  resizePolicy: [{ resourceName, restartPolicy: "RestartContainer" }],
});

const changes: readonly {
  title: string;
  from?: Resources;
  to: Resources;
  before?: Partial<Container>;
  after?: Partial<Container>;
  /** As the API server has filled it in. */
  has?: Resources;
  state: object;
}[] = [
  { title: "nothing", to: small, state: { kind: "none" } },
  {
    title: "the same in another form",
    to: both({ cpu: "1000m", memory: "2048Mi" }),
    state: { kind: "none" },
  },
  { title: "more of both", to: large, state: { kind: "toResize", lacking: [cpuToo] } },
  {
    title: "less memory alone",
    to: both({ cpu: "1", memory: "1Gi" }),
    state: {
      kind: "toResize",
      lacking: [{ name: "foundationdb", resources: both({ memory: "1Gi" }) }],
      isLower: true,
    },
  },
  {
    title: "another variable, too",
    to: large,
    after: { env: [{ name: "A" }] },
    state: { kind: "other" },
  },
  {
    title: "another resource",
    to: both({ cpu: "1", memory: "2Gi", "ephemeral-storage": "1Gi" }),
    state: { kind: "other" },
  },
  {
    title: "a limit that is taken away",
    from: both({ cpu: "1", memory: "2Gi" }, { cpu: "2", memory: "2Gi" }),
    to: { requests: { cpu: "2", memory: "2Gi" }, limits: { memory: "2Gi" } },
    state: { kind: "impossible", why: "limits.cpu of container foundationdb is taken away" },
  },
  {
    title: "requests that the API server has filled in",
    from: { requests: { cpu: "1" }, limits: { cpu: "1", memory: "2Gi" } },
    has: both({ cpu: "1", memory: "2Gi" }),
    to: { requests: { cpu: "2" }, limits: { cpu: "2", memory: "4Gi" } },
    state: { kind: "toResize", lacking: [cpuToo] },
  },
  {
    title: "a limit that a LimitRange has filled in stays",
    from: { requests: { cpu: "1", memory: "2Gi" }, limits: { cpu: "4" } },
    has: both({ cpu: "1", memory: "2Gi" }, { cpu: "4", memory: "8Gi" }),
    to: { requests: { cpu: "2", memory: "2Gi" }, limits: { cpu: "4" } },
    state: {
      kind: "toResize",
      lacking: [{ name: "foundationdb", resources: { requests: { cpu: "2" } } }],
    },
  },
  {
    title: "what admission has changed",
    has: both({ cpu: "3", memory: "3Gi" }),
    to: large,
    state: { kind: "other" },
  },
  {
    title: "what somebody has changed while the template stays",
    has: large,
    to: small,
    state: { kind: "none" },
  },
  {
    title: "a container that starts again for other memory",
    before: restarts("memory"),
    to: large,
    state: {
      kind: "impossible",
      why: "container foundationdb starts again for other memory (resizePolicy)",
    },
  },
  {
    title: "other CPU of a container that starts again for other memory",
    before: restarts("memory"),
    to: both({ cpu: "2", memory: "2Gi" }),
    state: {
      kind: "toResize",
      lacking: [{ name: "foundationdb", resources: both({ cpu: "2" }) }],
    },
  },
  {
    title: "a container that reads its limit",
    before: reads("limits.memory"),
    to: large,
    state: {
      kind: "impossible",
      why: "container foundationdb takes limits.memory into its variable A when it starts",
    },
  },
  {
    title: "a container that reads another one",
    before: reads("limits.memory"),
    to: both({ cpu: "2", memory: "2Gi" }),
    state: {
      kind: "toResize",
      lacking: [{ name: "foundationdb", resources: both({ cpu: "2" }) }],
    },
  },
];

for (const { title, from = small, to, before = {}, after = before, has, state } of changes) {
  test(`[SIZE1] [SIZE7] [SIZE10] ${title}`, () => {
    const world = worldWith(from, before);
    world.changeSpec(template(to, after));
    assert.deepEqual(stateOf(world, has === undefined ? {} : { has }), state);
  });
}

test("[SIZE11] Recreate makes again what differs, and ends what is under way", () => {
  const world = worldWith(small);
  const automationOptions = { podResourcesChange: "Recreate" } as const;
  world.changeSpec({ ...template(large), automationOptions });
  assert.equal(stateOf(world).kind, "other");
  const mark = { specHash: wantedHash(world), agoMs: 0 };
  world.changeSpec({ ...template(small), automationOptions });
  assert.equal(stateOf(world, { mark, has: large }).kind, "toResize", "it is taken back in place");
});

test("[SIZE11] who wants new process groups gets them where a pod cannot be resized", () => {
  const world = worldWith(small);
  const replace = { replaceInstancesWhenResourcesChange: true };
  const automationOptions = { podResourcesChange: "InPlace", podUpdateStrategy: "Delete" } as const;
  world.changeSpec({ ...template(large), ...replace, automationOptions });
  const { containerStatuses = [] } = runs(small);
  const given = containerStatuses.map((one) => ({ ...one, allocatedResources: small.requests }));
  const infeasible = { containerStatuses: given, ...says("PodResizePending", "Infeasible") };
  const causeAfter = (agoMs: number): string | undefined => {
    const mark = { specHash: wantedHash(world), agoMs };
    changed(world, { has: large, mark, status: infeasible });
    const snapshot = world.snapshot();
    const { desired } = planObservedStatus(snapshot);
    return misconfigurationOf(snapshot, desired, groupOf(world));
  };
  assert.equal(causeAfter(0), undefined);
  assert.equal(causeAfter(minute), "its pod asks for less cpu");
});

test("[SIZE1] a pod without a process is made again", () => {
  const world = worldWith(small);
  world.changeSpec(template(large));
  assert.equal(stateOf(world, { status: { phase: "Pending" } }).kind, "other");
});

const runs = (resources: Resources): Partial<PodStatus> => ({
  containerStatuses: [
    { name: "foundationdb", image: "", imageID: "", ready: true, restartCount: 0, resources },
  ],
});
const says = (type: string, reason?: string): Pick<PodStatus, "conditions"> => ({
  conditions: [{ type, status: "True", ...(reason === undefined ? {} : { reason }), message: "m" }],
});
const second = 1_000;
const minute = 60 * second;

const progress: readonly {
  title: string;
  status: Partial<PodStatus>;
  agoMs?: number;
  generation?: number;
  state: object;
}[] = [
  { title: "it runs with them", status: runs(large), state: { kind: "done" } },
  {
    title: "it runs with the old ones",
    status: runs(small),
    state: { kind: "resizing", said: undefined },
  },
  {
    title: "the kernel has rounded them",
    status: runs(both({ cpu: "1999m", memory: "4Gi" })),
    state: { kind: "done" },
  },
  {
    title: "it runs with them and the kubelet has not seen the last change",
    status: { ...runs(large), observedGeneration: 1 },
    generation: 2,
    state: { kind: "resizing", said: undefined },
  },
  {
    title: "it is under way",
    status: { ...runs(large), ...says("PodResizeInProgress") },
    state: { kind: "resizing", said: "m" },
  },
  {
    title: "there is no room",
    status: { ...runs(small), ...says("PodResizePending", "Deferred") },
    agoMs: 9 * minute,
    state: { kind: "resizing", said: "Deferred: m" },
  },
  {
    title: "there is no room for ten minutes",
    status: { ...runs(small), ...says("PodResizePending", "Deferred") },
    agoMs: 10 * minute,
    state: { kind: "impossible", why: "its kubelet says Deferred: m" },
  },
  {
    title: "it never fits, for a minute",
    status: { ...runs(small), ...says("PodResizePending", "Infeasible") },
    agoMs: 59 * second,
    state: { kind: "resizing", said: "Infeasible: m" },
  },
  {
    title: "it never fits",
    status: { ...runs(small), ...says("PodResizePending", "Infeasible") },
    agoMs: minute,
    state: { kind: "impossible", why: "its kubelet says Infeasible: m" },
  },
  {
    title: "the words of the kubelet are about the wish before",
    status: {
      ...runs(small),
      ...says("PodResizePending", "Infeasible"),
      ...{ observedGeneration: 2 },
    },
    agoMs: minute,
    generation: 3,
    state: { kind: "resizing", said: undefined },
  },
  {
    title: "the kubelet is silent for ten minutes",
    status: runs(small),
    agoMs: 10 * minute,
    state: { kind: "impossible", why: "its kubelet has not done it for 10 minutes" },
  },
  {
    title: "the clock has gone back",
    status: runs(small),
    agoMs: -60 * minute,
    state: { kind: "resizing", said: undefined },
  },
];

for (const { title, status, agoMs = 0, generation, state } of progress) {
  test(`[SIZE2] [SIZE5] ${title}`, () => {
    const world = worldWith(small);
    world.changeSpec(template(large));
    const mark = { specHash: wantedHash(world), agoMs };
    assert.deepEqual(stateOf(world, { has: large, mark, status, generation }), state);
  });
}

test("[SIZE2] a mark that somebody has spoiled is written again", () => {
  const world = worldWith(small);
  world.changeSpec(template(large));
  const mark = { specHash: "", agoMs: 0, text: "soon" };
  assert.equal(stateOf(world, { has: large, mark, status: runs(small) }).kind, "other");
  world.changeSpec(template(small));
  const spoiled = stateOf(world, { has: small, mark, status: runs(large) });
  assert.deepEqual(spoiled, { kind: "toResize", lacking: [] });
});

test("[SIZE9] what was told is known by its mark when the wish changes again, or is taken back", () => {
  const world = worldWith(small);
  world.changeSpec(template(large));
  const mark = { specHash: wantedHash(world), agoMs: 0 };
  world.changeSpec(template(both({ cpu: "3", memory: "3Gi" })));
  assert.equal(stateOf(world, { has: large }).kind, "other", "without a mark it may be anything");
  assert.equal(stateOf(world, { has: large, mark }).kind, "toResize");
  world.changeSpec(template(small));
  assert.equal(stateOf(world, { has: large, mark }).kind, "toResize");
  assert.equal(stateOf(world, { has: small, mark, status: runs(small) }).kind, "done");
  world.changeSpec(template(large, { env: [{ name: "A" }] }));
  assert.equal(stateOf(world, { has: large, mark }).kind, "other");
});

function failed(
  podName: string,
  message: string,
  more: Partial<ActionFailure> = {},
): ActionFailure {
  const what = { key: "k", step: "resizePods", what: "resize", isCommand: false };
  return { ...what, message, retryAtMs: 0, podName, sinceMs: 0, ...more };
}

const words: readonly [string, string, string][] = [
  ["an old server", "the server could not find the requested resource", "impossible"],
  ["no right", 'User "o" cannot patch resource "pods/resize" in API group ""', "impossible"],
  ["another class", 'Pod "a" is invalid: spec: Invalid value: "Burstable": QOS', "impossible"],
  [
    "a Windows node",
    "pods is forbidden: pod resize is only supported on linux nodes",
    "impossible",
  ],
  ["a small node", "node didn't have enough allocatable resources: cpu", "impossible"],
  ["another pod of that name", 'Pod "a" is invalid: metadata.uid: field is immutable', "toResize"],
  ["a quota", 'pods "a" is forbidden: exceeded quota', "toResize"],
  ["a limit range", 'pods "a" is forbidden: maximum cpu usage per Container is 1', "toResize"],
  ["a webhook", 'admission webhook "x" denied the request', "toResize"],
  ["no answer", "the request timed out", "toResize"],
];

for (const [title, message, kind] of words) {
  test(`[SIZE4] [SIZE6] ${title}: ${kind}`, () => {
    const world = worldWith(small);
    world.changeSpec(template(large));
    const specHash = wantedHash(world);
    assert.equal(stateOf(world, {}, [failed(nameOf(world), message, { specHash })]).kind, kind);
  });
}

test("[SIZE4] [SIZE5] one pod speaks for all of server and right, and a small node has its minute", () => {
  const world = worldWith(small);
  world.changeSpec(template(large));
  const [server, , change, , size] = words.map(([, message]) => message);
  const other = "sample-storage-2";
  assert.equal(stateOf(world, {}, [failed(other, server ?? "")]).kind, "impossible");
  assert.equal(stateOf(world, {}, [failed(other, change ?? "")]).kind, "toResize");
  const told = { sinceMs: world.nowMs - 59 * second, specHash: wantedHash(world) };
  assert.deepEqual(stateOf(world, {}, [failed(nameOf(world), size ?? "", told)]), {
    kind: "toResize",
    lacking: [cpuToo],
    said: size,
  });
});

test("[SIZE9] what was refused before the wish changed makes no pod again", () => {
  const world = worldWith(small);
  world.changeSpec(template(both({ cpu: "99", memory: "3Gi" })));
  const [, , change = "", , size = ""] = words.map(([, message]) => message);
  const specHash = wantedHash(world);
  for (const message of [change, size]) {
    const refused = [failed(nameOf(world), message, { specHash })];
    world.changeSpec(template(both({ cpu: "99", memory: "3Gi" })));
    assert.equal(stateOf(world, {}, refused).kind, "impossible");
    world.changeSpec(template(large));
    assert.equal(stateOf(world, {}, refused).kind, "toResize");
  }
});

test("[SIZE3] no other fault domain begins while a pod with the new resources does not serve", () => {
  const world = worldWith(small);
  world.changeSpec(template(large));
  const first = world.pods.get(nameOf(world));
  assert.ok(first?.spec);
  const note = { [annotationKeys.lastAppliedSpec]: wantedHash(world) };
  const annotations = { ...first.metadata.annotations, ...note };
  world.pods.set(nameOf(world), { ...first, metadata: { ...first.metadata, annotations } });
  const resized = (isServing: boolean): [number, string] => {
    const snapshot = world.snapshot();
    const draft = {
      ...planObservedStatus(snapshot),
      actions: [],
      isUnfinished: false,
      isHeldByWindow: false,
    };
    const groups = draft.groups.map((group) =>
      group.processGroupID === groupOf(world).processGroupID && !isServing
        ? {
            ...group,
            processGroupConditions: [{ type: "MissingProcesses", timestamp: 1 } as const],
          }
        : group,
    );
    const storage = groups.filter(({ processClass }) => processClass === "storage");
    const { actions = [], waits = [] } = resizePods(snapshot, { ...draft, groups: storage });
    return [actions.length, waits[0]?.remedy ?? ""];
  };
  assert.equal(resized(true)[0], 1);
  assert.match(resized(true)[1], /^Nothing: /);
  const [count, remedy] = resized(false);
  assert.equal(count, 0);
  assert.match(remedy, /^Look why that one does not serve/);
});
