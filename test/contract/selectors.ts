// Lists by label and by field.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, node, pod } from "./samples.ts";
import type { Target } from "./target.ts";

async function labelledMaps(target: Target): Promise<void> {
  const labels = [{ app: "x", tier: "1" }, { app: "x" }, { app: "y", tier: "2" }, undefined];
  for (const [index, each] of labels.entries()) {
    await target.create(target.path("configmaps"), configMap(`m${index}`, {}, { labels: each }));
  }
}

function byLabel(target: Target, labelSelector: string): Promise<string[]> {
  return target.names(target.path("configmaps"), { labelSelector });
}

export const labelSelectorCases = capability("label selectors", [
  [
    "[KC6] equality and inequality",
    async (target) => {
      await labelledMaps(target);
      assert.deepEqual(await byLabel(target, "app=x"), ["m0", "m1"]);
      assert.deepEqual(await byLabel(target, "app==y"), ["m2"]);
      assert.deepEqual(await byLabel(target, "app!=x"), ["m2", "m3"]);
    },
  ],
  [
    "[KC6] sets",
    async (target) => {
      await labelledMaps(target);
      assert.deepEqual(await byLabel(target, "app in (x, y)"), ["m0", "m1", "m2"]);
      assert.deepEqual(await byLabel(target, "tier notin (1)"), ["m1", "m2", "m3"]);
    },
  ],
  [
    "[KC6] presence and absence",
    async (target) => {
      await labelledMaps(target);
      assert.deepEqual(await byLabel(target, "tier"), ["m0", "m2"]);
      assert.deepEqual(await byLabel(target, "!tier"), ["m1", "m3"]);
    },
  ],
  [
    "[KC6] several requirements hold together",
    async (target) => {
      await labelledMaps(target);
      assert.deepEqual(await byLabel(target, "app=x,tier=1"), ["m0"]);
      assert.deepEqual(await byLabel(target, "app,tier notin (1),app!=x"), ["m2"]);
    },
  ],
  [
    "[KC6] a selector that cannot be read is a bad request",
    async (target) => {
      await target.refused(
        { status: 400, reason: "BadRequest", message: /unable to parse requirement/ },
        "GET",
        target.path("configmaps"),
        undefined,
        { query: { labelSelector: "app in x" } },
      );
    },
  ],
  [
    "[KC6] a collection is deleted by label",
    async (target) => {
      await labelledMaps(target);
      const query = { labelSelector: "app=x" };
      await target.expect(200, "DELETE", target.path("configmaps"), undefined, { query });
      assert.deepEqual(await target.names(target.path("configmaps")), ["m2", "m3"]);
    },
  ],
]);

export const fieldSelectorCases = capability("field selectors", [
  [
    "[KC7] every kind can be selected by name and namespace",
    async (target) => {
      for (const name of ["a", "b"]) {
        await target.create(target.path("configmaps"), configMap(name));
      }
      const path = target.path("configmaps");
      const select = (fieldSelector: string): Promise<string[]> =>
        target.names(path, { fieldSelector });
      assert.deepEqual(await select("metadata.name=b"), ["b"]);
      assert.deepEqual(await select("metadata.name!=b"), ["a"]);
      assert.deepEqual(await select("metadata.namespace=elsewhere"), []);
    },
  ],
  [
    "[KC7] pods by node and phase",
    async (target) => {
      const elsewhere = target.unique("n");
      await target.create(target.path("pods"), pod("a", { nodeName: elsewhere }));
      await target.create(target.path("pods"), pod("b"));
      const select = (fieldSelector: string): Promise<string[]> =>
        target.names(target.path("pods"), { fieldSelector });
      assert.deepEqual(await select(`spec.nodeName=${elsewhere}`), ["a"]);
      assert.deepEqual(await select("spec.nodeName="), ["b"]);
      assert.deepEqual(await select("status.phase=Pending"), ["a", "b"]);
      assert.deepEqual(await select("status.phase!=Pending,spec.nodeName=x"), []);
    },
  ],
  [
    "[KC7] a field that cannot be selected by is a bad request",
    async (target) => {
      await target.refused(
        {
          status: 400,
          reason: "BadRequest",
          message:
            '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
        },
        "GET",
        target.path("configmaps"),
        undefined,
        { query: { fieldSelector: "data.a=1" } },
      );
    },
  ],
  [
    "[KC7] nodes by whether they take pods",
    async (target) => {
      const labels = { set: target.namespace };
      const [closed, open] = [target.unique("closed"), target.unique("open")];
      await target.create(target.path("nodes"), node(closed, labels, {}, { unschedulable: true }));
      await target.create(target.path("nodes"), node(open, labels));
      const select = (fieldSelector: string): Promise<string[]> =>
        target.names(target.path("nodes"), {
          fieldSelector,
          labelSelector: `set=${target.namespace}`,
        });
      assert.deepEqual(await select("spec.unschedulable=true"), [closed]);
      assert.deepEqual(await select("spec.unschedulable=false"), [open]);
    },
  ],
  [
    "[KC7] events by the object they speak of",
    async (target) => {
      for (const name of ["a", "b"]) {
        await target.create(target.path("events"), {
          apiVersion: "v1",
          kind: "Event",
          metadata: { name },
          involvedObject: { kind: "Pod", name, namespace: target.namespace },
          reason: name === "a" ? "Started" : "Killed",
          type: "Normal",
        });
      }
      const select = (fieldSelector: string): Promise<string[]> =>
        target.names(target.path("events"), { fieldSelector });
      assert.deepEqual(await select("involvedObject.name=a"), ["a"]);
      assert.deepEqual(await select("involvedObject.kind=Pod,reason=Killed"), ["b"]);
      assert.deepEqual(await select("type=Warning"), []);
    },
  ],
]);
