// A user's mistake as a typed value: which field, what is wrong with it, and what would be right.

export interface ValidationProblem {
  /** Path of the field, such as `spec.version`. */
  readonly field: string;
  readonly value: unknown;
  readonly message: string;
  readonly remedy: string;
}

export function problem(
  field: string,
  value: unknown,
  message: string,
  remedy: string,
): ValidationProblem {
  return { field, value, message, remedy };
}

export function describeProblem({ field, message, remedy }: ValidationProblem): string {
  return `${field}: ${message} (${remedy})`;
}
