// What a request may wish: a made-up name, a dry run, and how strictly fields are looked at.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, pod } from "./samples.ts";
import { asList, at, pick, text } from "./target.ts";
import { installWidgets } from "./widget.ts";

export const generateNameCases = capability("generateName", [
  [
    "[KC19] five characters are added to the prefix",
    async (target) => {
      const sent = { ...configMap("x"), metadata: { generateName: "made-" } };
      const made = await target.create(target.path("configmaps"), sent);
      assert.match(text(made, "metadata.name"), /^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      assert.equal(at(made, "metadata.generateName"), "made-");
    },
  ],
  [
    "[KC19] every creation gets another name",
    async (target) => {
      const sent = { ...configMap("x"), metadata: { generateName: "made-" } };
      for (let count = 0; count < 5; count += 1) {
        await target.create(target.path("configmaps"), sent);
      }
      const names = await target.names(target.path("configmaps"));
      assert.equal(new Set(names).size, 5);
    },
  ],
  [
    "[KC19] a given name wins",
    async (target) => {
      const sent = configMap("given", {}, { generateName: "made-" });
      const made = await target.create(target.path("configmaps"), sent);
      assert.equal(at(made, "metadata.name"), "given");
    },
  ],
  [
    "[KC19] a long prefix is cut so that the name fits",
    async (target) => {
      const sent = { ...configMap("x"), metadata: { generateName: "p".repeat(70) } };
      const made = await target.create(target.path("configmaps"), sent);
      assert.equal(text(made, "metadata.name").length, 63);
    },
  ],
  [
    "[KC19] a prefix that cannot begin a name is refused",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "metadata.generateName", reason: "FieldValueInvalid" },
            { field: "metadata.name", reason: "FieldValueInvalid" },
          ],
        },
        "POST",
        target.path("configmaps"),
        { ...configMap("x"), metadata: { generateName: "Not_" } },
      );
    },
  ],
]);

export const dryRunCases = capability("dryRun", [
  [
    "[KC20] a dry creation answers as a real one and stores nothing",
    async (target) => {
      const made = await target.create(target.path("pods"), pod("a"), { dryRun: "All" });
      assert.deepEqual(pick(made, "spec.restartPolicy", "status.phase"), {
        "spec.restartPolicy": "Always",
        "status.phase": "Pending",
      });
      assert.equal(at(made, "metadata.resourceVersion"), undefined);
      assert.match(text(made, "metadata.uid"), /^[0-9a-f-]{36}$/);
      await target.refused({ status: 404, reason: "NotFound" }, "GET", target.path("pods", "a"));
    },
  ],
  [
    "[KC20] a dry change shows the result and stores nothing",
    async (target) => {
      await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      const query = { dryRun: "All" };
      const patched = await target.patch("merge", path, { data: { a: "2" } }, query);
      const replaced = await target.replace(path, configMap("a", { a: "3" }), query);
      assert.deepEqual([patched["data"], replaced["data"]], [{ a: "2" }, { a: "3" }]);
      assert.deepEqual((await target.get(path))["data"], { a: "1" });
    },
  ],
  [
    "[KC20] a dry deletion deletes nothing",
    async (target) => {
      await target.create(target.path("configmaps"), configMap("a"));
      const path = target.path("configmaps", "a");
      await target.expect(200, "DELETE", path, undefined, { query: { dryRun: "All" } });
      assert.equal(at(await target.get(path), "metadata.deletionTimestamp"), undefined);
    },
  ],
  [
    "[KC20] a dry apply shows the merged object",
    async (target) => {
      const path = target.path("configmaps", "a");
      await target.apply(path, configMap("a"), "one");
      const body = configMap("a", { a: "1", b: "2" });
      const options = {
        query: { fieldManager: "one", dryRun: "All" },
        contentType: "application/apply-patch+yaml",
      };
      const applied = await target.expect(200, "PATCH", path, body, options);
      assert.deepEqual(applied["data"], { a: "1", b: "2" });
      assert.deepEqual((await target.get(path))["data"], { a: "1" });
    },
  ],
  [
    "[KC20] what would be refused is refused",
    async (target) => {
      const query = { dryRun: "All" };
      await target.refused(
        { status: 422, reason: "Invalid" },
        "POST",
        target.path("pods"),
        pod("a", { containers: [] }),
        { query },
      );
      await target.create(target.path("configmaps"), configMap("a"));
      await target.refused(
        { status: 409, reason: "AlreadyExists" },
        "POST",
        target.path("configmaps"),
        configMap("a"),
        { query },
      );
    },
  ],
  [
    "[KC20] another value than All is refused",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "dryRun", reason: "FieldValueNotSupported" }],
        },
        "POST",
        target.path("configmaps"),
        configMap("a"),
        { query: { dryRun: "Some" } },
      );
    },
  ],
]);

export const fieldValidationCases = capability("field validation", [
  [
    "[KC21] strict validation refuses unknown fields and names all of them",
    async (target) => {
      await target.refused(
        {
          status: 400,
          reason: "BadRequest",
          message:
            'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.containers[0].size", unknown field "spec.colour"',
        },
        "POST",
        target.path("pods"),
        pod("a", { colour: "red", containers: [{ name: "main", image: "i:1", size: 5 }] }),
        { query: { fieldValidation: "Strict" } },
      );
    },
  ],
  [
    "[KC21] by default unknown fields are dropped with a warning",
    async (target) => {
      const response = await target.send("POST", target.path("pods"), pod("a", { colour: "red" }));
      assert.equal(response.status, 201);
      assert.deepEqual(response.warnings, ['unknown field "spec.colour"']);
      assert.equal(at(response.body, "spec.colour"), undefined);
    },
  ],
  [
    "[KC21] with Ignore they are dropped silently",
    async (target) => {
      const response = await target.send("POST", target.path("pods"), pod("a", { colour: "red" }), {
        query: { fieldValidation: "Ignore" },
      });
      assert.equal(response.status, 201);
      assert.deepEqual(asList(response.warnings), []);
    },
  ],
  [
    "[KC21] strict validation of a custom resource",
    async (target) => {
      const kind = await installWidgets(target, {
        spec: { type: "object", properties: { x: { type: "integer" } } },
      });
      await target.refused(
        {
          status: 400,
          reason: "BadRequest",
          message:
            'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "other", unknown field "spec.y"',
        },
        "POST",
        kind.path,
        kind.widget("a", { spec: { x: 1, y: 2 }, other: 1 }),
        { query: { fieldValidation: "Strict" } },
      );
    },
  ],
  [
    "[KC21] strict validation of a patch",
    async (target) => {
      await target.create(target.path("configmaps"), configMap("a"));
      await target.refused(
        { status: 422, reason: "Invalid", message: /strict decoding error: unknown field "date"/ },
        "PATCH",
        target.path("configmaps", "a"),
        { date: { b: "1" } },
        { patch: "merge", query: { fieldValidation: "Strict" } },
      );
    },
  ],
  [
    "[KC21] another value is refused",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "fieldValidation", reason: "FieldValueNotSupported" }],
        },
        "POST",
        target.path("configmaps"),
        configMap("a"),
        { query: { fieldValidation: "Loud" } },
      );
    },
  ],
]);
