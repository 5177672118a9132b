// `--set spec.path=value`: one value of a cluster, typed by the schema of its resource. A path that is not there is refused
// with names that are near it. Pure. Rule PV6.
import type { FoundationDBCluster } from "../api/cluster.ts";
import { isNestedTooDeeply, nestingMaximum } from "../env/nesting.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";

export type SetReading = { readonly cluster: FoundationDBCluster } | { readonly problem: string };

type Value = Record<string, unknown> | unknown[];

/** `assignment` is path=value; the path begins with spec, metadata.labels or metadata.annotations. */
export function setValue(
  cluster: FoundationDBCluster,
  assignment: string,
  schema: StructuralSchema,
): SetReading {
  const equals = assignment.indexOf("=");
  if (equals <= 0) {
    return {
      problem: `--set ${shortened(assignment)}: write it as path=value, as in spec.processCounts.storage=5`,
    };
  }
  const [path, text] = [assignment.slice(0, equals), assignment.slice(equals + 1)];
  const steps = stepsOf(path);
  const target = targetOf(steps, schema);
  if ("problem" in target) return { problem: `--set ${shortened(path)}: ${target.problem}` };
  const typed = typedValue(text, target.schema);
  if ("problem" in typed) {
    return { problem: `--set ${shortened(`${path}=${text}`)}: ${typed.problem}` };
  }
  const copy = structuredClone(cluster) as unknown as Record<string, unknown>;
  const problem = put(copy, steps, typed.value);
  if (problem !== undefined) return { problem: `--set ${shortened(path)}: ${problem}` };
  return { cluster: copy as unknown as FoundationDBCluster };
}

const shownMaximum = 120;

/** What somebody wrote, as far as a line can show it. */
export function shortened(text: string): string {
  return text.length > shownMaximum ? `${text.slice(0, shownMaximum)}…` : text;
}

/** a.b[0].c and a.b.0.c are one path; a dot in a name is written as \. */
function stepsOf(path: string): string[] {
  const parts = path.replaceAll(/\[(\d+)\]/g, ".$1").split(/(?<!\\)\./);
  return parts.map((part) => part.replaceAll(String.raw`\.`, "."));
}

function targetOf(
  steps: readonly string[],
  root: StructuralSchema,
): { schema: StructuralSchema | undefined } | { problem: string } {
  const [first = "", second = "", ...rest] = steps;
  // Assigning to it sets no field of an object.
  if (steps.includes("__proto__")) return { problem: "no field has the name __proto__" };
  if (first === "metadata") {
    const isOpen = (second === "labels" || second === "annotations") && rest.length === 1;
    if (isOpen) return { schema: { type: "string" } };
    return { problem: "only metadata.labels.NAME and metadata.annotations.NAME can be set" };
  }
  if (first !== "spec" || second === "") return { problem: "the path has to begin with spec." };
  let schema: StructuralSchema | undefined = root.properties?.["spec"];
  const walked = ["spec"];
  for (const step of steps.slice(1)) {
    const next = stepInto(schema, step);
    if (next === undefined) {
      const names = Object.keys(schema?.properties ?? {});
      const near = nearNames(step, names);
      const known = near.length > 0 ? near : names.slice(0, 5);
      const hint = known.length === 0 ? "it has no fields" : `there is ${known.join(", ")}`;
      return { problem: `${walked.join(".")} has no field ${shortened(step)}: ${hint}` };
    }
    schema = next;
    walked.push(step);
  }
  return { schema };
}

function stepInto(
  schema: StructuralSchema | undefined,
  step: string,
): StructuralSchema | undefined {
  if (schema === undefined) return undefined;
  const { properties = {} } = schema;
  if (Object.hasOwn(properties, step)) return properties[step];
  if (schema.items !== undefined) return /^\d+$/.test(step) ? schema.items : undefined;
  const { additionalProperties: others } = schema;
  if (typeof others === "object") return others;
  return others === true || schema["x-kubernetes-preserve-unknown-fields"] === true
    ? {}
    : undefined;
}

function typedValue(
  text: string,
  schema: StructuralSchema | undefined,
): { value: unknown } | { problem: string } {
  switch (schema?.type) {
    case "string":
      return enumProblem(text, schema) ?? { value: text };
    case "boolean":
      if (text === "true" || text === "false") return { value: text === "true" };
      return { problem: "it is a boolean: true or false" };
    case "integer":
    case "number": {
      const number = Number(text);
      if (schema.type === "integer") {
        if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(number)) return { value: number };
        return { problem: `it is a whole number${boundsText(schema)}, in digits` };
      }
      const isFine = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) && Number.isFinite(number);
      return isFine ? { value: number } : { problem: "it is a number" };
    }
    default:
      try {
        const value: unknown = JSON.parse(text);
        if (!isNestedTooDeeply(value)) return { value };
        return { problem: `it is nested more than ${nestingMaximum} levels deep` };
      } catch {
        // Text that is no JSON is what it says, where the schema leaves that open.
        if (schema?.type === undefined) return { value: text };
        return {
          problem: `it is ${schema.type === "array" ? "a list" : "an object"}: write it as JSON`,
        };
      }
  }
}

function boundsText({ minimum, maximum }: StructuralSchema): string {
  if (minimum === undefined && maximum === undefined) return "";
  if (minimum === undefined) return ` up to ${maximum}`;
  return maximum === undefined ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function enumProblem(text: string, schema: StructuralSchema): { problem: string } | undefined {
  const allowed = (schema.enum ?? []).map(String);
  if (allowed.length === 0 || allowed.includes(text)) return undefined;
  return { problem: `it is one of ${allowed.filter((one) => one !== "").join(", ")}` };
}

function put(
  root: Record<string, unknown>,
  steps: readonly string[],
  value: unknown,
): string | undefined {
  let place: Value = root;
  for (const [index, step] of steps.slice(0, -1).entries()) {
    const isList = /^\d+$/.test(steps[index + 1] ?? "");
    const known = read(place, step);
    if (typeof known === "object" && known !== null) place = known as Value;
    else {
      const made: Value = isList ? [] : {};
      write(place, step, made);
      place = made;
    }
    if (isList && Array.isArray(place) && Number(steps[index + 1]) > place.length) {
      return `the list has ${place.length} entries: the next one is ${place.length}`;
    }
  }
  write(place, steps.at(-1) ?? "", value);
  return undefined;
}

function read(place: Value, step: string): unknown {
  return Array.isArray(place) ? place[Number(step)] : place[step];
}

function write(place: Value, step: string, value: unknown): void {
  if (Array.isArray(place)) place[Number(step)] = value;
  else place[step] = value;
}

/** Names that differ in a few letters, or that contain what was written. */
export function nearNames(wanted: string, names: readonly string[]): string[] {
  const small = wanted.toLowerCase();
  return names
    .map((name) => ({ name, distance: distanceOf(small, name.toLowerCase()) }))
    .filter(
      ({ name, distance }) =>
        distance <= Math.max(2, Math.floor(small.length / 3)) ||
        (small.length > 2 && name.toLowerCase().includes(small)),
    )
    .toSorted((left, right) => left.distance - right.distance || (left.name < right.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name);
}

/** How many letters are put in, taken out or changed from one text to the other. */
function distanceOf(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, letter] of left.split("").entries()) {
    const next = [index + 1];
    for (const [column, other] of right.split("").entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
