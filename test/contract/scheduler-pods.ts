// The scheduler's rules about pods among each other, spread over topology, and volumes in zones.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { claim, volume } from "./samples.ts";
import type { Json, Target } from "./target.ts";
import { hostKey, makeNodes, place, refuses, resources, zoneKey } from "./scheduling.ts";

const preemptionIsNoHelp = (count: number): string =>
  `preemption: 0/${count} nodes are available: ${count} Preemption is not helpful for scheduling.`;
const noVictims = (count: number): string =>
  `preemption: 0/${count} nodes are available: ${count} No preemption victims found for incoming pod.`;

const threeZones = { a: { zone: "1" }, b: { zone: "2" }, c: { zone: "3" } };

function term(app: string, topologyKey: string): Json {
  return { labelSelector: { matchLabels: { app } }, topologyKey };
}

function must(kind: "podAffinity" | "podAntiAffinity", ...terms: Json[]): Json {
  return { affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
}

function prefers(kind: "podAffinity" | "podAntiAffinity", weight: number, wanted: Json): Json {
  const preference = { weight, podAffinityTerm: wanted };
  return {
    affinity: { [kind]: { preferredDuringSchedulingIgnoredDuringExecution: [preference] } },
  };
}

function on(name: string): Json {
  return { nodeSelector: { name } };
}

export const podAffinityCases = capability(
  "scheduler: required pod affinity",
  [
    [
      "[KC56] a pod goes to the zone of its companion",
      async (target) => {
        await makeNodes(target, threeZones);
        await place(target, "db", on("b"), { app: "db" });
        assert.equal(await place(target, "p", must("podAffinity", term("db", zoneKey))), "b");
      },
    ],
    [
      "[KC56] without the companion there is no place",
      async (target) => {
        await makeNodes(target, threeZones);
        await refuses(
          target,
          "p",
          must("podAffinity", term("db", zoneKey)),
          `0/3 nodes are available: 3 node(s) didn't match pod affinity rules. ${preemptionIsNoHelp(3)}`,
        );
      },
    ],
    [
      "[KC56] the first pod of a group that wants its own kind is let in",
      async (target) => {
        await makeNodes(target, threeZones);
        const spec = must("podAffinity", term("db", zoneKey));
        const first = await place(target, "p", spec, { app: "db" });
        assert.equal(await place(target, "q", spec, { app: "db" }), first);
      },
    ],
    [
      "[KC56] companions of another namespace do not count",
      async (target) => {
        await makeNodes(target, threeZones);
        await place(target, "db", on("b"), { app: "db" });
        const elsewhere = { ...term("db", zoneKey), namespaces: ["default"] };
        await refuses(
          target,
          "p",
          must("podAffinity", elsewhere),
          `0/3 nodes are available: 3 node(s) didn't match pod affinity rules. ${preemptionIsNoHelp(3)}`,
        );
      },
    ],
  ],
  "scheduler",
);

export const podAntiAffinityCases = capability(
  "scheduler: required pod anti-affinity",
  [
    [
      "[KC57] one pod to a host",
      async (target) => {
        await makeNodes(target, threeZones);
        const spec = must("podAntiAffinity", term("db", hostKey));
        const hosts = [];
        for (const name of ["p", "q", "r"]) {
          hosts.push(await place(target, name, spec, { app: "db" }));
        }
        assert.deepEqual(new Set(hosts), new Set(["a", "b", "c"]));
        await refuses(
          target,
          "s",
          spec,
          `0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. ${noVictims(3)}`,
          { app: "db" },
        );
      },
    ],
    [
      "[KC57] one pod to a zone",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" }, b: { zone: "1" }, c: { zone: "2" } });
        const spec = must("podAntiAffinity", term("db", zoneKey));
        await place(target, "p", { ...spec, ...on("a") }, { app: "db" });
        assert.equal(await place(target, "q", spec, { app: "db" }), "c");
      },
    ],
    [
      "[KC57] a pod that is there keeps others away by its own rule",
      async (target) => {
        await makeNodes(target, { a: {}, b: {} });
        const spec = must("podAntiAffinity", term("web", hostKey));
        await place(target, "db", { ...spec, ...on("a") }, { app: "db" });
        assert.equal(await place(target, "p", {}, { app: "web" }), "b");
        await refuses(
          target,
          "q",
          on("a"),
          `0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't satisfy existing pods anti-affinity rules. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.`,
          { app: "web" },
        );
      },
    ],
    [
      "[KC57] nodes without the topology key are free of the rule",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" }, b: {} });
        const spec = must("podAntiAffinity", term("db", zoneKey));
        await place(target, "p", { ...spec, ...on("a") }, { app: "db" });
        assert.equal(await place(target, "q", spec, { app: "db" }), "b");
        assert.equal(await place(target, "r", spec, { app: "db" }), "b");
      },
    ],
  ],
  "scheduler",
);

