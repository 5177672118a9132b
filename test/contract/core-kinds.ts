// Built-in kinds of the core group: what the server adds, allows and refuses.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, node, pod, service } from "./samples.ts";
import { at, jsonOf, normal, pick, text } from "./target.ts";
import type { Json, Target } from "./target.ts";

function namespaceObject(name: string): Json {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

export const namespaceCases = capability(
  "Namespace",
  [
    [
      "[KC33] a new namespace is active, labelled with its name and held by its finalizer",
      async (target) => {
        const name = target.unique("new");
        const made = await target.create(target.path("namespaces"), namespaceObject(name));
        assert.deepEqual(pick(made, "metadata.labels", "spec", "status"), {
          "metadata.labels": { "kubernetes.io/metadata.name": name },
          spec: { finalizers: ["kubernetes"] },
          status: { phase: "Active" },
        });
      },
    ],
    [
      "[KC33] a namespace that is being deleted takes no new objects",
      async (target) => {
        const name = target.unique("dying");
        await target.create(target.path("namespaces"), namespaceObject(name));
        const maps = `/api/v1/namespaces/${name}/configmaps`;
        await target.create(maps, configMap("held", {}, { finalizers: ["example.com/hold"] }));
        const answer = await target.delete(target.path("namespaces", name));
        assert.equal(at(answer, "status.phase"), "Terminating");
        await target.refused(
          { status: 403, reason: "Forbidden", message: /because it is being terminated/ },
          "POST",
          maps,
          configMap("late"),
        );
        await target.patch("merge", `${maps}/held`, { metadata: { finalizers: null } });
      },
    ],
    [
      "[KC33] deleting a namespace removes what is in it, then the namespace",
      async (target) => {
        const name = target.unique("full");
        await target.create(target.path("namespaces"), namespaceObject(name));
        await target.create(`/api/v1/namespaces/${name}/configmaps`, configMap("a"));
        await target.delete(target.path("namespaces", name));
        await target.gone(target.path("namespaces", name));
        assert.deepEqual(await target.names(`/api/v1/namespaces/${name}/configmaps`), []);
      },
    ],
    [
      "[KC33] the first namespaces are there from the start",
      async (target) => {
        const names = await target.names(target.path("namespaces"));
        for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"]) {
          assert.ok(names.includes(name), name);
        }
      },
    ],
  ],
  "controller-manager",
);

export const nodeCases = capability("Node", [
  [
    "[KC34] a node keeps its labels, taints and status and needs no namespace",
    async (target) => {
      const name = target.unique("n");
      const taints = [{ key: "dedicated", value: "fdb", effect: "NoSchedule" }];
      const sent = node(name, { "topology.kubernetes.io/zone": "a" }, {}, { taints });
      const made = await target.create(target.path("nodes"), sent);
      assert.deepEqual(
        pick(made, "metadata.namespace", "metadata.labels", "spec", "status.allocatable"),
        {
          "metadata.namespace": undefined,
          "metadata.labels": {
            "kubernetes.io/hostname": name,
            "topology.kubernetes.io/zone": "a",
          },
          spec: { taints },
          "status.allocatable": { cpu: "4", memory: "8Gi", pods: "110" },
        },
      );
    },
  ],
  [
    "[KC34] capacity without allocatable is allocatable as a whole",
    async (target) => {
      const name = target.unique("n");
      const sent = { ...node(name), status: { capacity: { cpu: "2", memory: "1Gi" } } };
      const made = await target.create(target.path("nodes"), sent);
      assert.deepEqual(at(made, "status.allocatable"), { cpu: "2", memory: "1Gi" });
    },
  ],
  [
    "[KC34] a cordoned node is a change of its spec",
    async (target) => {
      const name = target.unique("n");
      await target.create(target.path("nodes"), node(name));
      const path = target.path("nodes", name);
      const patched = await target.patch("strategic", path, { spec: { unschedulable: true } });
      assert.equal(at(patched, "spec.unschedulable"), true);
    },
  ],
  [
    "[KC34] conditions of the status are merged by type",
    async (target) => {
      const name = target.unique("n");
      await target.create(target.path("nodes"), node(name));
      const path = target.path("nodes", name, "status");
      const patched = await target.patch("strategic", path, {
        status: { conditions: [{ type: "Ready", status: "False", reason: "Gone" }] },
      });
      assert.deepEqual(normal(at(patched, "status.conditions")), [
        {
          type: "Ready",
          status: "False",
          reason: "Gone",
          lastHeartbeatTime: null,
          lastTransitionTime: null,
        },
      ]);
    },
  ],
  [
    "[KC34] a taint needs an effect that exists",
    async (target) => {
      const name = target.unique("n");
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "metadata.taints[0].effect", reason: "FieldValueNotSupported" }],
        },
        "POST",
        target.path("nodes"),
        node(name, {}, {}, { taints: [{ key: "a", effect: "Never" }] }),
      );
    },
  ],
]);

