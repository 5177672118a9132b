// The subresource `resize` of pods: what it changes, and what it refuses.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { node, pod } from "./samples.ts";
import { at, pick } from "./target.ts";
import type { Json, Refusal, Target } from "./target.ts";

const resources = (cpu: string, memory: string): Json => ({
  requests: { cpu, memory },
  limits: { cpu: "2", memory: "2Gi" },
});

const container = (more: Json): Json => ({ name: "main", image: "example/image:1", ...more });

/** A Burstable pod; the path of its subresource. */
async function made(target: Target, spec: Json = {}): Promise<string> {
  const containers = [container({ resources: resources("500m", "1Gi") })];
  await target.create(target.path("pods"), pod("a", { containers, ...spec }));
  return target.path("pods", "a", "resize");
}

const to = (more: Json, others: Json = {}): Json => ({
  spec: { containers: [{ name: "main", ...others, resources: more }] },
});

const contentType = "application/strategic-merge-patch+json";
const dryRun = { dryRun: "All" };
const cpuAndMemory = "spec.containers.0.resources";

function refused(target: Target, path: string, body: Json, refusal: Refusal): Promise<unknown> {
  return target.refused(refusal, "PATCH", path, body, { patch: "strategic" });
}

const invalid = (text: string): Refusal => ({
  status: 422,
  reason: "Invalid",
  message: `Pod "a" is invalid: ${text}`,
});

