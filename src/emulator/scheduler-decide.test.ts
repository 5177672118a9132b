// Table tests of the scheduling decision.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededRandom } from "../env/random.ts";
import type {
  Affinity,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  StorageClass,
} from "../kube/generated/types.ts";
import { schedulePod } from "./scheduler-decide.ts";
import type { Decision } from "./scheduler-decide.ts";
import { podRequests } from "./scheduler-resources.ts";
import { SchedulerView } from "./scheduler-view.ts";
import type { VolumeLookup } from "./scheduler-volumes.ts";

const zoneKey = "topology.kubernetes.io/zone";
const hostKey = "kubernetes.io/hostname";

function node(name: string, zone: string, more: Partial<Node> = {}): Node {
  return {
    metadata: { name, labels: { [hostKey]: name, [zoneKey]: zone, ...more.metadata?.labels } },
    spec: more.spec ?? {},
    status: more.status ?? { allocatable: { cpu: "4", memory: "8Gi", pods: "5" } },
  };
}

function pod(name: string, spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Pod {
  const container = { name: "main", resources: { requests: { cpu: "1" } } };
  return {
    metadata: { name, namespace: "ns", labels: { app: "a", ...labels } },
    spec: { containers: [container], ...spec },
  };
}

function requesting(cpu: string, memory?: string): Partial<PodSpec> {
  const requests: Record<string, string> = memory === undefined ? { cpu } : { cpu, memory };
  return { containers: [{ name: "main", resources: { requests } }] };
}

const threeZones = [node("n1", "z1"), node("n2", "z2"), node("n3", "z3")];
const on = (nodeName: string, spec: Partial<PodSpec> = {}) => ({ ...spec, nodeName });

interface World {
  nodes?: Node[];
  placed?: Pod[];
  claims?: PersistentVolumeClaim[];
  volumes?: PersistentVolume[];
  classes?: StorageClass[];
}

function decide(incoming: Pod, world: World = {}): Decision {
  const view = new SchedulerView();
  for (const one of world.nodes ?? threeZones) view.setNode(one);
  for (const one of world.placed ?? []) view.setPod(one);
  return schedulePod(incoming, view, lookup(world));
}

function lookup(world: World): VolumeLookup {
  const named = <T extends { metadata: { name?: string } }>(items: T[] = [], name: string) =>
    items.find((item) => item.metadata.name === name);
  return {
    claim: (_, name) => named(world.claims, name),
    volume: (name) => named(world.volumes, name),
    storageClass: (name) => named(world.classes, name),
    volumes: () => world.volumes ?? [],
  };
}

function nodeOf(decision: Decision): string {
  return decision.kind === "node" ? decision.nodeName : decision.message;
}

function refusedBy(decision: Decision): Record<string, string> {
  assert.equal(decision.kind, "unschedulable");
  if (decision.kind !== "unschedulable") return {};
  return Object.fromEntries(
    [...decision.refusals].map(([name, refusal]) => [name, refusal.reasons.join("; ")]),
  );
}

const far = (key: string, app = "a"): Affinity => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: key, labelSelector: { matchLabels: { app } } },
    ],
  },
});
const near = (key: string, app: string): Affinity => ({
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: key, labelSelector: { matchLabels: { app } } },
    ],
  },
});

test("[SCH1] only the first failing filter of a node speaks", () => {
  const nodes = [
    node("n1", "z1", {
      spec: { unschedulable: true, taints: [{ key: "k", effect: "NoSchedule" }] },
    }),
    node("n2", "z2", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } }),
    node("n3", "z3"),
  ];
  const incoming = pod("p", { ...requesting("100"), nodeSelector: { disk: "fast" } });
  assert.deepEqual(refusedBy(decide(incoming, { nodes })), {
    n1: "node(s) were unschedulable",
    n2: "node(s) had untolerated taint(s)",
    n3: "node(s) didn't match Pod's node affinity/selector",
  });
});

