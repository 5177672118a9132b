// Events are kept in their core/v1 form; events.k8s.io/v1 shows the same objects under other names.
import { isJsonObject, type JsonObject } from "./json.ts";

/** events.k8s.io name to core name, for members that only change their name. */
const renamed: readonly [string, string][] = [
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
  ["reportingController", "reportingComponent"],
];

export function toCoreEvent(event: JsonObject): JsonObject {
  return rename(event, new Map(renamed), "v1");
}

export function fromCoreEvent(event: JsonObject): JsonObject {
  const names = new Map(renamed.map(([newName, coreName]) => [coreName, newName]));
  const shown = rename(event, names, "events.k8s.io/v1");
  for (const key of ["reportingController", "reportingInstance"]) {
    if (shown[key] === "") delete shown[key];
  }
  return shown;
}

function rename(
  event: JsonObject,
  names: ReadonlyMap<string, string>,
  apiVersion: string,
): JsonObject {
  const result: JsonObject = {};
  for (const key in event) result[names.get(key) ?? key] = event[key];
  result["apiVersion"] = apiVersion;
  const metadata = event["metadata"];
  if (isJsonObject(metadata)) result["metadata"] = metadata;
  return result;
}