export const podResizeCases = capability("Resize of a pod", [
  [
    "[KC68] [KAS46] CPU and memory change, and the generation with them; the plain update refuses that",
    async (target) => {
      const path = await made(target);
      const wish = to({ requests: { cpu: "1" }, limits: { memory: "3Gi" } });
      await target.refused(
        { status: 422, reason: "Invalid", message: /pod updates may not change fields other than/ },
        "PATCH",
        target.path("pods", "a"),
        wish,
        { patch: "strategic" },
      );
      const resized = await target.patch("strategic", path, wish);
      assert.deepEqual(pick(resized, "kind", "metadata.generation", cpuAndMemory), {
        kind: "Pod",
        "metadata.generation": 2,
        [cpuAndMemory]: {
          requests: { cpu: "1", memory: "1Gi" },
          limits: { cpu: "2", memory: "3Gi" },
        },
      });
      assert.equal(at(await target.get(path), "metadata.generation"), 2);
    },
  ],
  [
    "[KC68] by merge patch, JSON patch and replacement, too",
    async (target) => {
      const path = await made(target);
      const containers = [container({ resources: resources("600m", "1Gi") })];
      const merged = await target.patch("merge", path, { spec: { containers } });
      assert.equal(at(merged, `${cpuAndMemory}.requests.cpu`), "600m");
      const operation = { op: "replace", path: "/spec/containers/0/resources/requests/cpu" };
      const body = [{ ...operation, value: "700m" }];
      const patched = await target.patch("json", path, body);
      assert.equal(at(patched, `${cpuAndMemory}.requests.cpu`), "700m");
      const spec = at(patched, "spec") as Json;
      const again = { ...spec, containers: [container({ resources: resources("800m", "1Gi") })] };
      const replaced = await target.replace(path, { ...patched, spec: again });
      assert.equal(at(replaced, `${cpuAndMemory}.requests.cpu`), "800m");
    },
  ],
  [
    "[KC68] everything else that is sent is ignored: metadata, image, other fields of the spec",
    async (target) => {
      const path = await made(target);
      const wish = to({ requests: { cpu: "1" } }, { image: "example/image:2" });
      const metadata = { annotations: { a: "1" }, labels: { l: "1" } };
      const spec = { ...(wish["spec"] as Json), activeDeadlineSeconds: 5 };
      const resized = await target.patch("strategic", path, { metadata, spec });
      assert.deepEqual(
        pick(
          resized,
          ...["metadata.annotations", "metadata.labels", "spec.activeDeadlineSeconds"],
          ...["spec.containers.0.image", `${cpuAndMemory}.requests.cpu`],
        ),
        {
          "metadata.annotations": undefined,
          "metadata.labels": undefined,
          "spec.activeDeadlineSeconds": undefined,
          "spec.containers.0.image": "example/image:1",
          [`${cpuAndMemory}.requests.cpu`]: "1",
        },
      );
    },
  ],
  [
    "[KC68] the same amount in another form changes nothing",
    async (target) => {
      const path = await made(target);
      const before = await target.get(path);
      const same = await target.patch("strategic", path, to({ requests: { cpu: "0.5" } }));
      const fields = ["metadata.generation", "metadata.resourceVersion", cpuAndMemory];
      assert.deepEqual(pick(same, ...fields), pick(before, ...fields));
    },
  ],
  [
    "[KC68] another quality of service class is refused",
    async (target) => {
      const path = await made(target);
      const wish = to({ requests: { cpu: "2", memory: "2Gi" } });
      const text =
        'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing';
      await refused(target, path, wish, invalid(text));
    },
  ],
  [
    "[KC68] a memory limit may become smaller",
    async (target) => {
      const path = await made(target);
      const resized = await target.patch("strategic", path, to({ limits: { memory: "1536Mi" } }));
      assert.equal(at(resized, `${cpuAndMemory}.limits.memory`), "1536Mi");
    },
  ],
  [
    "[KC68] requests and limits cannot be taken away",
    async (target) => {
      const path = await made(target);
      const text =
        "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed";
      await refused(target, path, to({ limits: { cpu: null } }), invalid(text));
    },
  ],
  [
    "[KC68] a limit below the request is refused",
    async (target) => {
      const path = await made(target);
      const text =
        'spec.containers[0].resources.requests: Invalid value: "1Gi": must be less than or equal to memory limit of 512Mi';
      await refused(target, path, to({ limits: { memory: "512Mi" } }), invalid(text));
    },
  ],
  [
    "[KC68] other resources are refused",
    async (target) => {
      const path = await made(target);
      const wish = to({ requests: { "ephemeral-storage": "1Gi" } });
      const text = "spec: Forbidden: only cpu and memory resources are mutable";
      await refused(target, path, wish, invalid(text));
    },
  ],
  [
    "[KC68] containers cannot come, go or change their order",
    async (target) => {
      const path = await made(target);
      const spec = { containers: [{ name: "other", image: "example/image:1" }] };
      const text = "spec.containers: Forbidden: containers may not be added or removed on resize";
      await refused(target, path, { spec }, invalid(text));
    },
  ],
  [
    "[KC68] a kubelet that does not say with what it runs a container cannot resize it",
    async (target) => {
      const path = await made(target);
      const startedAt = "2026-01-01T00:00:00Z";
      const running = { name: "main", image: "x", imageID: "", ready: true, restartCount: 0 };
      const status = (more: Json): Json => ({
        status: { containerStatuses: [{ ...running, state: { running: { startedAt } }, ...more }] },
      });
      const statusPath = target.path("pods", "a", "status");
      await target.patch("strategic", statusPath, status({}));
      const wish = to({ requests: { cpu: "1" } });
      const text = "spec: Forbidden: Pod running on node without support for resize";
      await refused(target, path, wish, invalid(text));
      await target.patch("strategic", statusPath, status({ resources: {} }));
      await target.patch("strategic", path, wish);
    },
  ],
  [
    "[KC68] a pod cannot ask for more than its node has",
    async (target) => {
      const nodeName = target.unique("n");
      await target.create(target.path("nodes"), node(nodeName));
      const path = await made(target, { nodeName });
      const wish = to({ requests: { cpu: "5" }, limits: { cpu: "6" } });
      const refusal = {
        status: 403,
        reason: "Forbidden",
        message:
          'pods "a" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 5000, allocatable: 4000',
      };
      // The real server learns of nodes by a watch.
      const first = await target.eventually("the server knows the node", async () => {
        const response = await target.send("PATCH", path, wish, { contentType, query: dryRun });
        return JSON.stringify(response.body).includes("not found") ? undefined : response;
      });
      assert.equal(first.status, 403);
      await refused(target, path, wish, refusal);
      await target.patch("strategic", path, to({ requests: { cpu: "1" } }));
    },
  ],
  [
    "[KC68] another uid, another version and a pod that is not there are told apart from a subresource that is not",
    async (target) => {
      const path = await made(target);
      const wish = to({ requests: { cpu: "1" } });
      await refused(
        target,
        path,
        { ...wish, metadata: { resourceVersion: "1" } },
        { status: 409, reason: "Conflict" },
      );
      await refused(
        target,
        path,
        { ...wish, metadata: { uid: "11111111-1111-1111-1111-111111111111" } },
        invalid(
          'metadata.uid: Invalid value: "11111111-1111-1111-1111-111111111111": field is immutable',
        ),
      );
      const message = 'pods "b" not found';
      const missing = { status: 404, reason: "NotFound", message };
      await refused(target, target.path("pods", "b", "resize"), wish, missing);
      const unknown = "the server could not find the requested resource";
      const noSuch = { status: 404, reason: "NotFound", message: unknown };
      await refused(target, target.path("pods", "a", "resizes"), wish, noSuch);
    },
  ],
]);