test("[SCH2] a node that is full of requests is refused, one whose pods have ended is not", () => {
  const full = pod("full", on("n1", requesting("3500m")));
  const nodes = [node("n1", "z1")];
  assert.deepEqual(refusedBy(decide(pod("p"), { nodes, placed: [full] })), {
    n1: "Insufficient cpu",
  });
  const ended = { ...full, status: { phase: "Succeeded" } };
  assert.equal(nodeOf(decide(pod("p"), { nodes, placed: [ended] })), "n1");
  const both = refusedBy(decide(pod("p", requesting("5", "9Gi")), { nodes }));
  assert.deepEqual(both, { n1: "Insufficient cpu; Insufficient memory" });
});

test("[SCH2] no sequence of pods overfills a node", () => {
  const request = fc.record({
    cpu: fc.integer({ min: 1, max: 3000 }),
    memory: fc.integer({ min: 1, max: 5000 }),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 30 }), fc.integer(), (requests, seed) => {
      const view = new SchedulerView();
      for (const one of threeZones) view.setNode(one);
      const random = seededRandom(seed);
      requests.forEach(({ cpu, memory }, index) => {
        const incoming = pod(`p${index}`, requesting(`${cpu}m`, `${memory}Mi`));
        const decision = schedulePod(incoming, view, lookup({}), random);
        if (decision.kind !== "node") return;
        view.setPod({ ...incoming, spec: { ...incoming.spec!, nodeName: decision.nodeName } });
      });
      for (const info of view.sortedNodes()) {
        assert.ok(info.pods.size <= 5);
        for (const name of ["cpu", "memory"]) {
          assert.ok((info.used[name] ?? 0) <= (info.allocatable[name] ?? 0));
        }
      }
    }),
    { seed: 1, numRuns: 100 },
  );
});

test("[SCH3] the number of pods is limited too", () => {
  const nodes = [
    node("n1", "z1", { status: { allocatable: { cpu: "4", memory: "8Gi", pods: "1" } } }),
  ];
  const placed = [pod("other", on("n1", requesting("0")))];
  assert.deepEqual(refusedBy(decide(pod("p", requesting("0")), { nodes, placed })), {
    n1: "Too many pods",
  });
});

test("[SCH3] requests of init containers, restartable ones, limits and overhead", () => {
  const requests = podRequests({
    metadata: {},
    spec: {
      initContainers: [
        { name: "a", resources: { requests: { cpu: "3", memory: "1Gi" } } },
        { name: "b", restartPolicy: "Always", resources: { requests: { cpu: "100m" } } },
        { name: "c", resources: { limits: { cpu: "2500m" } } },
      ],
      containers: [
        { name: "d", resources: { requests: { cpu: "500m", memory: "2Gi" } } },
        { name: "e", resources: { limits: { cpu: "1" } } },
      ],
      overhead: { cpu: "50m" },
    },
  });
  assert.deepEqual(requests, { cpu: 3050, memory: 2 * 2 ** 30 });
});

test("[SCH4] node selector and affinity", () => {
  const nodes = [
    node("n1", "z1", { metadata: { labels: { disk: "slow", size: "5" } } }),
    node("n2", "z2", { metadata: { labels: { disk: "fast" } } }),
  ];
  const wanting = (key: string, operator: string, values: string[]) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
        },
      },
    },
  });
  assert.equal(nodeOf(decide(pod("p", { nodeSelector: { disk: "fast" } }), { nodes })), "n2");
  assert.equal(nodeOf(decide(pod("p", wanting("disk", "NotIn", ["slow"])), { nodes })), "n2");
  assert.equal(nodeOf(decide(pod("p", wanting("size", "Gt", ["4"])), { nodes })), "n1");
  assert.equal(nodeOf(decide(pod("p", wanting("size", "DoesNotExist", [])), { nodes })), "n2");
  const byName = {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {},
            { matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }] },
          ],
        },
      },
    },
  };
  assert.equal(nodeOf(decide(pod("p", byName), { nodes })), "n2");
});

