// How a status travels from the client process to the operator: whole once, then as what has changed since the one that
// the operator has. What has not changed stays the same object there. Rules: spec/real-database.md [DB57].
import type { DatabaseStatus } from "../../model/database-status.ts";

export type StatusAnswer =
  /** `bytes` is the size of the status as the database told it, before anything was left out. */
  | {
      readonly type: "whole";
      readonly number: number;
      readonly bytes: number;
      readonly status: DatabaseStatus;
    }
  /** It was not read, since it is larger than the question allowed. */
  | { readonly type: "large"; readonly bytes: number }
  /** To be applied to the status with the number that the question named; absent when nothing has changed. */
  | {
      readonly type: "changes";
      readonly number: number;
      readonly bytes: number;
      readonly changes: Changes | undefined;
    };

/** What to do to a record: fields that change themselves, fields with another value, fields that are gone. */
export interface Changes {
  readonly inside?: Readonly<Record<string, Changes>>;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly gone?: readonly string[];
}

/** The status that the operator has from one client process. */
export interface HeldStatus {
  readonly number: number;
  readonly status: DatabaseStatus;
}

type Json = Readonly<Record<string, unknown>>;

/** Remembers in the client process what was sent last of one database. */
export class StatusSender {
  #last: HeldStatus | undefined;
  #nextNumber = 1;

  answer(known: number | null, status: DatabaseStatus, bytes: number): StatusAnswer {
    const last = this.#last;
    const number = this.#nextNumber++;
    this.#last = { number, status };
    if (last === undefined || last.number !== known) {
      return { type: "whole", number, bytes, status };
    }
    return { type: "changes", number, bytes, changes: changesOf(last.status, status) };
  }
}

/** The status of an answer; `base` is what was held when the question was asked. Undefined for what makes no sense. */
export function receivedStatus(
  output: unknown,
  base: HeldStatus | undefined,
): (HeldStatus & { bytes: number }) | undefined {
  if (!isRecord(output)) return undefined;
  const { number, bytes } = output;
  if (typeof number !== "number" || typeof bytes !== "number") return undefined;
  const answer = output as unknown as StatusAnswer;
  if (answer.type === "whole") {
    return isRecord(answer.status) ? { number, bytes, status: answer.status } : undefined;
  }
  if (base === undefined || answer.type !== "changes") return undefined;
  return { number, bytes, status: withChanges(base.status, answer.changes) };
}

/** How large a status is that was not read; undefined for every other answer. */
export function unreadBytes(output: unknown): number | undefined {
  if (!isRecord(output) || output["type"] !== "large") return undefined;
  const { bytes } = output;
  return typeof bytes === "number" ? bytes : undefined;
}

/** Undefined when both are the same. */
export function changesOf(before: object, after: object): Changes | undefined {
  const inside: Record<string, Changes> = {};
  const set: Record<string, unknown> = {};
  const [old, young] = [before as Json, after as Json];
  let isChanged = false;
  for (const name of Object.keys(young)) {
    const value = young[name];
    const earlier = Object.hasOwn(old, name) ? old[name] : undefined;
    if (isRecord(value) && isRecord(earlier)) {
      const changes = changesOf(earlier, value);
      if (changes === undefined) continue;
      define(inside, name, changes);
    } else {
      if (Object.hasOwn(old, name) && isSame(earlier, value)) continue;
      define(set, name, value);
    }
    isChanged = true;
  }
  const gone = Object.keys(old).filter((name) => !Object.hasOwn(young, name));
  if (!isChanged && gone.length === 0) return undefined;
  return {
    ...(Object.keys(inside).length > 0 ? { inside } : {}),
    ...(Object.keys(set).length > 0 ? { set } : {}),
    ...(gone.length > 0 ? { gone } : {}),
  };
}

/** A copy with the changes; parts without a change are the very same objects. */
export function withChanges<T extends object>(before: T, changes: Changes | undefined): T {
  if (changes === undefined) return before;
  const after: Record<string, unknown> = { ...(before as Json) };
  for (const name of changes.gone ?? []) delete after[name];
  for (const [name, value] of Object.entries(changes.set ?? {})) define(after, name, value);
  for (const [name, within] of Object.entries(changes.inside ?? {})) {
    const inner = after[name];
    if (isRecord(inner)) define(after, name, withChanges(inner, within));
  }
  return after as T;
}

/** Names come from a database: one like __proto__ is a name like any other. */
function define(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") record[name] = value;
  else {
    Object.defineProperty(record, name, {
      ...{ value, enumerable: true, configurable: true, writable: true },
    });
  }
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((each, index) => isSame(each, right[index]))
    );
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  return changesOf(left, right) === undefined;
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
