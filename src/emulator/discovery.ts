// Discovery: which groups, versions and resources there are, in both forms that clients ask for. [KAS60]
import { isJsonObject, type JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import { reviewKinds } from "./reviews.ts";
import { isScalable } from "./scale.ts";
import type { ServerContext } from "./server-context.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const statusVerbs = ["get", "patch", "update"];
const aggregatedForm = /g=apidiscovery\.k8s\.io;v=v2(beta1)?;as=APIGroupDiscoveryList/;

export function aggregatedType(accept: string): string | undefined {
  const match = aggregatedForm.exec(accept);
  return match === null ? undefined : `application/json;${match[0]}`;
}

export function discoveryAnswer(
  server: ServerContext,
  path: string,
  accept: string,
): JsonObject | undefined {
  const isAggregated = aggregatedForm.test(accept);
  if (path === "/api") {
    if (isAggregated) return aggregated(server, (group) => group === "");
    return {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1" }],
    };
  }
  if (path === "/apis") {
    if (isAggregated) return aggregated(server, (group) => group !== "");
    return { kind: "APIGroupList", apiVersion: "v1", groups: groupsOf(server).map(groupEntry) };
  }
  if (path === "/")
    return { paths: ["/api", "/api/v1", "/apis", "/healthz", "/openapi/v3", "/version"] };
  const match = /^\/apis\/([^/]+)$/.exec(path);
  if (match !== null) {
    const group = groupsOf(server).find(({ name }) => name === match[1]);
    return group === undefined
      ? undefined
      : { kind: "APIGroup", apiVersion: "v1", ...groupEntry(group) };
  }
  return resourceList(server, path);
}

interface Group {
  name: string;
  versions: string[];
}

function groupsOf(server: ServerContext): Group[] {
  const groups = new Map<string, string[]>();
  for (const { group, version } of server.registry.all()) {
    if (group === "") continue;
    const versions = groups.get(group) ?? [];
    if (!versions.includes(version)) versions.push(version);
    groups.set(group, versions);
  }
  for (const { group } of reviewKinds) groups.set(group, ["v1"]);
  return [...groups].map(([name, versions]) => ({ name, versions: versions.sort(byPriority) }));
}

/** Stable versions first, then beta, then alpha; newer before older. */
function byPriority(left: string, right: string): number {
  const rank = (version: string): number[] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (match === null) return [0, 0, 0];
    const stage = match[2] === undefined ? 3 : match[2] === "beta" ? 2 : 1;
    return [stage, Number(match[1]), Number(match[3] ?? 0)];
  };
  const [leftRank, rightRank] = [rank(left), rank(right)];
  for (const index of [0, 1, 2]) {
    const difference = (rightRank[index] ?? 0) - (leftRank[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left < right ? -1 : 1;
}

function groupEntry({ name, versions }: Group): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

function resourceList(server: ServerContext, path: string): JsonObject | undefined {
  const match = /^\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(path);
  if (match === null) return undefined;
  const [, group = "", version = ""] = match;
  const kinds = server.registry
    .all()
    .filter((kind) => kind.group === group && kind.version === version);
  const reviews = reviewKinds.filter((review) => review.group === group);
  if (kinds.length === 0 && reviews.length === 0) return undefined;
  const resources = [...kinds.flatMap(resourceEntries), ...reviews.map(reviewEntry)];
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: resources.sort((left, right) =>
      String(left["name"]) < String(right["name"]) ? -1 : 1,
    ),
  };
}

/** Namespaces are deleted one by one. */
function verbsOf(kind: Kind): readonly string[] {
  return kind.kind === "Namespace" ? verbs.filter((verb) => verb !== "deletecollection") : verbs;
}

function resourceEntries(kind: Kind): JsonObject[] {
  const entry: JsonObject = {
    ...{ name: kind.plural, singularName: kind.singular, namespaced: kind.isNamespaced },
    ...{ kind: kind.kind, verbs: verbsOf(kind) },
  };
  if (kind.shortNames.length > 0) entry["shortNames"] = kind.shortNames;
  if (kind.categories.length > 0) entry["categories"] = kind.categories;
  const entries = [entry];
  for (const { name, subKind, group, subVerbs } of subresourcesOf(kind)) {
    entries.push({
      ...{ name: `${kind.plural}/${name}`, singularName: "", namespaced: kind.isNamespaced },
      ...(group === undefined ? {} : { group, version: "v1" }),
      ...{ kind: subKind, verbs: subVerbs },
    });
  }
  return entries;
}

interface Subresource {
  name: string;
  subKind: string;
  group?: string;
  subVerbs: string[];
}

function subresourcesOf(kind: Kind): Subresource[] {
  const found: Subresource[] = [];
  if (kind.kind === "Pod") {
    found.push({ name: "binding", subKind: "Binding", subVerbs: ["create"] });
    found.push({ name: "eviction", subKind: "Eviction", group: "policy", subVerbs: ["create"] });
    found.push({ name: "resize", subKind: "Pod", subVerbs: statusVerbs });
  }
  if (kind.kind === "ServiceAccount") {
    const group = "authentication.k8s.io";
    found.push({ name: "token", subKind: "TokenRequest", group, subVerbs: ["create"] });
  }
  if (isScalable(kind)) {
    found.push({ name: "scale", subKind: "Scale", group: "autoscaling", subVerbs: statusVerbs });
  }
  if (kind.kind === "Namespace")
    found.push({ name: "finalize", subKind: "Namespace", subVerbs: ["update"] });
  if (kind.hasStatus) found.push({ name: "status", subKind: kind.kind, subVerbs: statusVerbs });
  return found;
}

function reviewEntry(review: (typeof reviewKinds)[number]): JsonObject {
  return {
    ...{ name: review.plural, singularName: review.kind.toLowerCase(), namespaced: false },
    ...{ kind: review.kind, verbs: ["create"] },
  };
}

function aggregated(server: ServerContext, isWanted: (group: string) => boolean): JsonObject {
  const groups = [{ name: "", versions: ["v1"] }, ...groupsOf(server)].filter(({ name }) =>
    isWanted(name),
  );
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: { ...(name === "" ? {} : { name }), creationTimestamp: null },
      versions: versions.map((version) => ({
        version,
        resources: aggregatedResources(server, name, version),
        freshness: "Current",
      })),
    })),
  };
}