test("[SCH5] taints and tolerations", () => {
  const tainted = (effect: string) => [
    node("n1", "z1", { spec: { taints: [{ key: "k", value: "v", effect }] } }),
  ];
  const tolerating = (toleration: object) => pod("p", { tolerations: [toleration] });
  for (const effect of ["NoSchedule", "NoExecute"]) {
    const nodes = tainted(effect);
    assert.deepEqual(refusedBy(decide(pod("p"), { nodes })), {
      n1: "node(s) had untolerated taint(s)",
    });
    assert.equal(nodeOf(decide(tolerating({ key: "k", value: "v" }), { nodes })), "n1");
    assert.equal(nodeOf(decide(tolerating({ operator: "Exists" }), { nodes })), "n1");
    assert.equal(decide(tolerating({ key: "k", value: "w" }), { nodes }).kind, "unschedulable");
    const other = tolerating({ key: "k", operator: "Exists", effect: "PreferNoSchedule" });
    assert.equal(decide(other, { nodes }).kind, "unschedulable");
  }
  const soft = [...tainted("PreferNoSchedule"), node("n2", "z2")];
  assert.equal(nodeOf(decide(pod("p"), { nodes: soft })), "n2");
  assert.equal(nodeOf(decide(pod("p"), { nodes: tainted("PreferNoSchedule") })), "n1");
  const cordoned = [node("n1", "z1", { spec: { unschedulable: true } })];
  const daemon = tolerating({ key: "node.kubernetes.io/unschedulable", operator: "Exists" });
  assert.equal(nodeOf(decide(daemon, { nodes: cordoned })), "n1");
});

test("[SCH6] anti-affinity per zone, from both sides", () => {
  const placed = [pod("a", on("n1")), pod("b", on("n2"))];
  const apart = pod("p", { affinity: far(zoneKey) });
  assert.equal(nodeOf(decide(apart, { placed })), "n3");
  const repelling = [pod("a", on("n1", { affinity: far(zoneKey) }), { app: "other" })];
  const nodes = [node("n1", "z1"), node("n1b", "z1")];
  const refusal = "node(s) didn't satisfy existing pods anti-affinity rules";
  assert.deepEqual(refusedBy(decide(pod("p"), { nodes, placed: repelling })), {
    n1: refusal,
    n1b: refusal,
  });
  assert.equal(nodeOf(decide(pod("p", {}, { app: "b" }), { nodes, placed: repelling })), "n1b");
});

test("[SCH6] affinity needs a match in the same topology, except for the first of a group", () => {
  const placed = [pod("a", on("n2"), { app: "target" })];
  assert.equal(nodeOf(decide(pod("p", { affinity: near(zoneKey, "target") }), { placed })), "n2");
  const alone = refusedBy(decide(pod("p", { affinity: near(zoneKey, "none") }), { placed }));
  assert.equal(alone["n1"], "node(s) didn't match pod affinity rules");
  assert.equal(decide(pod("p", { affinity: near(zoneKey, "a") })).kind, "node");
  const other = pod("p", { affinity: near(zoneKey, "target") });
  const elsewhere = { ...other, metadata: { ...other.metadata, namespace: "ns2" } };
  assert.equal(decide(elsewhere, { placed }).kind, "unschedulable");
});

test("[SCH7] preferred terms of the pod and of placed pods draw and push", () => {
  const term = { topologyKey: hostKey, labelSelector: { matchLabels: { app: "a" } } };
  const preferred = [{ weight: 10, podAffinityTerm: term }];
  const away = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
  const towards = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
  const placed = [pod("a", on("n1")), pod("b", on("n2"))];
  assert.equal(nodeOf(decide(pod("p", { affinity: away }), { placed })), "n3");
  const one = [pod("a", on("n2"))];
  assert.equal(nodeOf(decide(pod("p", { affinity: towards }), { placed: one })), "n2");
  const drawing = [pod("a", on("n3", { affinity: towards }))];
  assert.equal(nodeOf(decide(pod("p"), { placed: drawing })), "n3");
});

const spreading = (more: object = {}): Partial<PodSpec> => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: zoneKey,
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { app: "a" } },
      ...more,
    },
  ],
});

