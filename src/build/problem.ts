// What a builder says when a resource asks for something that cannot be built: where it is, what it is, and what to do.

export interface BuildProblem {
  /** Path of the field in the resource. */
  field: string;
  value: string;
  remedy: string;
}

export type Built<T> = { ok: true; value: T } | { ok: false; problem: BuildProblem };

export function built<T>(value: T): Built<T> {
  return { ok: true, value };
}

export function problem<T>(field: string, value: string, remedy: string): Built<T> {
  return { ok: false, problem: { field, value, remedy } };
}
