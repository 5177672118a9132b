// Events of both groups: selectable fields, the members that are always written, and their rules.
import { setDefault } from "./defaults-pod.ts";
import { stringAt, type JsonObject } from "./json.ts";
import type { FieldReader, KindRules } from "./kind.ts";
import { fieldInvalid, fieldRequired, type FieldError } from "./status.ts";

const involved =
  (member: string): FieldReader =>
  (event) =>
    stringAt(event, "involvedObject", member);

/** Readers see the stored, core form of the event. */
const coreFields: Record<string, FieldReader> = {
  "involvedObject.kind": involved("kind"),
  "involvedObject.namespace": involved("namespace"),
  "involvedObject.name": involved("name"),
  "involvedObject.uid": involved("uid"),
  "involvedObject.apiVersion": involved("apiVersion"),
  "involvedObject.resourceVersion": involved("resourceVersion"),
  "involvedObject.fieldPath": involved("fieldPath"),
  reason: (event) => stringAt(event, "reason"),
  reportingComponent: (event) => stringAt(event, "reportingComponent"),
  source: (event) =>
    stringAt(event, "source", "component") || stringAt(event, "reportingComponent"),
  type: (event) => stringAt(event, "type"),
};

export const coreEventRules: KindRules = {
  fields: coreFields,
  prepareCreate: fillCoreEvent,
  prepareUpdate: fillCoreEvent,
  validate: validateEvent,
};

export const eventsGroupRules: KindRules = {
  fields: {
    ...Object.fromEntries(
      Object.entries(coreFields).map(([name, read]) => [
        name
          .replace("involvedObject", "regarding")
          .replace("reportingComponent", "reportingController"),
        read,
      ]),
    ),
    ...coreFields,
  },
  prepareCreate: fillCoreEvent,
  prepareUpdate: fillCoreEvent,
  validate: validateEvent,
  validateCreate: (event) =>
    typeof event["eventTime"] === "string" ? [] : [fieldRequired("eventTime")],
};

function fillCoreEvent(event: JsonObject): void {
  setDefault(event, "source", {});
  for (const key of ["firstTimestamp", "lastTimestamp", "eventTime"]) setDefault(event, key, null);
  for (const key of ["reportingComponent", "reportingInstance"]) setDefault(event, key, "");
}

function validateEvent(event: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = stringAt(event, "metadata", "namespace");
  const about = stringAt(event, "involvedObject", "namespace");
  if (about === "" && namespace !== "default" && namespace !== "kube-system") {
    errors.push(fieldInvalid("involvedObject.namespace", about, "does not match event.namespace"));
  } else if (about !== "" && about !== namespace) {
    errors.push(fieldInvalid("involvedObject.namespace", about, "does not match event.namespace"));
  }
  if (typeof event["eventTime"] !== "string") return errors;
  if (stringAt(event, "reportingComponent") === "")
    errors.push(fieldRequired("reportingController"));
  if (stringAt(event, "reportingInstance") === "") errors.push(fieldRequired("reportingInstance"));
  if (stringAt(event, "action") === "") errors.push(fieldRequired("action"));
  if (stringAt(event, "reason") === "") errors.push(fieldRequired("reason"));
  return errors;
}
