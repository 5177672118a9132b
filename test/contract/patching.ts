// Merge patch, JSON patch and strategic merge patch.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, deployment, pod, service } from "./samples.ts";
import { asList, at, pick } from "./target.ts";
import type { Target } from "./target.ts";
import { installWidgets } from "./widget.ts";

async function made(target: Target): Promise<string> {
  const object = configMap("a", { a: "1", b: "2" }, { labels: { x: "1", y: "2" } });
  await target.create(target.path("configmaps"), object);
  return target.path("configmaps", "a");
}

export const mergePatchCases = capability("merge patch", [
  [
    "[KC12] keys are set, kept and removed by null",
    async (target) => {
      const path = await made(target);
      const patched = await target.patch("merge", path, {
        metadata: { labels: { x: null, z: "3" } },
        data: { b: "changed" },
      });
      assert.deepEqual(pick(patched, "metadata.labels", "data"), {
        "metadata.labels": { y: "2", z: "3" },
        data: { a: "1", b: "changed" },
      });
    },
  ],
  [
    "[KC12] a list is replaced as a whole",
    async (target) => {
      await target.create(target.path("services"), service("a"));
      const patched = await target.patch("merge", target.path("services", "a"), {
        spec: { ports: [{ name: "other", port: 4501 }] },
      });
      assert.deepEqual(at(patched, "spec.ports"), [
        { name: "other", protocol: "TCP", port: 4501, targetPort: 4501 },
      ]);
    },
  ],
  [
    "[KC12] null removes a whole map",
    async (target) => {
      const path = await made(target);
      const patched = await target.patch("merge", path, {
        metadata: { labels: null },
        data: null,
      });
      assert.deepEqual(pick(patched, "metadata.labels", "data"), {
        "metadata.labels": undefined,
        data: undefined,
      });
    },
  ],
  [
    "[KC12] a patch that is no object is a bad request",
    async (target) => {
      const path = await made(target);
      await target.refused({ status: 400, reason: "BadRequest" }, "PATCH", path, ["x"], {
        patch: "merge",
      });
    },
  ],
  [
    "[KC12] a value of the wrong type is refused and nothing changes",
    async (target) => {
      const path = await made(target);
      await target.refused(
        { status: 422, reason: "Invalid" },
        "PATCH",
        path,
        { data: { a: 5 } },
        { patch: "merge" },
      );
      assert.deepEqual(at(await target.get(path), "data.a"), "1");
    },
  ],
]);

export const jsonPatchCases = capability("JSON patch", [
  [
    "[KC13] add, replace and remove",
    async (target) => {
      const path = await made(target);
      const patched = await target.patch("json", path, [
        { op: "add", path: "/data/c", value: "3" },
        { op: "replace", path: "/data/a", value: "9" },
        { op: "remove", path: "/data/b" },
      ]);
      assert.deepEqual(patched["data"], { a: "9", c: "3" });
    },
  ],
  [
    "[KC13] a failed test changes nothing",
    async (target) => {
      const path = await made(target);
      await target.refused(
        { status: 422, reason: "Invalid", message: /the server rejected our request/ },
        "PATCH",
        path,
        [
          { op: "replace", path: "/data/a", value: "9" },
          { op: "test", path: "/data/b", value: "wrong" },
        ],
        { patch: "json" },
      );
      assert.equal(at(await target.get(path), "data.a"), "1");
    },
  ],
  [
    "[KC13] a passed test lets the rest happen",
    async (target) => {
      const path = await made(target);
      const patched = await target.patch("json", path, [
        { op: "test", path: "/data/b", value: "2" },
        { op: "replace", path: "/data/b", value: "3" },
      ]);
      assert.equal(at(patched, "data.b"), "3");
    },
  ],
  [
    "[KC13] a slash in a key is written as ~1",
    async (target) => {
      const path = await made(target);
      const patched = await target.patch("json", path, [
        { op: "add", path: "/metadata/labels/example.com~1role", value: "db" },
      ]);
      assert.equal(at(patched, 'metadata.labels."example.com/role"'), "db");
    },
  ],
  [
    "[KC13] removing what is not there is refused",
    async (target) => {
      const path = await made(target);
      await target.refused(
        { status: 422, reason: "Invalid" },
        "PATCH",
        path,
        [{ op: "remove", path: "/data/missing" }],
        { patch: "json" },
      );
    },
  ],
  [
    "[KC13] list items are inserted by index and appended by a dash",
    async (target) => {
      await target.create(target.path("services"), service("a"));
      const patched = await target.patch("json", target.path("services", "a"), [
        { op: "add", path: "/spec/ports/0", value: { name: "first", port: 1 } },
        { op: "add", path: "/spec/ports/-", value: { name: "last", port: 2 } },
      ]);
      const ports = asList(at(patched, "spec.ports"));
      assert.deepEqual(
        ports.map((each) => at(each, "name")),
        ["first", "client", "last"],
      );
    },
  ],
  [
    "[KC13] copy and move",
    async (target) => {
      const path = await made(target);
      const patched = await target.patch("json", path, [
        { op: "copy", from: "/data/a", path: "/data/copied" },
        { op: "move", from: "/data/b", path: "/data/moved" },
      ]);
      assert.deepEqual(patched["data"], { a: "1", copied: "1", moved: "2" });
    },
  ],
]);

