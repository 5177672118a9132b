// Built-in kinds around workloads: eviction, disruption budgets and deployments.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { deployment, node, pod } from "./samples.ts";
import { asList, at, itemsOf, pick, text } from "./target.ts";
import type { Json, Target } from "./target.ts";

function budget(name: string, spec: Json): Json {
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name }, spec };
}

function eviction(name: string, extra: Json = {}): Json {
  return { apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, ...extra };
}

/** Pods that count as healthy: on a node, running and ready. */
async function readyPods(target: Target, count: number): Promise<void> {
  const name = target.unique("node");
  await target.create(target.path("nodes"), node(name));
  for (let index = 0; index < count; index += 1) {
    const labels = { app: "db" };
    await target.create(target.path("pods"), pod(`p${index}`, { nodeName: name }, { labels }));
    await target.patch("strategic", target.path("pods", `p${index}`, "status"), {
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
  }
}

const selector = { matchLabels: { app: "db" } };

export const evictionCases = capability(
  "Pod eviction",
  [
    [
      "[KC42] a pod without a budget is evicted, with its grace period",
      async (target) => {
        await readyPods(target, 1);
        const answer = await target.create(target.path("pods", "p0", "eviction"), eviction("p0"));
        assert.deepEqual(pick(answer, "kind", "status"), { kind: "Status", status: "Success" });
        const marked = await target.get(target.path("pods", "p0"));
        assert.equal(at(marked, "metadata.deletionGracePeriodSeconds"), 30);
      },
    ],
    [
      "[KC42] a budget that allows nothing refuses with 429",
      async (target) => {
        await readyPods(target, 1);
        await target.create(
          target.path("poddisruptionbudgets"),
          budget("b", { selector, minAvailable: 1 }),
        );
        await target.becomes(target.path("poddisruptionbudgets", "b"), {
          "status.currentHealthy": 1,
        });
        const body = await target.refused(
          {
            status: 429,
            reason: "TooManyRequests",
            message: "Cannot evict pod as it would violate the pod's disruption budget.",
          },
          "POST",
          target.path("pods", "p0", "eviction"),
          eviction("p0"),
        );
        assert.deepEqual(at(body, "details.causes"), [
          {
            reason: "DisruptionBudget",
            message: "The disruption budget b needs 1 healthy pods and has 1 currently",
          },
        ]);
        const pod0 = await target.get(target.path("pods", "p0"));
        assert.equal(at(pod0, "metadata.deletionTimestamp"), undefined);
      },
    ],
    [
      "[KC42] an eviction uses the budget up",
      async (target) => {
        await readyPods(target, 3);
        const path = target.path("poddisruptionbudgets", "b");
        await target.create(
          target.path("poddisruptionbudgets"),
          budget("b", { selector, minAvailable: 2 }),
        );
        await target.becomes(path, { "status.disruptionsAllowed": 1 });
        await target.create(target.path("pods", "p0", "eviction"), eviction("p0"));
        const used = await target.get(path);
        assert.equal(at(used, "status.disruptionsAllowed"), 0);
        await target.refused(
          { status: 429, reason: "TooManyRequests" },
          "POST",
          target.path("pods", "p1", "eviction"),
          eviction("p1"),
        );
      },
    ],
    [
      "[KC42] an evicted pod tells that it was evicted, and a dry eviction does not",
      async (target) => {
        await readyPods(target, 2);
        const dry = eviction("p1", { deleteOptions: { dryRun: ["All"] } });
        await target.create(target.path("pods", "p1", "eviction"), dry);
        await target.create(target.path("pods", "p0", "eviction"), eviction("p0"));
        const told = async (name: string): Promise<unknown> => {
          const found = await target.get(target.path("pods", name));
          return asList(at(found, "status.conditions")).find(
            (one) => text(one, "type") === "DisruptionTarget",
          );
        };
        assert.deepEqual(pick(await told("p0"), "status", "reason", "message"), {
          status: "True",
          reason: "EvictionByEvictionAPI",
          message: "Eviction API: evicting",
        });
        assert.equal(await told("p1"), undefined);
      },
    ],
    [
      "[KC42] with two budgets over a pod every eviction is an error",
      async (target) => {
        await readyPods(target, 2);
        for (const name of ["a", "b"]) {
          const path = target.path("poddisruptionbudgets");
          await target.create(path, budget(name, { selector, minAvailable: 0 }));
          await target.becomes(target.path("poddisruptionbudgets", name), {
            "status.disruptionsAllowed": 2,
          });
        }
        await target.refused(
          {
            status: 500,
            reason: "",
            message:
              "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
          },
          "POST",
          target.path("pods", "p0", "eviction"),
          eviction("p0"),
        );
      },
    ],
    [
      "[KC42] a pod that is not ready goes when the others are enough, and only then",
      async (target) => {
        await readyPods(target, 3);
        await target.patch("strategic", target.path("pods", "p2", "status"), {
          status: { conditions: [{ type: "Ready", status: "False" }] },
        });
        const path = target.path("poddisruptionbudgets", "b");
        const unhealthyPodEvictionPolicy = "IfHealthyBudget";
        await target.create(
          target.path("poddisruptionbudgets"),
          budget("b", { selector, minAvailable: 3, unhealthyPodEvictionPolicy }),
        );
        await target.becomes(path, { "status.currentHealthy": 2, "status.desiredHealthy": 3 });
        const evictedPath = target.path("pods", "p2", "eviction");
        const tooMany = { status: 429, reason: "TooManyRequests" };
        await target.refused(tooMany, "POST", evictedPath, eviction("p2"));
        await target.patch("merge", path, { spec: { minAvailable: 2 } });
        await target.becomes(path, { "status.desiredHealthy": 2, "status.observedGeneration": 2 });
        await target.create(evictedPath, eviction("p2"));
        const evicted = await target.get(target.path("pods", "p2"));
        assert.notEqual(at(evicted, "metadata.deletionTimestamp"), undefined);
      },
    ],
    [
      "[KC42] a pod that is not there cannot be evicted",
      async (target) => {
        await target.refused(
          { status: 404, reason: "NotFound", message: 'pods "p0" not found' },
          "POST",
          target.path("pods", "p0", "eviction"),
          eviction("p0"),
        );
      },
    ],
    [
      "[KC42] a dry eviction evicts nothing",
      async (target) => {
        await readyPods(target, 1);
        await target.create(
          target.path("pods", "p0", "eviction"),
          eviction("p0", { deleteOptions: { dryRun: ["All"] } }),
        );
        const pod0 = await target.get(target.path("pods", "p0"));
        assert.equal(at(pod0, "metadata.deletionTimestamp"), undefined);
      },
    ],
  ],
  "controller-manager",
);

export const disruptionBudgetCases = capability(
  "PodDisruptionBudget",
  [
    [
      "[KC43] the status counts what is there, healthy and needed",
      async (target) => {
        await readyPods(target, 3);
        await target.patch("strategic", target.path("pods", "p2", "status"), {
          status: { conditions: [{ type: "Ready", status: "False" }] },
        });
        await target.create(
          target.path("poddisruptionbudgets"),
          budget("b", { selector, minAvailable: 1 }),
        );
        await target.becomes(target.path("poddisruptionbudgets", "b"), {
          "status.currentHealthy": 2,
          "status.desiredHealthy": 1,
          "status.disruptionsAllowed": 1,
          "status.expectedPods": 3,
          "status.observedGeneration": 1,
        });
      },
    ],
    [
      "[KC43] a budget may say what can be missing only of controlled pods",
      async (target) => {
        const made = await target.create(
          target.path("poddisruptionbudgets"),
          budget("b", { selector, maxUnavailable: "30%" }),
        );
        assert.deepEqual(pick(made, "spec", "metadata.generation"), {
          spec: { selector, maxUnavailable: "30%" },
          "metadata.generation": 1,
        });
      },
    ],
    [
      "[KC43] a budget cannot ask for both",
      async (target) => {
        await target.refused(
          { status: 422, reason: "Invalid", causes: [{ field: "spec" }] },
          "POST",
          target.path("poddisruptionbudgets"),
          budget("b", { selector, maxUnavailable: 1, minAvailable: 1 }),
        );
      },
    ],
    [
      "[KC43] a budget can be changed",
      async (target) => {
        await target.create(
          target.path("poddisruptionbudgets"),
          budget("b", { selector, minAvailable: 1 }),
        );
        const patched = await target.patch("merge", target.path("poddisruptionbudgets", "b"), {
          spec: { minAvailable: 2 },
        });
        assert.equal(at(patched, "metadata.generation"), 2);
      },
    ],
  ],
  "controller-manager",
);

async function replicaSetsOf(target: Target, name: string): Promise<Json[]> {
  const query = { labelSelector: `app=${name}` };
  const list = await target.get(target.path("replicasets"), query);
  return itemsOf(list);
}

export const deploymentCases = capability(
  "Deployment",
  [
    [
      "[KC44] a deployment gets its defaults",
      async (target) => {
        const made = await target.create(target.path("deployments"), deployment("a"));
        assert.deepEqual(
          pick(
            made["spec"],
            "replicas",
            "strategy",
            "revisionHistoryLimit",
            "progressDeadlineSeconds",
            "template.spec.restartPolicy",
            "template.spec.schedulerName",
          ),
          {
            replicas: 1,
            strategy: {
              type: "RollingUpdate",
              rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" },
            },
            revisionHistoryLimit: 10,
            progressDeadlineSeconds: 600,
            "template.spec.restartPolicy": "Always",
            "template.spec.schedulerName": "default-scheduler",
          },
        );
      },
    ],
    [
      "[KC44] its controller makes a replica set and that makes the pods",
      async (target) => {
        await target.create(target.path("deployments"), deployment("a", { replicas: 2 }));
        const pods = await target.eventually("two pods", async () => {
          const list = await target.get(target.path("pods"), { labelSelector: "app=a" });
          return itemsOf(list).length === 2 ? itemsOf(list) : undefined;
        });
        const [set] = await replicaSetsOf(target, "a");
        assert.deepEqual(
          pick(at(set, "metadata.ownerReferences.0"), "kind", "name", "controller"),
          {
            kind: "Deployment",
            name: "a",
            controller: true,
          },
        );
        const hash = text(set, 'metadata.labels."pod-template-hash"');
        assert.equal(at(set, "metadata.name"), `a-${hash}`);
        for (const each of pods) {
          assert.match(text(each, "metadata.name"), new RegExp(`^a-${hash}-[a-z0-9]{5}$`));
          assert.deepEqual(at(each, "metadata.labels"), { app: "a", "pod-template-hash": hash });
          assert.equal(at(each, "metadata.ownerReferences.0.kind"), "ReplicaSet");
        }
      },
    ],
    [
      "[KC44] the status follows the pods",
      async (target) => {
        await target.create(target.path("deployments"), deployment("a"));
        const [name = ""] = await target.eventually("the pod", async () => {
          const names = await target.names(target.path("pods"));
          return names.length === 1 ? names : undefined;
        });
        const path = target.path("deployments", "a");
        await target.becomes(path, {
          "status.observedGeneration": 1,
          "status.replicas": 1,
          "status.unavailableReplicas": 1,
          "status.availableReplicas": undefined,
        });
        await target.patch("strategic", target.path("pods", name, "status"), {
          status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
        });
        const ready = await target.becomes(path, {
          "status.readyReplicas": 1,
          "status.availableReplicas": 1,
          "status.unavailableReplicas": undefined,
        });
        const available = asList(at(ready, "status.conditions")).find(
          (condition) => at(condition, "type") === "Available",
        );
        assert.deepEqual(pick(available, "status", "reason"), {
          status: "True",
          reason: "MinimumReplicasAvailable",
        });
      },
    ],
    [
      "[KC44] a deleted pod is replaced",
      async (target) => {
        await target.create(target.path("deployments"), deployment("a"));
        const one = async (not: string): Promise<string> =>
          target.eventually("another pod", async () => {
            const names = await target.names(target.path("pods"));
            return names.length === 1 && names[0] !== not ? names[0] : undefined;
          });
        const first = await one("");
        await target.delete(target.path("pods", first), { gracePeriodSeconds: 0 });
        assert.notEqual(await one(first), first);
      },
    ],
    [
      "[KC44] another template gives another replica set, another scale does not",
      async (target) => {
        await target.create(target.path("deployments"), deployment("a"));
        const sets = (count: number): Promise<Json[]> =>
          target.eventually(`${count} replica sets`, async () => {
            const found = await replicaSetsOf(target, "a");
            return found.length === count ? found : undefined;
          });
        await sets(1);
        const path = target.path("deployments", "a");
        await target.patch("merge", path, { spec: { replicas: 2 } });
        await target.becomes(path, { "status.replicas": 2, "status.observedGeneration": 2 });
        await sets(1);
        await target.patch("strategic", path, {
          spec: {
            template: { spec: { containers: [{ name: "main", image: "example/image:2" }] } },
          },
        });
        await sets(2);
        await target.becomes(path, {
          'metadata.annotations."deployment.kubernetes.io/revision"': "2",
        });
      },
    ],
    [
      "[KC44] deleting a deployment takes everything with it",
      async (target) => {
        await target.create(target.path("deployments"), deployment("a"));
        await target.eventually("the pod", async () => {
          const names = await target.names(target.path("pods"));
          return names.length === 1 ? true : undefined;
        });
        await target.delete(target.path("deployments", "a"), { propagationPolicy: "Background" });
        await target.eventually("nothing left", async () => {
          const names = await target.names(target.path("pods"));
          const sets = await replicaSetsOf(target, "a");
          return names.length + sets.length === 0 ? true : undefined;
        });
      },
    ],
    [
      "[KC44] a changed annotation counts as a change of the deployment, a label does not",
      async (target) => {
        await target.create(target.path("deployments"), deployment("a", { replicas: 0 }));
        const path = target.path("deployments", "a");
        const labelled = await target.patch("merge", path, { metadata: { labels: { x: "1" } } });
        const noted = await target.patch("merge", path, { metadata: { annotations: { x: "1" } } });
        assert.deepEqual(
          [at(labelled, "metadata.generation"), at(noted, "metadata.generation")],
          [1, 2],
        );
      },
    ],
    [
      "[KC44] the selector cannot change",
      async (target) => {
        await target.create(target.path("deployments"), deployment("a", { replicas: 0 }));
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            causes: [{ field: "spec.selector", reason: "FieldValueInvalid" }],
            message: /field is immutable/,
          },
          "PATCH",
          target.path("deployments", "a"),
          {
            spec: {
              selector: { matchLabels: { app: "a", more: "x" } },
              template: { metadata: { labels: { app: "a", more: "x" } } },
            },
          },
          { patch: "merge" },
        );
      },
    ],
  ],
  "controller-manager",
);