function aggregatedResources(server: ServerContext, group: string, version: string): JsonObject[] {
  const kinds = server.registry
    .all()
    .filter((kind) => kind.group === group && kind.version === version);
  const scopeOf = (isNamespaced: boolean): string => (isNamespaced ? "Namespaced" : "Cluster");
  const typeOf = (kind: string, subGroup = group): JsonObject => ({
    group: subGroup,
    version,
    kind,
  });
  const resources = kinds.map((kind) => {
    const subresources = subresourcesOf(kind).map((sub) => ({
      ...{ subresource: sub.name, responseKind: typeOf(sub.subKind, sub.group) },
      verbs: sub.subVerbs,
    }));
    const resource: JsonObject = {
      ...{
        resource: kind.plural,
        responseKind: typeOf(kind.kind),
        scope: scopeOf(kind.isNamespaced),
      },
      ...{ singularResource: kind.singular, verbs: verbsOf(kind) },
    };
    if (kind.shortNames.length > 0) resource["shortNames"] = kind.shortNames;
    if (kind.categories.length > 0) resource["categories"] = kind.categories;
    if (subresources.length > 0) resource["subresources"] = subresources;
    return resource;
  });
  const reviews = reviewKinds
    .filter((review) => review.group === group)
    .map((review) => ({
      ...{ resource: review.plural, responseKind: typeOf(review.kind), scope: "Cluster" },
      ...{ singularResource: review.kind.toLowerCase(), verbs: ["create"] },
    }));
  return [...resources, ...reviews].filter(isJsonObject);
}
