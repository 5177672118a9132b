// What changed between two values of JSON, and how one becomes the other: the server sends the first, the page applies it.
// Arrays that lose elements in front and gain some behind, as those of figures do, travel as just that.
// Rules: spec/web.md [WEB2], [WEB3].

export type Json =
  | boolean
  | number
  | string
  | null
  | readonly Json[]
  | { readonly [name: string]: Json };

/** Names of members and indices of elements, from the outside to the inside. */
type Path = readonly (number | string)[];

export type Change =
  | { readonly at: Path; readonly set: Json }
  | { readonly at: Path; readonly remove: true }
  /** An array loses so many elements in front, then gains these behind. */
  | { readonly at: Path; readonly shift: number; readonly push: readonly Json[] };

/** Both are values of JSON; members that are undefined count as absent. */
export function differences(before: unknown, after: unknown): Change[] {
  const changes: Change[] = [];
  compare(before as Json, after as Json, [], changes);
  return changes;
}

function compare(before: Json, after: Json, at: Path, changes: Change[]): void {
  if (before === after) return;
  if (isList(before) && isList(after)) compareLists(before, after, at, changes);
  else if (isRecord(before) && isRecord(after)) compareRecords(before, after, at, changes);
  else changes.push({ at, set: after });
}

function compareRecords(
  before: Readonly<Record<string, Json | undefined>>,
  after: Readonly<Record<string, Json | undefined>>,
  at: Path,
  changes: Change[],
): void {
  for (const name of Object.keys(before)) {
    if (before[name] === undefined || own(after, name) !== undefined) continue;
    changes.push({ at: [...at, name], remove: true });
  }
  for (const name of Object.keys(after)) {
    const [old, wanted] = [own(before, name), after[name]];
    if (wanted === undefined) continue;
    if (old === undefined) changes.push({ at: [...at, name], set: wanted });
    else compare(old, wanted, [...at, name], changes);
  }
}

function own(record: Readonly<Record<string, Json | undefined>>, name: string): Json | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** So many elements may go in front at once; when more do, the list is sent anew. */
const shiftMax = 8;

function compareLists(
  before: readonly Json[],
  after: readonly Json[],
  at: Path,
  changes: Change[],
): void {
  const shift = shiftOf(before, after);
  if (shift !== undefined) {
    const push = after.slice(before.length - shift);
    if (shift > 0 || push.length > 0) changes.push({ at, shift, push });
  } else if (before.length === after.length) {
    for (const [index, one] of after.entries()) {
      compare(before[index] as Json, one, [...at, index], changes);
    }
  } else changes.push({ at, set: after });
}

/** How many elements in front are gone when the rest is where the new list begins; undefined when it is not so. */
function shiftOf(before: readonly Json[], after: readonly Json[]): number | undefined {
  const max = Math.min(shiftMax, before.length - 1);
  for (let shift = 0; shift <= max; shift += 1) {
    const kept = before.length - shift;
    if (kept > after.length) continue;
    if (isStart(before, shift, after)) return shift;
  }
  return undefined;
}

function isStart(before: readonly Json[], shift: number, after: readonly Json[]): boolean {
  for (let index = shift; index < before.length; index += 1) {
    if (!isEqual(before[index] as Json, after[index - shift] as Json)) return false;
  }
  return true;
}

function isEqual(left: Json, right: Json): boolean {
  if (left === right) return true;
  const changes: Change[] = [];
  if (isList(left) && isList(right)) {
    return left.length === right.length && isStart(left, 0, right);
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  compareRecords(left, right, [], changes);
  return changes.length === 0;
}

/** What is not touched stays the very same object, so that a reader sees by identity what changed. */
export function applied<T>(value: T, changes: readonly Change[]): T {
  return changes.reduce<Json>((whole, change) => changed(whole, change, 0), value as Json) as T;
}

function changed(value: Json, change: Change, depth: number): Json {
  const step = change.at[depth];
  if (step === undefined) {
    if ("set" in change) return change.set;
    if ("push" in change && isList(value)) return [...value.slice(change.shift), ...change.push];
    throw new Error("this change is for another value");
  }
  if (isList(value)) {
    const index = Number(step);
    if (!(index in value)) throw new Error(`there is no element ${index}`);
    return value.with(index, changed(value[index] as Json, change, depth + 1));
  }
  if (!isRecord(value)) throw new Error(`there is no member ${step}`);
  const name = String(step);
  const isLast = depth === change.at.length - 1;
  const { [name]: old, ...others } = value;
  if (isLast && "remove" in change) return others;
  if (isLast && "set" in change) return { ...value, [name]: change.set };
  if (old === undefined) throw new Error(`there is no member ${name}`);
  return { ...value, [name]: changed(old, change, depth + 1) };
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isRecord(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !isList(value);
}
