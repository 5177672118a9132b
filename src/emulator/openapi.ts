// OpenAPI v3 documents per group and version, made from the same schemas that the server decodes with, and a
// minimal v2 document. kubectl explain, apply and its validation read them. [KAS61]
import { isJsonObject, type JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import { builtInDefinitions } from "./schema-node.ts";
import type { ServerContext } from "./server-context.ts";

export function openApiAnswer(server: ServerContext, path: string): JsonObject | undefined {
  if (path === "/openapi/v2") return versionTwo(server);
  if (path === "/openapi/v3") return { paths: indexOf(server) };
  const match = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(path);
  if (match === null) return undefined;
  const [, group = "", version = ""] = match;
  const kinds = server.registry
    .all()
    .filter((kind) => kind.group === group && kind.version === version);
  return kinds.length === 0 ? undefined : documentOf(kinds);
}

function indexOf(server: ServerContext): JsonObject {
  const paths: JsonObject = {};
  for (const { group, version } of server.registry.all()) {
    const place = group === "" ? `api/${version}` : `apis/${group}/${version}`;
    paths[place] = { serverRelativeURL: `/openapi/v3/${place}?hash=${server.registry.changes}` };
  }
  return paths;
}

function documentOf(kinds: readonly Kind[]): JsonObject {
  const schemas: JsonObject = {};
  const paths: JsonObject = {};
  for (const kind of kinds) {
    addKind(kind, schemas);
    Object.assign(paths, pathsOf(kind));
  }
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.37.1" },
    paths,
    components: { schemas },
  };
}

function addKind(kind: Kind, schemas: JsonObject): void {
  if (kind.custom === undefined) addDefinition(kind.definitionName, schemas);
  else {
    const type = { group: kind.group, version: kind.version, kind: kind.kind };
    const properties = {
      ...(isJsonObject(kind.custom.schema["properties"]) ? kind.custom.schema["properties"] : {}),
    };
    addDefinition(objectMeta, schemas);
    const schema = {
      ...kind.custom.schema,
      properties: {
        ...properties,
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { allOf: [{ $ref: `#/components/schemas/${objectMeta}` }] },
      },
      "x-kubernetes-group-version-kind": [type],
    };
    schemas[kind.definitionName] = schema;
  }
}

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

function addDefinition(name: string, schemas: JsonObject): void {
  if (schemas[name] !== undefined) return;
  const definition = builtInDefinitions()[name];
  if (definition === undefined) return;
  schemas[name] = {};
  schemas[name] = inVersionThree(definition, (reference) => addDefinition(reference, schemas));
}

const definitionPrefix = "#/definitions/";

/** References move to components, and markers beside a reference need allOf. */
function inVersionThree(value: unknown, onReference: (name: string) => void): unknown {
  if (Array.isArray(value)) return value.map((item) => inVersionThree(item, onReference));
  if (!isJsonObject(value)) return value;
  const { $ref: reference, ...rest } = value;
  const result: JsonObject = {};
  for (const key in rest) result[key] = inVersionThree(rest[key], onReference);
  if (typeof reference !== "string") {
    if (reference !== undefined) result["$ref"] = inVersionThree(reference, onReference);
    return result;
  }
  const name = reference.slice(definitionPrefix.length);
  onReference(name);
  const target = { $ref: `#/components/schemas/${name}` };
  return Object.keys(result).length === 0 ? target : { ...result, allOf: [target] };
}

function pathsOf(kind: Kind): JsonObject {
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const collection = kind.isNamespaced
    ? `${root}/namespaces/{namespace}/${kind.plural}`
    : `${root}/${kind.plural}`;
  const type = { group: kind.group, version: kind.version, kind: kind.kind };
  const content = (mediaTypes: string[]): JsonObject => ({
    content: Object.fromEntries(
      mediaTypes.map((mediaType) => [
        mediaType,
        { schema: { $ref: `#/components/schemas/${kind.definitionName}` } },
      ]),
    ),
  });
  const operation = (action: string, more: JsonObject = {}): JsonObject => ({
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": type,
    parameters: queryParameters,
    responses: { "200": { description: "OK", ...content(["application/json"]) } },
    ...more,
  });
  const body = { requestBody: content(["application/json"]) };
  const patches = [
    ...["application/json-patch+json", "application/merge-patch+json"],
    ...(kind.isCustom ? [] : ["application/strategic-merge-patch+json"]),
    "application/apply-patch+yaml",
  ];
  return {
    [collection]: { get: operation("list"), post: operation("post", body) },
    [`${collection}/{name}`]: {
      get: operation("get"),
      put: operation("put", body),
      patch: operation("patch", { requestBody: content(patches) }),
      delete: operation("delete"),
    },
  };
}

const queryParameters = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
  ...{ name, in: "query", schema: { type: "string", uniqueItems: true } },
}));

function versionTwo(server: ServerContext): JsonObject {
  const definitions: JsonObject = { ...builtInDefinitions() };
  for (const kind of server.registry.all()) {
    if (kind.custom === undefined) continue;
    definitions[kind.definitionName] = {
      ...kind.custom.schema,
      "x-kubernetes-group-version-kind": [
        { group: kind.group, version: kind.version, kind: kind.kind },
      ],
    };
  }
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: "v1.37.1" },
    paths: {},
    definitions,
  };
}