test("[SCH8] topology spread keeps the skew", () => {
  const skewed = "node(s) didn't match pod topology spread constraints";
  const placed = [pod("a", on("n1")), pod("b", on("n2"))];
  assert.equal(nodeOf(decide(pod("p", spreading()), { placed })), "n3");
  const nodes = [node("n1", "z1"), node("n2", "z2", { spec: { unschedulable: true } })];
  const refused = refusedBy(decide(pod("p", spreading()), { nodes, placed: [pod("a", on("n1"))] }));
  assert.equal(refused["n1"], skewed);
  assert.equal(
    decide(pod("p", spreading({ maxSkew: 2 })), { nodes, placed: [pod("a", on("n1"))] }).kind,
    "node",
  );
  const leaving = pod("a", on("n1"));
  leaving.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  assert.equal(nodeOf(decide(pod("p", spreading()), { nodes, placed: [leaving] })), "n1");
  const few = refusedBy(
    decide(pod("p", spreading({ minDomains: 3 })), {
      nodes: [node("n1", "z1"), node("n2", "z2")],
      placed: [pod("a", on("n1")), pod("b", on("n2"))],
    }),
  );
  assert.deepEqual(few, { n1: skewed, n2: skewed });
});

test("[SCH8] labels that are missing, keys of the revision, and the policies", () => {
  const rack = refusedBy(decide(pod("p", spreading({ topologyKey: "rack" }))));
  assert.equal(
    rack["n1"],
    "node(s) didn't match pod topology spread constraints (missing required label)",
  );
  const nodes = [node("n1", "z1"), node("n2", "z2", { spec: { unschedulable: true } })];
  const old = [pod("a", on("n1"), { revision: "1" })];
  const next = pod("p", spreading({ matchLabelKeys: ["revision"] }), { revision: "2" });
  assert.equal(nodeOf(decide(next, { nodes, placed: old })), "n1");
  const taint = { key: "k", effect: "NoSchedule" };
  const tainted = [node("n1", "z1"), node("n2", "z2", { spec: { taints: [taint] } })];
  const placed = [pod("a", on("n1"))];
  assert.equal(decide(pod("p", spreading()), { nodes: tainted, placed }).kind, "unschedulable");
  const honouring = pod("p", spreading({ nodeTaintsPolicy: "Honor" }));
  assert.equal(nodeOf(decide(honouring, { nodes: tainted, placed })), "n1");
  const soft = pod("p", spreading({ whenUnsatisfiable: "ScheduleAnyway" }));
  assert.equal(nodeOf(decide(soft, { placed: [pod("a", on("n1")), pod("b", on("n3"))] })), "n2");
});

test("[SCH8] pods of a service keep apart a little without asking", () => {
  const view = new SchedulerView();
  for (const one of threeZones) view.setNode(one);
  // The roomiest node has pods of the same service on it.
  view.setPod(pod("a", on("n1", requesting("0"))));
  view.setPod(pod("b", on("n2", requesting("1")), { app: "other" }));
  view.setPod(pod("c", on("n3", requesting("1")), { app: "other" }));
  const chosen = (): string => nodeOf(schedulePod(pod("p"), view, lookup({})));
  assert.equal(chosen(), "n1");
  view.setService("ns", "service", { app: "a" });
  assert.equal(chosen(), "n2");
  view.setService("ns", "service", undefined);
  assert.equal(chosen(), "n1");
});

const claiming = (claimName: string): Partial<PodSpec> => ({
  volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
});
const zoned: PersistentVolume = {
  metadata: { name: "v" },
  spec: {
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: zoneKey, operator: "In", values: ["z2"] }] },
        ],
      },
    },
  },
};
const boundClaim: PersistentVolumeClaim = {
  metadata: { name: "c" },
  spec: { volumeName: "v" },
  status: { phase: "Bound" },
};

test("[SCH9] a bound volume pins the pod to its zone", () => {
  const world = { claims: [boundClaim], volumes: [zoned] };
  assert.equal(nodeOf(decide(pod("p", claiming("c")), world)), "n2");
  const refused = refusedBy(
    decide(pod("p", claiming("c")), { ...world, nodes: [node("n1", "z1")] }),
  );
  assert.deepEqual(refused, { n1: "node(s) didn't match PersistentVolume's node affinity" });
  const labelled = [{ metadata: { name: "v", labels: { [zoneKey]: "z8__z3" } }, spec: {} }];
  assert.equal(
    nodeOf(decide(pod("p", claiming("c")), { claims: [boundClaim], volumes: labelled })),
    "n3",
  );
});

