// Optimistic concurrency: a write based on an old version, or on another object, is refused.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap } from "./samples.ts";
import { at, jsonOf, text } from "./target.ts";

const modified =
  "the object has been modified; please apply your changes to the latest version and try again";

export const concurrencyCases = capability("optimistic concurrency", [
  [
    "[KC2] a replacement with an old resource version is a conflict",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      await target.patch("merge", path, { data: { a: "2" } });
      const body = await target.refused(
        {
          status: 409,
          reason: "Conflict",
          message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
        },
        "PUT",
        path,
        { ...made, data: { a: "3" } },
      );
      assert.deepEqual(body["details"], { name: "a", kind: "configmaps" });
    },
  ],
  [
    "[KC2] a replacement without a resource version overwrites",
    async (target) => {
      await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      const changed = await target.replace(path, configMap("a", { b: "2" }));
      assert.deepEqual(changed["data"], { b: "2" });
    },
  ],
  [
    "[KC2] a patch that names an old resource version is a conflict",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      await target.patch("merge", path, { data: { a: "2" } });
      const resourceVersion = text(made, "metadata.resourceVersion");
      await target.refused(
        {
          status: 409,
          reason: "Conflict",
          message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
        },
        "PATCH",
        path,
        { metadata: { resourceVersion }, data: { a: "3" } },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC2] a patch that names the present resource version is applied",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const resourceVersion = text(made, "metadata.resourceVersion");
      const changed = await target.patch("merge", target.path("configmaps", "a"), {
        metadata: { resourceVersion },
        data: { a: "3" },
      });
      assert.deepEqual(changed["data"], { a: "3" });
    },
  ],
  [
    "[KC2] a replacement with another uid is a conflict",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const uid = "00000000-0000-4000-8000-000000000000";
      const metadata = { ...jsonOf(made["metadata"]), uid };
      await target.refused(
        {
          status: 409,
          reason: "Conflict",
          message: /Precondition failed: UID in precondition: 00000000-0000-4000-8000-000000000000/,
        },
        "PUT",
        target.path("configmaps", "a"),
        { ...made, metadata },
      );
    },
  ],
  [
    "[KC2] a deletion whose uid precondition fails is a conflict and deletes nothing",
    async (target) => {
      await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      await target.refused({ status: 409, reason: "Conflict" }, "DELETE", path, {
        apiVersion: "v1",
        kind: "DeleteOptions",
        preconditions: { uid: "other" },
      });
      await target.get(path);
    },
  ],
  [
    "[KC2] a deletion whose resource version precondition holds is carried out",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      const resourceVersion = at(made, "metadata.resourceVersion");
      await target.delete(path, { preconditions: { resourceVersion } });
      await target.gone(path);
    },
  ],
  [
    "[KC2] of two parallel replacements of one version exactly one succeeds",
    async (target) => {
      const made = await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      const answers = await Promise.all(
        ["x", "y"].map((value) => target.send("PUT", path, { ...made, data: { a: value } })),
      );
      assert.deepEqual(
        answers.map((answer) => answer.status).toSorted((left, right) => left - right),
        [200, 409],
      );
    },
  ],
]);
