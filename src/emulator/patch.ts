// PATCH: finds the kind of patch by its content type, makes the patched object, and hands it to the
// ordinary update.
import { applyObject } from "./apply.ts";
import { decodeBody } from "./decode-body.ts";
import { DecodeError } from "./decode.ts";
import { isJsonObject, objectAt, type JsonObject } from "./json.ts";
import { jsonPatch, mergePatch } from "./merge-patch.ts";
import { present, type ServerContext, type Target, type WriteOptions } from "./server-context.ts";
import { badRequest, fieldInvalid, invalid, StatusError, unsupportedMediaType } from "./status.ts";
import { strategicMerge } from "./strategic-merge.ts";
import { existing, replaceObject } from "./write.ts";

export interface Patched {
  object: JsonObject;
  isCreated: boolean;
}

const jsonPatchType = "application/json-patch+json";
const mergePatchType = "application/merge-patch+json";
const strategicType = "application/strategic-merge-patch+json";
export const applyTypes = ["application/apply-patch+yaml", "application/apply-patch+cbor"];

export function patchObject(
  server: ServerContext,
  target: Target,
  patch: unknown,
  contentType: string,
  options: WriteOptions,
): Patched {
  const mediaType = contentType.split(";")[0]?.trim() ?? "";
  if (applyTypes.includes(mediaType)) return applyObject(server, target, patch, options);
  const known = [jsonPatchType, mergePatchType, ...(target.kind.isCustom ? [] : [strategicType])];
  if (!known.includes(mediaType)) {
    if (!target.kind.isCustom) throw unsupportedMediaType("415: Unsupported Media Type", {});
    const accepted = [...known, applyTypes[0]].join(", ");
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
    );
  }
  const live = existing(server, target);
  const shownLive = present(target.kind, live);
  const patched = patchedBody(target, shownLive, patch, mediaType);
  const object = decodePatched(target, patched, options, live);
  checkName(target, object);
  return { object: replaceObject(server, target, live, object, options), isCreated: false };
}

/** A patch that leaves an object of the wrong form is invalid as such; a body would be a bad request. */
function decodePatched(
  { kind }: Target,
  patched: unknown,
  options: WriteOptions,
  live: JsonObject,
): JsonObject {
  try {
    return decodeBody(kind, patched, options, live);
  } catch (error) {
    const isForm = error instanceof StatusError && error.cause instanceof DecodeError;
    if (!isForm || !(error.cause instanceof DecodeError)) throw error;
    const problem = fieldInvalid("patch", JSON.stringify(patched), error.cause.message);
    throw invalid("", "", "", [problem]);
  }
}

/** The object that a patch makes of the live one. */
export function patchedBody(
  { kind }: Target,
  live: JsonObject,
  patch: unknown,
  mediaType: string,
): unknown {
  if (mediaType === jsonPatchType) return jsonPatch(live, patch);
  if (!isJsonObject(patch)) {
    throw badRequest(
      "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    );
  }
  return mediaType === mergePatchType
    ? mergePatch(live, patch)
    : strategicMerge(kind.node, live, patch);
}

function checkName({ name, namespace, kind }: Target, object: JsonObject): void {
  const metadata = objectAt(object, "metadata");
  if (metadata["name"] !== name) {
    throw badRequest(
      `the name of the object (${String(metadata["name"])}) does not match the name on the URL (${name})`,
    );
  }
  if (kind.isNamespaced && metadata["namespace"] !== namespace) {
    throw new StatusError(
      400,
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  }
}
