// One thing that is wrong with one field, in the words and form of the Kubernetes API server.

const wordsByReason = {
  FieldValueRequired: "Required value",
  FieldValueInvalid: "Invalid value",
  FieldValueTypeInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueDuplicate: "Duplicate value",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
} as const;

export type FieldErrorReason = keyof typeof wordsByReason;

/** Stands for a value that the API server leaves out of its message. */
export const omittedValue: unique symbol = Symbol("omitted value");

/** How the API server shows the path of an error that it attaches to no field. */
export const noPath = "<nil>";

export interface FieldError {
  readonly path: string;
  readonly reason: FieldErrorReason;
  /** The words that the message begins with. */
  readonly type: string;
  readonly badValue: unknown;
  readonly detail: string;
}

export function fieldError(
  reason: FieldErrorReason,
  path: string,
  badValue: unknown,
  detail: string,
): FieldError {
  return {
    path: path === "" ? noPath : path,
    reason,
    type: wordsByReason[reason],
    badValue,
    detail,
  };
}

const reasonsWithoutValue: readonly FieldErrorReason[] = [
  "FieldValueRequired",
  "FieldValueForbidden",
  "FieldValueTooLong",
];

/** The message without the path, as in the causes of a Status. */
export function fieldErrorMessage(error: FieldError): string {
  const isValueShown =
    !reasonsWithoutValue.includes(error.reason) && error.badValue !== omittedValue;
  const value = isValueShown ? `: ${shownValue(error.badValue)}` : "";
  return `${error.type}${value}${error.detail === "" ? "" : `: ${error.detail}`}`;
}

/** A value as Go prints it: strings quoted, numbers plain, the rest as JSON with sorted keys. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return shownNumber(value);
  return JSON.stringify(sortedKeys(value)) ?? "null";
}

/** Go writes at least two digits of an exponent. */
export function shownNumber(value: number): string {
  return String(value).replace(/e([+-])(\d)$/, "e$10$2");
}

const shortEscapes: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

export function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is escaped here
  const escaped = text.replace(/["\\\u0000-\u001f\u007f]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(2, "0");
    return shortEscapes[character] ?? `\\x${code}`;
  });
  return `"${escaped}"`;
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortedKeys(member)]));
}

/** A call with a spread list fails for 100,000 entries. */
export function append(errors: FieldError[], more: readonly FieldError[]): void {
  for (const each of more) errors.push(each);
}
