// The limits of the schema, asked of a resource as it is stored: it may be older than a limit, and the API server judges only
// what changes. Kubernetes' own types are left to Kubernetes. Rules: spec/api.md [API35]-[API37].
import { processesMaximum, processGroupsMaximum } from "../model/limits.ts";
import { totalProcessCount } from "../model/process-counts.ts";
import { clusterSpecSchema, type ClusterSpec } from "./cluster-spec.ts";
import { serversPerPod } from "./effective.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { coreTypeName, type Schema } from "./schema.ts";
import { isMap } from "../kube/structural/json-value.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";
import { wantedCounts } from "./wanted-counts.ts";

/** What is beyond the limits of its own field; when nothing is, what all fields together ask for is judged. */
export function limitProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  const found = beyondLimits(clusterSpecSchema, spec, "spec");
  return found.length > 0 ? found : sumProblems(spec);
}

function beyondLimits(
  schema: StructuralSchema,
  value: unknown,
  path: string,
): readonly ValidationProblem[] {
  if ((schema as Schema<unknown>)[coreTypeName] !== undefined) return [];
  if (typeof value === "number") return numberProblems(schema, value, path);
  if (typeof value === "string") return textProblems(schema, value, path);
  if (Array.isArray(value)) return listProblems(schema, value, path);
  return isMap(value) ? mapProblems(schema, value, path) : [];
}

function numberProblems(
  { minimum = -Infinity, maximum = Infinity }: StructuralSchema,
  value: number,
  path: string,
): readonly ValidationProblem[] {
  if (value > maximum) {
    return [problem(path, value, `${value} is too large`, `use ${maximum} or less`)];
  }
  if (value >= minimum) return [];
  return [problem(path, value, `${value} is too small`, `use ${minimum} or more`)];
}

function textProblems(
  { maxLength = Infinity }: StructuralSchema,
  value: string,
  path: string,
): readonly ValidationProblem[] {
  if (value.length <= maxLength) return [];
  const message = `a text of ${value.length} characters is too long`;
  return [problem(path, value.length, message, `use at most ${maxLength} characters`)];
}

function listProblems(
  { maxItems = Infinity, items }: StructuralSchema,
  value: readonly unknown[],
  path: string,
): readonly ValidationProblem[] {
  if (value.length > maxItems) return [tooMany(path, value.length, maxItems)];
  if (items === undefined) return [];
  return value.flatMap((item, index) => beyondLimits(items, item, `${path}[${index}]`));
}

function mapProblems(
  schema: StructuralSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
): readonly ValidationProblem[] {
  const { maxProperties = Infinity, properties, additionalProperties } = schema;
  const entries = Object.entries(value);
  if (entries.length > maxProperties) return [tooMany(path, entries.length, maxProperties)];
  return entries.flatMap(([key, member]) => {
    const other = typeof additionalProperties === "object" ? additionalProperties : undefined;
    const memberSchema = properties?.[key] ?? other;
    return memberSchema === undefined ? [] : beyondLimits(memberSchema, member, `${path}.${key}`);
  });
}

function tooMany(path: string, count: number, maximum: number): ValidationProblem {
  return problem(path, count, `${count} entries are too many`, `use at most ${maximum}`);
}

function sumProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  const counts = wantedCounts(spec);
  const pods = totalProcessCount(counts);
  if (pods > processGroupsMaximum) {
    const message = `all classes together would have ${pods} pods`;
    const remedy = `ask for at most ${processGroupsMaximum} in one resource`;
    return [problem("spec.processCounts", spec.processCounts, message, remedy)];
  }
  const servers = (["storage", "log", "transaction"] as const)
    .map((name) => ({ name, count: (counts[name] ?? 0) * serversPerPod(spec, name) }))
    .toSorted((a, b) => b.count - a.count);
  const processes = servers.reduce((sum, { count }) => sum + count, 0);
  if (processes <= processesMaximum) return [];
  const field = servers[0]?.name === "storage" ? "storageServersPerPod" : "logServersPerPod";
  const message = `all pods together would have ${processes} processes`;
  const remedy = `ask for at most ${processesMaximum} in one resource`;
  return [problem(`spec.${field}`, spec[field], message, remedy)];
}
