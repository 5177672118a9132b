// JSON merge patch (RFC 7386) and JSON patch (RFC 6902), on copies. [KAS25] [KAS26]
import { applyPatch, Pointer, type Operation } from "rfc6902";
import { cloneJson, isJsonObject, type JsonObject } from "./json.ts";
import { badRequest, StatusError } from "./status.ts";

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return cloneJson(patch);
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const key in patch) {
    const member = patch[key];
    if (member === null) delete result[key];
    else if (member !== undefined) result[key] = mergePatch(result[key], member);
  }
  return result;
}

export function jsonPatch(target: JsonObject, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw badRequest(
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    );
  }
  const result = { document: cloneJson<unknown>(target) };
  const operations = patch.map((operation) => underDocument(operation as Operation));
  for (const operation of operations) {
    if (!knownOperations.has(operation.op)) throw refusedPatch();
    const [error] = applyPatch(result, [asReal(result, operation)]);
    if (error !== null && error !== undefined) throw refusedPatch();
  }
  return result.document;
}

const knownOperations = new Set(["add", "remove", "replace", "move", "copy", "test"]);

/** The library replaces members only, so the whole document is held as one. */
function underDocument(operation: Operation): Operation {
  const moved: Record<string, unknown> = { ...operation, path: `/document${operation.path}` };
  if ("from" in operation) moved["from"] = `/document${operation.from}`;
  return cloneJson(moved) as unknown as Operation;
}

/** The real server lets "replace" add a member that is missing, as long as its parent is there. */
function asReal(document: unknown, operation: Operation): Operation {
  if (operation.op !== "replace") return operation;
  const parent = operation.path.slice(0, operation.path.lastIndexOf("/"));
  const found: unknown = Pointer.fromJSON(parent).get(document);
  return isJsonObject(found)
    ? { op: "add", path: operation.path, value: operation.value }
    : operation;
}

function refusedPatch(): StatusError {
  const message = "the server rejected our request due to an error in our request";
  return new StatusError(422, "Invalid", message, {});
}
