// How a client finds out what the server serves: discovery and OpenAPI.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { asList, at, jsonOf, pick } from "./target.ts";
import type { Json, Target } from "./target.ts";
import { installWidgets } from "./widget.ts";

async function resource(target: Target, path: string, name: string): Promise<Json> {
  const list = await target.get(path);
  const found = asList(list["resources"]).find((each) => at(each, "name") === name);
  return jsonOf(found ?? {});
}

const everything = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

function discovered(object: Json): Json {
  const parts = pick(object, "name", "singularName", "kind", "namespaced", "shortNames", "verbs");
  return { ...parts, verbs: asList(parts["verbs"]).map(String).toSorted() };
}

export const discoveryCases = capability("discovery", [
  [
    "[KC31] the core group has its one version",
    async (target) => {
      const versions = await target.get("/api");
      assert.deepEqual(pick(versions, "kind", "versions"), {
        kind: "APIVersions",
        versions: ["v1"],
      });
    },
  ],
  [
    "[KC31] pods are described with names, scope and verbs",
    async (target) => {
      assert.deepEqual(discovered(await resource(target, "/api/v1", "pods")), {
        name: "pods",
        singularName: "pod",
        kind: "Pod",
        namespaced: true,
        shortNames: ["po"],
        verbs: everything,
      });
    },
  ],
  [
    "[KC31] subresources are listed",
    async (target) => {
      assert.deepEqual(
        pick(
          await resource(target, "/api/v1", "pods/eviction"),
          "kind",
          "group",
          "version",
          "verbs",
        ),
        { kind: "Eviction", group: "policy", version: "v1", verbs: ["create"] },
      );
      assert.deepEqual(pick(await resource(target, "/api/v1", "pods/binding"), "kind", "verbs"), {
        kind: "Binding",
        verbs: ["create"],
      });
      assert.deepEqual(
        pick(await resource(target, "/api/v1", "nodes/status"), "kind", "namespaced"),
        {
          kind: "Node",
          namespaced: false,
        },
      );
    },
  ],
  [
    "[KC31] the groups of the kinds we use are there, with their preferred versions",
    async (target) => {
      const groups = asList((await target.get("/apis"))["groups"]);
      const preferred = new Map(
        groups.map((group) => [at(group, "name"), at(group, "preferredVersion.groupVersion")]),
      );
      const wanted = [
        "apps",
        "coordination.k8s.io",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "storage.k8s.io",
        "apiextensions.k8s.io",
      ];
      assert.deepEqual(
        wanted.map((name) => preferred.get(name)),
        wanted.map((name) => `${name}/v1`),
      );
    },
  ],
  [
    "[KC31] an installed custom resource is discovered",
    async (target) => {
      const kind = await installWidgets(target);
      const path = `/apis/${kind.group}/v1`;
      const found = await target.eventually("the kind in discovery", async () => {
        const response = await target.send("GET", path);
        return response.status === 200 ? resource(target, path, "widgets") : undefined;
      });
      assert.deepEqual(pick(found, "kind", "singularName", "namespaced"), {
        kind: "Widget",
        singularName: "widget",
        namespaced: true,
      });
      const group = await target.eventually("the group in discovery", async () => {
        const response = await target.send("GET", `/apis/${kind.group}`);
        return response.status === 200 ? jsonOf(response.body) : undefined;
      });
      assert.deepEqual(pick(group, "kind", "name", "preferredVersion.version"), {
        kind: "APIGroup",
        name: kind.group,
        "preferredVersion.version": "v1",
      });
    },
  ],
  [
    "[KC31] deployments can be scaled",
    async (target) => {
      const found = await resource(target, "/apis/apps/v1", "deployments/scale");
      assert.deepEqual(pick(found, "kind", "group", "version"), {
        kind: "Scale",
        group: "autoscaling",
        version: "v1",
      });
    },
  ],
  [
    "[KC31] the server names its version",
    async (target) => {
      const version = await target.get("/version");
      assert.equal(version["major"], "1");
      assert.match(String(version["gitVersion"]), /^v1\.\d+\.\d+/);
    },
  ],
]);

export const openApiCases = capability("OpenAPI", [
  [
    "[KC32] the index names a document for each group and version",
    async (target) => {
      const paths = jsonOf((await target.get("/openapi/v3"))["paths"]);
      for (const path of ["api/v1", "apis/apps/v1", "apis/policy/v1"]) {
        assert.match(
          String(at(paths[path], "serverRelativeURL")),
          new RegExp(`^/openapi/v3/${path}`),
        );
      }
    },
  ],
  [
    "[KC32] the document of a group has the schema of its kinds, named by group, version and kind",
    async (target) => {
      const document = await target.get("/openapi/v3/api/v1");
      const schema = at(document, 'components.schemas."io.k8s.api.core.v1.Pod"');
      assert.deepEqual(at(schema, "x-kubernetes-group-version-kind"), [
        { group: "", kind: "Pod", version: "v1" },
      ]);
      assert.equal(at(schema, "type"), "object");
      assert.match(String(document["openapi"]), /^3\./);
    },
  ],
  [
    "[KC32] an installed custom resource appears with its schema",
    async (target) => {
      const kind = await installWidgets(target, {
        spec: { type: "object", properties: { x: { type: "integer", description: "The x." } } },
      });
      const document = await target.eventually("the schema in OpenAPI", async () => {
        const response = await target.send("GET", `/openapi/v3/apis/${kind.group}/v1`);
        const schemas =
          response.status === 200 ? at(response.body, "components.schemas") : undefined;
        const isThere = JSON.stringify(schemas ?? {}).includes("The x.");
        return isThere ? jsonOf(schemas) : undefined;
      });
      const schema = Object.values(document).find(
        (each) => at(each, "x-kubernetes-group-version-kind.0.kind") === "Widget",
      );
      assert.deepEqual(at(schema, "properties.spec.properties.x"), {
        description: "The x.",
        type: "integer",
      });
      assert.deepEqual(Object.keys(jsonOf(at(schema, "properties"))).toSorted(), [
        "apiVersion",
        "kind",
        "metadata",
        "spec",
      ]);
    },
  ],
  [
    "[KC32] a path names the kind and the action of its methods",
    async (target) => {
      const document = await target.get("/openapi/v3/api/v1");
      const path = at(document, 'paths."/api/v1/namespaces/{namespace}/configmaps/{name}"');
      assert.deepEqual(
        pick(at(path, "patch"), "x-kubernetes-action", "x-kubernetes-group-version-kind"),
        {
          "x-kubernetes-action": "patch",
          "x-kubernetes-group-version-kind": { group: "", kind: "ConfigMap", version: "v1" },
        },
      );
    },
  ],
]);
