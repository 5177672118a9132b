// Plain JSON values: copying, reading, comparing. The store hands out frozen objects, so every writer
// starts from a copy.

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A deep, mutable copy as JSON would carry it: members that are undefined disappear. */
export function cloneJson<T>(value: T): T {
  return cloneValue(value) as T;
}

function cloneValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneValue);
  const source = value as JsonObject;
  const copy: JsonObject = {};
  for (const key in source) {
    const member = source[key];
    if (member !== undefined) copy[key] = cloneValue(member);
  }
  return copy;
}

/** A copy that may be written to, and so may its members; what is below them is shared. */
export function openCopy(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key in object) {
    const member = object[key];
    copy[key] = isJsonObject(member) ? { ...member } : member;
  }
  return copy;
}

/** A copy like that of cloneJson in which each part that equals the one of `known` at its place is that part itself. */
export function cloneSharing<T>(value: T, known: unknown): T {
  return sharingClone(value, known) as T;
}

function sharingClone(value: unknown, known: unknown): unknown {
  if (value === known || typeof value !== "object" || value === null) return value;
  if (typeof known !== "object" || known === null) return cloneValue(value);
  if (Array.isArray(value) !== Array.isArray(known)) return cloneValue(value);
  if (Array.isArray(value)) return sharingItems(value, known as unknown[]);
  const [source, old] = [value as JsonObject, known as JsonObject];
  const copy: JsonObject = {};
  let isSame = true;
  let count = 0;
  for (const key in source) {
    const member = source[key];
    if (member === undefined) continue;
    copy[key] = sharingClone(member, old[key]);
    isSame &&= copy[key] === old[key];
    count += 1;
  }
  if (!isSame) return copy;
  for (const key in old) if (old[key] !== undefined) count -= 1;
  return count === 0 ? old : copy;
}

function sharingItems(list: readonly unknown[], known: readonly unknown[]): readonly unknown[] {
  const copy = list.map((item, index) => sharingClone(item, known[index]));
  const isSame = copy.length === known.length && copy.every((item, index) => item === known[index]);
  return isSame ? known : copy;
}

/** Equality of JSON values; the order of members does not matter, and undefined means absent. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object") return false;
  if (left === null || right === null) return false;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => jsonEqual(item, right[index]));
  }
  if (Array.isArray(right)) return false;
  return membersEqual(left as JsonObject, right as JsonObject);
}

function membersEqual(left: JsonObject, right: JsonObject): boolean {
  let leftCount = 0;
  for (const key in left) {
    if (left[key] === undefined) continue;
    leftCount += 1;
    if (!jsonEqual(left[key], right[key])) return false;
  }
  let rightCount = 0;
  for (const key in right) if (right[key] !== undefined) rightCount += 1;
  return leftCount === rightCount;
}

/** The member as an object, or an empty one: for reading only. */
export function objectAt(value: unknown, ...path: string[]): JsonObject {
  const found = valueAt(value, ...path);
  return isJsonObject(found) ? found : {};
}

export function arrayAt(value: unknown, ...path: string[]): unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function stringAt(value: unknown, ...path: string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : "";
}

export function valueAt(value: unknown, ...path: string[]): unknown {
  let current: unknown = value;
  for (const key of path) {
    if (!isJsonObject(current)) return undefined;
    current = current[key];
  }
  return current;
}

/** The member as an object that may be written to; it is made when absent. */
export function ensureObject(parent: JsonObject, key: string): JsonObject {
  const existing = parent[key];
  if (isJsonObject(existing)) return existing;
  const made: JsonObject = {};
  parent[key] = made;
  return made;
}
