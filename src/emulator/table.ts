// Tables as kubectl get prints them: columns of built-in kinds, and the printer columns of custom ones. [KAS63]
import { arrayAt, objectAt, stringAt, type JsonObject } from "./json.ts";
import { readJsonPath } from "./json-path.ts";
import type { Kind, PrinterColumn } from "./kind.ts";
import { columnsByKind, type Column } from "./table-columns.ts";
import { ageSince } from "./table-age.ts";

export function tableOf(kind: Kind, body: JsonObject, included: string, nowMs: number): JsonObject {
  const isList = body["kind"] === kind.listKind;
  const objects = isList ? arrayAt(body, "items").map((item) => objectAt(item)) : [body];
  const columns = columnsOf(kind);
  const version = objectAt(body, "metadata")["resourceVersion"];
  const metadata = isList ? body["metadata"] : { resourceVersion: version };
  return {
    ...{ kind: "Table", apiVersion: "meta.k8s.io/v1", metadata },
    columnDefinitions: columns.map(({ name, type, format, priority }) => ({
      ...{ name, type, format: format ?? "", description: name, priority: priority ?? 0 },
    })),
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, nowMs)),
      ...(included === "None" ? {} : { object: includedObject(kind, object, included) }),
    })),
  };
}

function includedObject(kind: Kind, object: JsonObject, included: string): JsonObject {
  if (included !== "Object") return partialObject(object);
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  return { kind: kind.kind, apiVersion, ...object };
}

const nameColumn: Column = {
  ...{ name: "Name", type: "string", format: "name" },
  cell: (object) => stringAt(object, "metadata", "name"),
};

export const ageColumn: Column = {
  ...{ name: "Age", type: "string" },
  cell: (object, nowMs) => ageSince(stringAt(object, "metadata", "creationTimestamp"), nowMs),
};

function columnsOf(kind: Kind): Column[] {
  if (kind.custom !== undefined) return [nameColumn, ...kind.custom.columns.map(customColumn)];
  return columnsByKind[kind.kind] ?? [nameColumn, { ...ageColumn, name: "Created At" }];
}

function customColumn(column: PrinterColumn): Column {
  return {
    ...{ name: column.name, type: column.type, format: column.format ?? "" },
    priority: column.priority ?? 0,
    cell: (object, nowMs) => customCell(column, object, nowMs),
  };
}

function customCell(column: PrinterColumn, object: JsonObject, nowMs: number): unknown {
  const values = readJsonPath(object, column.jsonPath);
  const [value] = values;
  if (value === undefined || value === null) return null;
  switch (column.type) {
    case "date":
      return ageSince(String(value), nowMs);
    case "integer":
    case "number":
    case "boolean":
      return typeof value === column.type.replace("integer", "number") ? value : null;
    default:
      return values
        .map((each) => (typeof each === "object" ? JSON.stringify(each) : String(each)))
        .join(",");
  }
}

/** An object reduced to its metadata. */
export function partialObject(object: JsonObject): JsonObject {
  return {
    ...{ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" },
    metadata: object["metadata"],
  };
}
