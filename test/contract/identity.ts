// What the server gives every stored object: uid, creation time, resource version and generation.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, deployment, pod } from "./samples.ts";
import { at, pick, text } from "./target.ts";

export const identityCases = capability("resourceVersion, generation, uid", [
  [
    "[KC1] a created object has a uid, a creation time and a resource version",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      assert.match(text(made, "metadata.uid"), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.match(text(made, "metadata.resourceVersion"), /^[1-9]\d*$/);
      assert.match(text(made, "metadata.creationTimestamp"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.deepEqual(pick(made, "kind", "apiVersion", "metadata.namespace"), {
        kind: "ConfigMap",
        apiVersion: "v1",
        "metadata.namespace": target.namespace,
      });
    },
  ],
  [
    "[KC1] a change gives a higher resource version and keeps uid and creation time",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      const changed = await target.patch("merge", path, { data: { a: "2" } });
      const stable = ["metadata.uid", "metadata.creationTimestamp"];
      assert.deepEqual(pick(changed, ...stable), pick(made, ...stable));
      const versions = [made, changed].map((object) =>
        Number(text(object, "metadata.resourceVersion")),
      );
      assert.ok((versions[0] ?? 0) < (versions[1] ?? 0));
    },
  ],
  [
    "[KC1] a write that changes nothing keeps the resource version",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      const same = await target.replace(path, made);
      assert.equal(at(same, "metadata.resourceVersion"), at(made, "metadata.resourceVersion"));
      const patched = await target.patch("merge", path, { data: { a: "1" } });
      assert.equal(at(patched, "metadata.resourceVersion"), at(made, "metadata.resourceVersion"));
    },
  ],
  [
    "[KC1] a deployment's generation counts changes of its spec only",
    async (target) => {
      const made = await target.create(
        target.path("deployments"),
        deployment("a", { replicas: 0 }),
      );
      const path = target.path("deployments", "a");
      const labelled = await target.patch("merge", path, { metadata: { labels: { x: "y" } } });
      const paused = await target.patch("merge", path, { spec: { minReadySeconds: 5 } });
      const generations = [made, labelled, paused].map((each) => at(each, "metadata.generation"));
      assert.deepEqual(generations, [1, 1, 2]);
    },
  ],
  [
    "[KC1] a config map has no generation and a pod's generation starts at one",
    async (target) => {
      const map = await target.create(target.path("configmaps"), configMap("a"));
      const made = await target.create(target.path("pods"), pod("a"));
      assert.equal(at(map, "metadata.generation"), undefined);
      assert.equal(at(made, "metadata.generation"), 1);
    },
  ],
  [
    "[KC1] values that only the server sets are ignored at creation",
    async (target) => {
      const sent = configMap("a", {}, { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z" });
      const made = await target.create(target.path("configmaps"), sent);
      assert.notEqual(at(made, "metadata.uid"), "mine");
      assert.doesNotMatch(text(made, "metadata.creationTimestamp"), /^2001/);
    },
  ],
  [
    "[KC1] a resource version may not be given at creation",
    async (target) => {
      await target.refused(
        {
          status: 500,
          reason: "",
          message: "resourceVersion should not be set on objects to be created",
        },
        "POST",
        target.path("configmaps"),
        configMap("a", {}, { resourceVersion: "5" }),
      );
    },
  ],
  [
    "[KC1] a deleted and recreated object has another uid",
    async (target) => {
      const first = await target.create(target.path("configmaps"), configMap("a"));
      await target.delete(target.path("configmaps", "a"));
      const second = await target.create(target.path("configmaps"), configMap("a"));
      assert.notEqual(at(first, "metadata.uid"), at(second, "metadata.uid"));
    },
  ],
]);
