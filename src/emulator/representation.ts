// Other forms of an answer: tables, which kubectl get prints, and objects reduced to their metadata.
import type { WatchEvent } from "../kube/transport.ts";
import type { ServerRequest } from "./handler.ts";
import { arrayAt, isJsonObject, objectAt, type JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import { parseResourcePath } from "./request-path.ts";
import type { ServerContext } from "./server-context.ts";
import { partialObject, tableOf } from "./table.ts";

/** Watch events in the form that was asked for. Only the first table of a stream names its columns. */
export function eventsInForm(
  server: ServerContext,
  request: ServerRequest,
  onEvent: (event: WatchEvent) => void,
): (event: WatchEvent) => void {
  if (formOf(request.accept ?? "") === "") return onEvent;
  let isFirst = true;
  return (event) => {
    if (event.type === "ERROR") return onEvent(event);
    const object = inRequestedForm(server, request, 200, event.object);
    const isTable = isJsonObject(object) && object["kind"] === "Table";
    const isLater = isTable && !isFirst;
    isFirst = false;
    onEvent({
      type: event.type,
      object: isLater ? { ...object, columnDefinitions: null } : object,
    });
  };
}

/** The form of the first acceptable type: "Table", "PartialObjectMetadata", or plain. */
function formOf(accept: string): string {
  const first = accept.split(",")[0] ?? "";
  return /(?:^|;)\s*as=([A-Za-z]+)/.exec(first)?.[1] ?? "";
}

export function inRequestedForm(
  server: ServerContext,
  request: ServerRequest,
  status: number,
  body: unknown,
): unknown {
  const form = formOf(request.accept ?? "");
  if (form === "" || status >= 400 || !isJsonObject(body) || body["kind"] === "Status") return body;
  const path = parseResourcePath(request.path);
  const kind = path && server.registry.find(path.group, path.version, path.plural);
  if (kind === undefined) return body;
  if (form === "Table") {
    const included = request.query?.["includeObject"] ?? "Metadata";
    return tableOf(kind, body, included, server.clock.nowMs());
  }
  if (form.startsWith("PartialObjectMetadata")) return metadataOnly(kind, body);
  return body;
}

function metadataOnly(kind: Kind, body: JsonObject): JsonObject {
  if (body["kind"] !== kind.listKind) return partialObject(body);
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata: body["metadata"],
    items: arrayAt(body, "items").map((item) => partialObject(objectAt(item))),
  };
}