test("[SCH9] claims that refuse all nodes", () => {
  const message = (world: World) => nodeOf(decide(pod("p", claiming("c")), world));
  const start = "0/3 nodes are available:";
  assert.equal(message({}), `${start} persistentvolumeclaim "c" not found. not found`);
  const pending = { metadata: { name: "c" }, spec: { storageClassName: "fast" } };
  const unbound = `${start} pod has unbound immediate PersistentVolumeClaims. not found`;
  assert.equal(message({ claims: [pending] }), unbound);
  const fast = (mode: string): StorageClass => ({
    metadata: { name: "fast" },
    provisioner: "example.com/disk",
    volumeBindingMode: mode,
  });
  assert.equal(message({ claims: [pending], classes: [fast("Immediate")] }), unbound);
  const waiting = decide(pod("p", claiming("c")), {
    claims: [pending],
    classes: [
      {
        ...fast("WaitForFirstConsumer"),
        allowedTopologies: [{ matchLabelExpressions: [{ key: zoneKey, values: ["z3"] }] }],
      },
    ],
  });
  assert.equal(nodeOf(waiting), "n3");
  assert.equal(waiting.kind === "node" && waiting.waiting.length, 1);
  const lost = message({ claims: [boundClaim] });
  assert.match(lost, /persistentvolumeclaim "c" bound to non-existent persistentvolume "v"/);
});

test("[SCH10] the emptiest node wins, equal ones are decided by name or by the generator", () => {
  const placed = [pod("a", on("n1", requesting("2"))), pod("b", on("n2", requesting("1")))];
  assert.equal(nodeOf(decide(pod("p"), { placed })), "n3");
  assert.equal(nodeOf(decide(pod("p"))), "n1");
  const view = new SchedulerView();
  for (const one of threeZones) view.setNode(one);
  const choices = (seed: number): string[] => {
    const random = seededRandom(seed);
    return Array.from({ length: 20 }, () =>
      nodeOf(schedulePod(pod("p"), view, lookup({}), random)),
    );
  };
  assert.deepEqual(choices(7), choices(7));
  assert.equal(new Set(choices(7)).size, 3);
  const preferring = {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 50,
            preference: { matchExpressions: [{ key: zoneKey, operator: "In", values: ["z2"] }] },
          },
        ],
      },
    },
  };
  assert.equal(nodeOf(decide(pod("p", preferring))), "n2");
});

test("[SCH11] the text of an unschedulable pod", () => {
  const nodes = [
    node("n1", "z1"),
    node("n2", "z2", { spec: { unschedulable: true } }),
    node("n3", "z3", {
      spec: { taints: [{ key: "dedicated", value: "x", effect: "NoSchedule" }] },
    }),
  ];
  const text = (incoming: Pod, placed: Pod[] = []) => nodeOf(decide(incoming, { nodes, placed }));
  assert.equal(
    text(pod("p", { affinity: far(hostKey) }), [pod("a", on("n1"))]),
    "0/3 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 1 node(s) had untolerated " +
      "taint(s), 1 node(s) were unschedulable. preemption: 0/3 nodes are available: 1 No preemption victims " +
      "found for incoming pod, 2 Preemption is not helpful for scheduling.",
  );
  assert.equal(
    text(pod("p", requesting("100"))),
    "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were " +
      "unschedulable. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  );
  assert.match(
    text(pod("p", { ...requesting("100"), preemptionPolicy: "Never" })),
    /unschedulable\. preemption: not eligible due to preemptionPolicy=Never\.$/,
  );
  assert.equal(nodeOf(decide(pod("p"), { nodes: [] })), "no nodes available to schedule pods");
});

test("[SCH1] a host port that is taken", () => {
  const serving: Partial<PodSpec> = {
    containers: [{ name: "main", ports: [{ containerPort: 80, hostPort: 80 }] }],
  };
  const placed = [pod("a", on("n1", serving))];
  const nodes = [node("n1", "z1")];
  assert.deepEqual(refusedBy(decide(pod("p", serving), { nodes, placed })), {
    n1: "node(s) didn't have free ports for the requested pod ports",
  });
});