function binding(target: Target, nodeName: string): Json {
  return {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "a", namespace: target.namespace },
    target: { apiVersion: "v1", kind: "Node", name: nodeName },
  };
}

export const bindingCases = capability("Pod binding", [
  [
    "[KC36] a binding sets the node and the condition",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const answer = await target.create(
        target.path("pods", "a", "binding"),
        binding(target, "n1"),
      );
      assert.deepEqual(pick(answer, "kind", "status", "code"), {
        kind: "Status",
        status: "Success",
        code: 201,
      });
      const bound = await target.get(target.path("pods", "a"));
      assert.equal(at(bound, "spec.nodeName"), "n1");
      assert.deepEqual(pick(at(bound, "status.conditions.0"), "type", "status"), {
        type: "PodScheduled",
        status: "True",
      });
    },
  ],
  [
    "[KC36] a pod is bound once",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const path = target.path("pods", "a", "binding");
      await target.create(path, binding(target, "n1"));
      await target.refused(
        {
          status: 409,
          reason: "Conflict",
          message:
            'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
        },
        "POST",
        path,
        binding(target, "n2"),
      );
    },
  ],
  [
    "[KC36] annotations of a binding reach the pod",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const sent = binding(target, "n1");
      sent["metadata"] = { name: "a", annotations: { placed: "yes" } };
      await target.create(target.path("pods", "a", "binding"), sent);
      const bound = await target.get(target.path("pods", "a"));
      assert.deepEqual(at(bound, "metadata.annotations"), { placed: "yes" });
    },
  ],
  [
    "[KC36] a pod that does not exist cannot be bound",
    async (target) => {
      await target.refused(
        { status: 404, reason: "NotFound", message: 'pods "a" not found' },
        "POST",
        target.path("pods", "a", "binding"),
        binding(target, "n1"),
      );
    },
  ],
  [
    "[KC36] a binding names a node",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      await target.refused(
        { status: 500, reason: "", message: "target.name: Required value" },
        "POST",
        target.path("pods", "a", "binding"),
        binding(target, ""),
      );
    },
  ],
  [
    "[KC36] the node of a pod cannot be changed by a patch",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      await target.refused(
        { status: 422, reason: "Invalid" },
        "PATCH",
        target.path("pods", "a"),
        { spec: { nodeName: "n1" } },
        { patch: "merge" },
      );
    },
  ],
]);

export const serviceCases = capability("Service", [
  [
    "[KC37] a service gets an address and its defaults",
    async (target) => {
      const made = await target.create(
        target.path("services"),
        service("a", { selector: { x: "y" } }),
      );
      const spec = { ...jsonOf(made["spec"]) };
      const address = text(made, "spec.clusterIP");
      assert.match(address, /^10\.0\.\d+\.\d+$/);
      assert.deepEqual(spec["clusterIPs"], [address]);
      delete spec["clusterIP"];
      delete spec["clusterIPs"];
      assert.deepEqual(spec, {
        ports: [{ name: "client", protocol: "TCP", port: 4500, targetPort: 4500 }],
        selector: { x: "y" },
        type: "ClusterIP",
        sessionAffinity: "None",
        ipFamilies: ["IPv4"],
        ipFamilyPolicy: "SingleStack",
        internalTrafficPolicy: "Cluster",
      });
      assert.deepEqual(made["status"], { loadBalancer: {} });
    },
  ],
  [
    "[KC37] a headless service has no address",
    async (target) => {
      const made = await target.create(
        target.path("services"),
        service("a", { clusterIP: "None", selector: { x: "y" } }),
      );
      assert.deepEqual(pick(made, "spec.clusterIP", "spec.clusterIPs"), {
        "spec.clusterIP": "None",
        "spec.clusterIPs": ["None"],
      });
    },
  ],
  [
    "[KC37] the address of a service cannot change",
    async (target) => {
      await target.create(target.path("services"), service("a"));
      const response = await target.send(
        "PATCH",
        target.path("services", "a"),
        { spec: { clusterIP: "10.0.99.99", clusterIPs: ["10.0.99.99"] } },
        { contentType: "application/merge-patch+json" },
      );
      assert.equal(response.status, 422);
    },
  ],
  [
    "[KC37] several ports need names",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "spec.ports[0].name", reason: "FieldValueRequired" },
            { field: "spec.ports[1].name", reason: "FieldValueRequired" },
          ],
        },
        "POST",
        target.path("services"),
        service("a", { ports: [{ port: 1 }, { port: 2 }] }),
      );
    },
  ],
  [
    "[KC37] two services have two addresses",
    async (target) => {
      const addresses = [];
      for (const name of ["a", "b"]) {
        const made = await target.create(target.path("services"), service(name));
        addresses.push(text(made, "spec.clusterIP"));
      }
      assert.notEqual(addresses[0], addresses[1]);
    },
  ],
]);