export const preferredPodCases = capability(
  "scheduler: preferred pod (anti-)affinity",
  [
    [
      "[KC58] a preferred companion draws the pod",
      async (target) => {
        await makeNodes(target, threeZones);
        await place(target, "db", on("b"), { app: "db" });
        const spec = prefers("podAffinity", 100, term("db", zoneKey));
        assert.equal(await place(target, "p", spec), "b");
      },
    ],
    [
      "[KC58] a disliked companion pushes the pod away",
      async (target) => {
        await makeNodes(target, threeZones);
        const spec = prefers("podAntiAffinity", 1, term("db", zoneKey));
        const zones = [];
        for (const name of ["p", "q", "r"]) {
          zones.push(await place(target, name, spec, { app: "db" }));
        }
        assert.deepEqual(new Set(zones), new Set(["a", "b", "c"]));
      },
    ],
    [
      "[KC58] where all places are disliked equally the pod is still placed",
      async (target) => {
        await makeNodes(target, { a: {} });
        const spec = prefers("podAntiAffinity", 100, term("db", hostKey));
        await place(target, "p", spec, { app: "db" });
        assert.equal(await place(target, "q", spec, { app: "db" }), "a");
      },
    ],
    [
      "[KC58] the fewer companions, the better",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" }, b: { zone: "2" } });
        await place(target, "x", on("a"), { app: "db" });
        await place(target, "y", on("a"), { app: "db" });
        await place(target, "z", on("b"), { app: "db" });
        const spec = prefers("podAntiAffinity", 100, term("db", zoneKey));
        assert.equal(await place(target, "p", spec), "b");
      },
    ],
  ],
  "scheduler",
);

function spread(whenUnsatisfiable: string, maxSkew = 1, extra: Json = {}): Json {
  const constraint = {
    maxSkew,
    topologyKey: zoneKey,
    whenUnsatisfiable,
    labelSelector: { matchLabels: { app: "db" } },
    ...extra,
  };
  return { topologySpreadConstraints: [constraint] };
}

export const spreadCases = capability(
  "scheduler: topology spread",
  [
    [
      "[KC59] pods are spread evenly over zones",
      async (target) => {
        await makeNodes(target, threeZones);
        const zones = [];
        for (const name of ["p", "q", "r"]) {
          zones.push(await place(target, name, spread("DoNotSchedule"), { app: "db" }));
        }
        assert.deepEqual(new Set(zones), new Set(["a", "b", "c"]));
      },
    ],
    [
      "[KC59] a pod that would make it too uneven waits",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" }, b: { zone: "2", capacity: { cpu: "1" } } });
        await place(target, "p", { ...spread("DoNotSchedule"), ...on("a") }, { app: "db" });
        await refuses(
          target,
          "q",
          { ...spread("DoNotSchedule"), ...resources("2") },
          "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
          { app: "db" },
        );
      },
    ],
    [
      "[KC59] a larger skew allows more",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" }, b: { zone: "2", capacity: { cpu: "1" } } });
        const spec = { ...spread("DoNotSchedule", 2), ...resources("2", "1Mi") };
        assert.equal(await place(target, "p", spec, { app: "db" }), "a");
        assert.equal(await place(target, "q", spec, { app: "db" }), "a");
      },
    ],
    [
      "[KC59] a soft constraint prefers the emptier zone and gives way",
      async (target) => {
        await makeNodes(target, { a: { zone: "1" }, b: { zone: "2" } });
        const soft = spread("ScheduleAnyway");
        await place(target, "p", { ...soft, ...on("a") }, { app: "db" });
        assert.equal(await place(target, "q", soft, { app: "db" }), "b");
        assert.equal(await place(target, "r", { ...soft, ...on("a") }, { app: "db" }), "a");
      },
    ],
    [
      "[KC59] a node without the topology key is no place for it",
      async (target) => {
        await makeNodes(target, { a: {}, b: {} });
        await refuses(
          target,
          "p",
          spread("DoNotSchedule"),
          `0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints (missing required label). ${preemptionIsNoHelp(2)}`,
          { app: "db" },
        );
      },
    ],
  ],
  "scheduler",
);

