// The JSON paths of printer columns and selectable fields: members, indexes, wildcards and equality filters.
import { isJsonObject } from "./json.ts";

type Step =
  | { kind: "member"; name: string }
  | { kind: "index"; index: number }
  | { kind: "all" }
  | { kind: "filter"; path: string; value: string };

const cache = new Map<string, Step[]>();

/** All values that the path finds. */
export function readJsonPath(object: unknown, path: string): unknown[] {
  let steps = cache.get(path);
  if (steps === undefined) {
    steps = parse(path);
    cache.set(path, steps);
  }
  return steps.reduce<unknown[]>(
    (values, step) => values.flatMap((value) => take(value, step)),
    [object],
  );
}

const stepForm =
  /\.([\w-]+)|\['((?:[^'\\]|\\.)*)'\]|\[(-?\d+)\]|\[\*\]|\.\*|\[\?\(@\.([\w.-]+)\s*==\s*['"]([^'"]*)['"]\)\]/y;

function parse(path: string): Step[] {
  const steps: Step[] = [];
  const text = path.replaceAll("\\.", "\u0000");
  stepForm.lastIndex = 0;
  while (stepForm.lastIndex < text.length) {
    const match = stepForm.exec(text);
    if (match === null) return [{ kind: "member", name: "\u0001" }];
    const [whole, member, quoted, index, filterPath, filterValue] = match;
    if (filterPath !== undefined) {
      steps.push({ kind: "filter", path: `.${filterPath}`, value: filterValue ?? "" });
    } else if (index !== undefined) steps.push({ kind: "index", index: Number(index) });
    else if (whole === "[*]" || whole === ".*") steps.push({ kind: "all" });
    else steps.push({ kind: "member", name: (member ?? quoted ?? "").replaceAll("\u0000", ".") });
  }
  return steps;
}

function take(value: unknown, step: Step): unknown[] {
  switch (step.kind) {
    case "member": {
      const member = isJsonObject(value) ? value[step.name] : undefined;
      return member === undefined ? [] : [member];
    }
    case "index": {
      const item = Array.isArray(value) ? (value as unknown[]).at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "all":
      if (Array.isArray(value)) return value;
      return isJsonObject(value) ? Object.values(value) : [];
    case "filter":
      if (!Array.isArray(value)) return [];
      return value.filter((item) => String(readJsonPath(item, step.path)[0]) === step.value);
  }
}
