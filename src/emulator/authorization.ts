// Who may do what: asked before a request is carried out, as RBAC would be. Everybody may do everything until somebody
// sets `authorize` of the server's context. Carries rule KAS67.
import type { ServerRequest } from "./handler.ts";
import type { Kind } from "./kind.ts";
import { verbOf } from "./request-counters.ts";
import type { ResourcePath } from "./request-path.ts";
import type { ServerContext } from "./server-context.ts";
import { forbidden } from "./status.ts";

/** What a request asks for, in the words of a role. */
export interface AskedAccess {
  userName: string;
  verb: string;
  apiGroup: string;
  /** With its subresource, such as pods/eviction. */
  resource: string;
  /** Empty for the whole cluster. */
  namespace: string;
}

export type Authorize = (asked: AskedAccess) => boolean;

/** Throws the server's 403. */
export function checkAccess(
  { authorize }: ServerContext,
  request: ServerRequest,
  path: ResourcePath,
  kind: Kind,
  verb = verbOf(request, path.name !== ""),
): void {
  if (authorize === undefined) return;
  const asked = accessOf(verb, path, request.userName ?? "admin");
  if (authorize(asked)) return;
  const { userName, resource, apiGroup, namespace } = asked;
  const place = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const what = `cannot ${verb} resource "${resource}" in API group "${apiGroup}" ${place}`;
  throw forbidden(kind, path.name, `User "${userName}" ${what}`);
}

function accessOf(verb: string, path: ResourcePath, userName: string): AskedAccess {
  const { group, plural, subresource, namespace } = path;
  return {
    ...{ userName, verb, apiGroup: group, namespace },
    resource: subresource === "" ? plural : `${plural}/${subresource}`,
  };
}