/** A claim that is bound to a volume which can be reached from one zone only. */
async function zonalClaim(target: Target, zone: string, spec: Json = {}): Promise<Json> {
  const name = target.unique(`v${zone}`);
  const storageClassName = target.unique("class");
  await target.create(
    target.path("persistentvolumes"),
    volume(name, { storageClassName, ...spec }, spec["nodeAffinity"] ? {} : { [zoneKey]: zone }),
  );
  await target.create(
    target.path("persistentvolumeclaims"),
    claim("data", { storageClassName, volumeName: name }),
  );
  await target.becomes(target.path("persistentvolumeclaims", "data"), { "status.phase": "Bound" });
  return { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };
}

function volumeAffinity(zone: string): Json {
  const expression = { key: zoneKey, operator: "In", values: [zone] };
  return {
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
  };
}

export const volumeZoneCases = capability(
  "scheduler: volume zone",
  [
    [
      "[KC60] a pod goes to the zone of its volume's label",
      async (target) => {
        await makeNodes(target, threeZones);
        assert.equal(await place(target, "p", await zonalClaim(target, "2")), "b");
      },
    ],
    [
      "[KC60] a pod goes where its volume's node affinity leads",
      async (target) => {
        await makeNodes(target, threeZones);
        const spec = await zonalClaim(target, "3", volumeAffinity("3"));
        assert.equal(await place(target, "p", spec), "c");
      },
    ],
    [
      "[KC60] no node in the zone of the label",
      async (target) => {
        await makeNodes(target, threeZones);
        await refuses(
          target,
          "p",
          await zonalClaim(target, "9"),
          `0/3 nodes are available: 3 node(s) had no available volume zone. ${preemptionIsNoHelp(3)}`,
        );
      },
    ],
    [
      "[KC60] no node fits the node affinity of the volume",
      async (target) => {
        await makeNodes(target, threeZones);
        await refuses(
          target,
          "p",
          await zonalClaim(target, "9", volumeAffinity("9")),
          `0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity. ${preemptionIsNoHelp(3)}`,
        );
      },
    ],
    [
      "[KC60] a claim that does not exist stops the pod",
      async (target) => {
        await makeNodes(target, { a: {} });
        const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "missing" } }];
        await refuses(
          target,
          "p",
          { volumes },
          '0/1 nodes are available: persistentvolumeclaim "missing" not found. not found',
        );
      },
    ],
    [
      "[KC60] a claim that waits for nothing but its volume stops the pod",
      async (target) => {
        await makeNodes(target, { a: {} });
        const storageClassName = target.unique("none");
        await target.create(target.path("storageclasses"), {
          apiVersion: "storage.k8s.io/v1",
          kind: "StorageClass",
          metadata: { name: storageClassName },
          provisioner: "none.example.com",
        });
        await target.create(
          target.path("persistentvolumeclaims"),
          claim("data", { storageClassName }),
        );
        const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
        await refuses(
          target,
          "p",
          { volumes },
          "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
        );
      },
    ],
    [
      "[KC60] a claim that waits for its first consumer is bound where the pod can be",
      async (target) => {
        await makeNodes(target, threeZones);
        const storageClassName = target.unique("local");
        await target.create(target.path("storageclasses"), {
          apiVersion: "storage.k8s.io/v1",
          kind: "StorageClass",
          metadata: { name: storageClassName },
          provisioner: "kubernetes.io/no-provisioner",
          volumeBindingMode: "WaitForFirstConsumer",
        });
        for (const zone of ["1", "3"]) {
          const name = target.unique(`v${zone}`);
          const spec = { storageClassName, ...volumeAffinity(zone) };
          await target.create(target.path("persistentvolumes"), volume(name, spec));
          await target.becomes(target.path("persistentvolumes", name), {
            "status.phase": "Available",
          });
        }
        await target.create(
          target.path("persistentvolumeclaims"),
          claim("data", { storageClassName }),
        );
        const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
        assert.equal(await place(target, "p", { volumes, nodeSelector: { name: "c" } }), "c");
        await target.becomes(target.path("persistentvolumeclaims", "data"), {
          "status.phase": "Bound",
          "spec.volumeName": target.unique("v3"),
        });
      },
    ],
    [
      "[KC60] no waiting volume for the pod's zone",
      async (target) => {
        await makeNodes(target, threeZones);
        const storageClassName = target.unique("local");
        await target.create(target.path("storageclasses"), {
          apiVersion: "storage.k8s.io/v1",
          kind: "StorageClass",
          metadata: { name: storageClassName },
          provisioner: "kubernetes.io/no-provisioner",
          volumeBindingMode: "WaitForFirstConsumer",
        });
        await target.create(
          target.path("persistentvolumeclaims"),
          claim("data", { storageClassName }),
        );
        const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
        await refuses(
          target,
          "p",
          { volumes },
          `0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. ${preemptionIsNoHelp(3)}`,
        );
      },
    ],
  ],
  "scheduler",
);