export const strategicPatchCases = capability("strategic merge patch", [
  [
    "[KC14] a list with a merge key is merged by that key",
    async (target) => {
      const spec = {
        replicas: 0,
        template: {
          metadata: { labels: { app: "a" } },
          spec: {
            containers: [
              { name: "main", image: "example/image:1", env: [{ name: "A", value: "1" }] },
              { name: "side", image: "example/side:1" },
            ],
          },
        },
      };
      await target.create(target.path("deployments"), deployment("a", spec));
      const patched = await target.patch("strategic", target.path("deployments", "a"), {
        spec: {
          template: {
            spec: {
              containers: [
                { name: "main", image: "example/image:2", env: [{ name: "B", value: "2" }] },
              ],
            },
          },
        },
      });
      const containers = asList(at(patched, "spec.template.spec.containers"));
      assert.deepEqual(
        containers.map((each) => pick(each, "name", "image", "env")),
        [
          {
            name: "main",
            image: "example/image:2",
            env: [
              { name: "B", value: "2" },
              { name: "A", value: "1" },
            ],
          },
          { name: "side", image: "example/side:1", env: undefined },
        ],
      );
    },
  ],
  [
    "[KC14] $patch: delete removes one list item",
    async (target) => {
      const ports = [
        { name: "client", port: 4500 },
        { name: "admin", port: 4501 },
      ];
      await target.create(target.path("services"), service("a", { ports }));
      const patched = await target.patch("strategic", target.path("services", "a"), {
        spec: { ports: [{ port: 4500, $patch: "delete" }] },
      });
      assert.deepEqual(at(patched, "spec.ports.0.name"), "admin");
      assert.equal(at(patched, "spec.ports.1"), undefined);
    },
  ],
  [
    "[KC14] $patch: replace takes the list as given",
    async (target) => {
      const ports = [
        { name: "client", port: 4500 },
        { name: "admin", port: 4501 },
      ];
      await target.create(target.path("services"), service("a", { ports }));
      const patched = await target.patch("strategic", target.path("services", "a"), {
        spec: { ports: [{ name: "only", port: 7 }, { $patch: "replace" }] },
      });
      assert.deepEqual(at(patched, "spec.ports"), [
        { name: "only", protocol: "TCP", port: 7, targetPort: 7 },
      ]);
    },
  ],
  [
    "[KC14] a list of plain values is merged as a set",
    async (target) => {
      const finalizers = ["example.com/a", "example.com/b"];
      await target.create(target.path("configmaps"), configMap("a", {}, { finalizers }));
      const patched = await target.patch("strategic", target.path("configmaps", "a"), {
        metadata: { finalizers: ["example.com/c", "example.com/a"] },
      });
      assert.deepEqual(
        new Set(asList(at(patched, "metadata.finalizers"))),
        new Set(["example.com/a", "example.com/b", "example.com/c"]),
      );
      const path = target.path("configmaps", "a");
      const less = await target.patch("strategic", path, {
        metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/b"] },
      });
      assert.deepEqual(
        new Set(asList(at(less, "metadata.finalizers"))),
        new Set(["example.com/a", "example.com/c"]),
      );
    },
  ],
  [
    "[KC14] maps are merged and null removes a key",
    async (target) => {
      const path = await made(target);
      const patched = await target.patch("strategic", path, {
        metadata: { labels: { x: null } },
        data: { c: "3" },
      });
      assert.deepEqual(pick(patched, "metadata.labels", "data"), {
        "metadata.labels": { y: "2" },
        data: { a: "1", b: "2", c: "3" },
      });
    },
  ],
  [
    "[KC14] an atomic list is replaced",
    async (target) => {
      const tolerations = [{ key: "a", operator: "Exists" }];
      const spec = {
        containers: [{ name: "main", image: "i:1", command: ["a", "b"] }],
        tolerations,
      };
      const template = { metadata: { labels: { app: "a" } }, spec };
      await target.create(target.path("deployments"), deployment("a", { replicas: 0, template }));
      const patched = await target.patch("strategic", target.path("deployments", "a"), {
        spec: {
          template: {
            spec: {
              containers: [{ name: "main", command: ["c"] }],
              tolerations: [{ key: "b", operator: "Exists" }],
            },
          },
        },
      });
      assert.deepEqual(
        pick(at(patched, "spec.template.spec"), "containers.0.command", "tolerations"),
        {
          "containers.0.command": ["c"],
          tolerations: [{ key: "b", operator: "Exists" }],
        },
      );
    },
  ],
  [
    "[KC14] a list item without its merge key is refused",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const response = await target.send(
        "PATCH",
        target.path("pods", "a"),
        { spec: { containers: [{ image: "example/image:2" }] } },
        { contentType: "application/strategic-merge-patch+json" },
      );
      assert.equal(response.status, 500);
      assert.match(
        String(at(response.body, "message")),
        /does not contain declared merge key: name/,
      );
    },
  ],
  [
    "[KC14] an unknown kind of patch is an unsupported media type",
    async (target) => {
      const path = await made(target);
      await target.refused(
        { status: 415, reason: "UnsupportedMediaType" },
        "PATCH",
        path,
        { data: {} },
        { contentType: "application/json" },
      );
    },
  ],
  [
    "[KC14] custom resources know no strategic merge",
    async (target) => {
      const kind = await installWidgets(target);
      await target.create(kind.path, kind.widget("a"));
      await target.refused(
        { status: 415, reason: "UnsupportedMediaType" },
        "PATCH",
        kind.at("a"),
        { spec: { x: 1 } },
        { patch: "strategic" },
      );
    },
  ],
]);
