// Deletion: finalizers, grace periods and what an object looks like while it goes.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, node, pod } from "./samples.ts";
import { at, pick, text } from "./target.ts";
import type { Json, Target } from "./target.ts";
import { installWidgets } from "./widget.ts";

const hold = "example.com/hold";

async function heldMap(target: Target, finalizers: string[] = [hold]): Promise<string> {
  await target.create(target.path("configmaps"), configMap("a", {}, { finalizers }));
  return target.path("configmaps", "a");
}

export const finalizerCases = capability("finalizers", [
  [
    "[KC17] a deleted object with a finalizer stays, marked",
    async (target) => {
      const path = await heldMap(target);
      const answer = await target.delete(path);
      assert.equal(answer["kind"], "ConfigMap");
      const marked = await target.get(path);
      assert.match(text(marked, "metadata.deletionTimestamp"), /Z$/);
      assert.equal(at(marked, "metadata.deletionGracePeriodSeconds"), 0);
    },
  ],
  [
    "[KC17] removing the last finalizer removes the object",
    async (target) => {
      const path = await heldMap(target, [hold, "example.com/other"]);
      await target.delete(path);
      await target.patch("merge", path, { metadata: { finalizers: [hold] } });
      await target.get(path);
      await target.patch("merge", path, { metadata: { finalizers: null } });
      await target.refused({ status: 404, reason: "NotFound" }, "GET", path);
    },
  ],
  [
    "[KC17] no finalizer can be added to an object that is being deleted",
    async (target) => {
      const path = await heldMap(target);
      await target.delete(path);
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "metadata.finalizers", reason: "FieldValueForbidden" }],
          message: /no new finalizers can be added if the object is being deleted/,
        },
        "PATCH",
        path,
        { metadata: { finalizers: [hold, "example.com/new"] } },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC17] other fields of an object that is being deleted can still change",
    async (target) => {
      const path = await heldMap(target);
      await target.delete(path);
      const changed = await target.patch("merge", path, { data: { b: "1" } });
      assert.deepEqual(changed["data"], { b: "1" });
    },
  ],
  [
    "[KC17] the deletion mark cannot be taken back and a second deletion changes nothing",
    async (target) => {
      const path = await heldMap(target);
      await target.delete(path);
      const marked = await target.get(path);
      await target.delete(path);
      const mark = ["metadata.deletionTimestamp", "metadata.resourceVersion"];
      assert.deepEqual(pick(await target.get(path), ...mark), pick(marked, ...mark));
      await target.patch("merge", path, { metadata: { deletionTimestamp: null } });
      assert.deepEqual(pick(await target.get(path), ...mark), pick(marked, ...mark));
    },
  ],
  [
    "[KC17] a custom resource's generation grows with its deletion mark",
    async (target) => {
      const kind = await installWidgets(target);
      await target.create(kind.path, kind.widget("a", {}, { finalizers: [hold] }));
      await target.delete(kind.at("a"));
      const marked = await target.get(kind.at("a"));
      assert.equal(at(marked, "metadata.generation"), 2);
    },
  ],
  [
    "[KC17] a watch sees the mark as a change and the removal as a deletion",
    async (target) => {
      const path = await heldMap(target);
      const list = await target.get(target.path("configmaps"));
      const watching = target.watch(target.path("configmaps"), {
        resourceVersion: text(list, "metadata.resourceVersion"),
      });
      await target.delete(path);
      await target.patch("merge", path, { metadata: { finalizers: null } });
      const events = await watching.until(2);
      await watching.stop();
      assert.deepEqual(
        events.map((event) => event.type),
        ["MODIFIED", "DELETED"],
      );
    },
  ],
]);

async function boundPod(target: Target, spec: Json = {}): Promise<string> {
  const name = target.unique("node");
  await target.create(target.path("nodes"), node(name));
  await target.create(target.path("pods"), pod("a", { nodeName: name, ...spec }));
  return target.path("pods", "a");
}

export const gracePeriodCases = capability("deletionTimestamp and grace period", [
  [
    "[KC18] a pod on a node gets its own grace period of 30 s",
    async (target) => {
      const path = await boundPod(target);
      const answer = await target.delete(path);
      assert.deepEqual(pick(answer, "kind", "metadata.deletionGracePeriodSeconds"), {
        kind: "Pod",
        "metadata.deletionGracePeriodSeconds": 30,
      });
      const marked = await target.get(path);
      const seconds =
        (Date.parse(text(marked, "metadata.deletionTimestamp")) -
          Date.parse(text(marked, "metadata.creationTimestamp"))) /
        1000;
      // The mark lies one grace period after the deletion, which came soon after the creation.
      assert.ok(seconds >= 30, `${seconds} s`);
      assert.equal(at(marked, "metadata.generation"), 2);
    },
  ],
  [
    "[KC18] the pod's own termination period is the default",
    async (target) => {
      const path = await boundPod(target, { terminationGracePeriodSeconds: 7 });
      await target.delete(path);
      assert.equal(at(await target.get(path), "metadata.deletionGracePeriodSeconds"), 7);
    },
  ],
  [
    "[KC18] a deletion may give another grace period",
    async (target) => {
      const path = await boundPod(target);
      await target.delete(path, { gracePeriodSeconds: 5 });
      assert.equal(at(await target.get(path), "metadata.deletionGracePeriodSeconds"), 5);
    },
  ],
  [
    "[KC18] grace period zero removes the pod at once",
    async (target) => {
      const path = await boundPod(target);
      await target.delete(path, { gracePeriodSeconds: 0 });
      await target.refused({ status: 404, reason: "NotFound" }, "GET", path);
    },
  ],
  [
    "[KC18] a pod that is on no node goes at once",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      await target.delete(target.path("pods", "a"));
      await target.refused({ status: 404, reason: "NotFound" }, "GET", target.path("pods", "a"));
    },
  ],
  [
    "[KC18] a finished pod goes at once",
    async (target) => {
      const path = await boundPod(target);
      await target.patch("merge", `${path}/status`, { status: { phase: "Succeeded" } });
      await target.delete(path);
      await target.refused({ status: 404, reason: "NotFound" }, "GET", path);
    },
  ],
  [
    "[KC18] a second deletion may shorten the period and not prolong it",
    async (target) => {
      const path = await boundPod(target);
      await target.delete(path, { gracePeriodSeconds: 20 });
      await target.delete(path, { gracePeriodSeconds: 40 });
      assert.equal(at(await target.get(path), "metadata.deletionGracePeriodSeconds"), 20);
      await target.delete(path, { gracePeriodSeconds: 10 });
      assert.equal(at(await target.get(path), "metadata.deletionGracePeriodSeconds"), 10);
      await target.delete(path, { gracePeriodSeconds: 0 });
      await target.refused({ status: 404, reason: "NotFound" }, "GET", path);
    },
  ],
  [
    "[KC18] kinds without a grace period answer with the status of a finished deletion",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const answer = await target.delete(target.path("configmaps", "a"));
      assert.deepEqual(pick(answer, "kind", "status", "details"), {
        kind: "Status",
        status: "Success",
        details: { name: "a", kind: "configmaps", uid: at(made, "metadata.uid") },
      });
    },
  ],
]);
