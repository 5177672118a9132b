// Reads a request path: /api/v1/... of the core group, /apis/GROUP/VERSION/... of the others.

export interface ResourcePath {
  group: string;
  version: string;
  /** Empty for cluster-wide requests and for cluster-scoped kinds. */
  namespace: string;
  plural: string;
  /** Empty for a collection. */
  name: string;
  subresource: string;
}

let last: { path: string; parsed: ResourcePath | undefined } | undefined;

/** The resource that a path names, or undefined when it is not of that form. Each part that a request passes asks for it. */
export function parseResourcePath(path: string): Readonly<ResourcePath> | undefined {
  if (last?.path !== path) last = { path, parsed: parsePath(path) };
  return last.parsed;
}

function parsePath(path: string): ResourcePath | undefined {
  const segments = path.split("/").slice(1).map(decoded);
  if (segments.at(-1) === "") segments.pop();
  const root = segments.shift();
  let group = "";
  if (root === "apis") group = segments.shift() ?? "";
  else if (root !== "api") return undefined;
  const version = segments.shift();
  if (version === undefined || segments.length === 0) return undefined;
  let namespace = "";
  // "namespaces/x/pods" is inside a namespace; "namespaces/x" and "namespaces/x/status" are the object.
  const isInNamespace =
    segments[0] === "namespaces" &&
    segments.length > 2 &&
    !(segments.length === 3 && namespaceSubresources.has(segments[2] ?? ""));
  if (isInNamespace) {
    namespace = segments[1] ?? "";
    segments.splice(0, 2);
  }
  const [plural = "", name = "", subresource = "", ...rest] = segments;
  if (rest.length > 0) return undefined;
  return { group, version, namespace, plural, name, subresource };
}

/** A segment that is no proper escape stands for itself; no object has such a name. */
function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return segment;
  }
}

const namespaceSubresources = new Set(["status", "finalize"]);
