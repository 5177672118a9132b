// Sets of field paths, as managedFields records them (fieldsV1): "f:name" is a member of an object,
// "k:{...}" an item of a list by its keys, "v:..." an item of a set by its value.
import { isJsonObject, type JsonObject } from "./json.ts";

export interface FieldSet {
  /** Whether the path that leads here is itself in the set. */
  isMember: boolean;
  children: Map<string, FieldSet>;
}

export function emptySet(): FieldSet {
  return { isMember: false, children: new Map() };
}

export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.children.size === 0;
}

export function insertPath(set: FieldSet, path: readonly string[]): void {
  let current = set;
  for (const element of path) {
    let child = current.children.get(element);
    if (child === undefined) {
      child = emptySet();
      current.children.set(element, child);
    }
    current = child;
  }
  current.isMember = true;
}

export function unionOf(left: FieldSet, right: FieldSet): FieldSet {
  const children = new Map(left.children);
  for (const [element, child] of right.children) {
    const known = children.get(element);
    children.set(element, known === undefined ? child : unionOf(known, child));
  }
  return { isMember: left.isMember || right.isMember, children };
}

/** The paths of `left` that are not in `right`. */
export function differenceOf(left: FieldSet, right: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of left.children) {
    const other = right.children.get(element);
    const kept = other === undefined ? child : differenceOf(child, other);
    if (!isEmptySet(kept)) children.set(element, kept);
  }
  return { isMember: left.isMember && !right.isMember, children };
}

export function intersectionOf(left: FieldSet, right: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of left.children) {
    const other = right.children.get(element);
    if (other === undefined) continue;
    const common = intersectionOf(child, other);
    if (!isEmptySet(common)) children.set(element, common);
  }
  return { isMember: left.isMember && right.isMember, children };
}

export function setsEqual(left: FieldSet, right: FieldSet): boolean {
  if (left.isMember !== right.isMember || left.children.size !== right.children.size) return false;
  for (const [element, child] of left.children) {
    const other = right.children.get(element);
    if (other === undefined || !setsEqual(child, other)) return false;
  }
  return true;
}

/** Every path of the set: at each level the members first, then what is below them. */
export function pathsOf(set: FieldSet, prefix: readonly string[] = []): string[][] {
  const children = [...set.children].sort(([left], [right]) => (left < right ? -1 : 1));
  const members = children.filter(([, child]) => child.isMember);
  return [
    ...members.map(([element]) => [...prefix, element]),
    ...children.flatMap(([element, child]) => pathsOf(child, [...prefix, element])),
  ];
}

const parsed = new WeakMap<JsonObject, FieldSet>();

export function parseFieldsV1(fields: unknown): FieldSet {
  if (!isJsonObject(fields)) return emptySet();
  let set = parsed.get(fields);
  if (set === undefined) {
    set = parseChildren(fields);
    if (Object.isFrozen(fields)) parsed.set(fields, set);
  }
  return set;
}

function parseChildren(fields: JsonObject): FieldSet {
  const set = emptySet();
  for (const element in fields) {
    if (element === ".") {
      set.isMember = true;
      continue;
    }
    const child = fields[element];
    const childSet = isJsonObject(child) ? parseChildren(child) : emptySet();
    if (isEmptySet(childSet)) childSet.isMember = true;
    set.children.set(element, childSet);
  }
  return set;
}

export function toFieldsV1(set: FieldSet): JsonObject {
  const fields: JsonObject = {};
  if (set.isMember && set.children.size > 0) fields["."] = {};
  for (const element of [...set.children.keys()].sort()) {
    const child = set.children.get(element);
    if (child !== undefined) fields[element] = toFieldsV1(child);
  }
  return fields;
}
