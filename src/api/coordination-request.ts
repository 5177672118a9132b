// How a person asks an operator about the coordination sets: a question in one annotation of the cluster, the answer in
// another. Whoever may change the resource may ask, and nobody needs a connection to the database.
// Rules: spec/coordination.md [CO54]-[CO58].

export const requestAnnotation = "foundationdb.org/coordination-request";
export const answerAnnotation = "foundationdb.org/coordination-answer";

export interface CoordinationRequest {
  /** Drawn by who asks, so that an answer is known by it. */
  readonly id: string;
  readonly verb: "show" | "clear";
  /** Whose entries are cleared. */
  readonly prefix?: string;
  /** The person says that nobody stands behind them, though processes of that instance live. */
  readonly isAbandoned?: boolean;
}

export interface CoordinationAnswer {
  readonly id: string;
  /** As SET/PREFIX/PROCESSGROUP, with =TARGETS where there are some; after a clear, what was taken out or would be. */
  readonly entries: readonly string[];
  /** Entries that the answer had no room for. */
  readonly leftOut: number;
  /** Why nothing was done. */
  readonly problem?: string;
}

/** Undefined when the text is no request. */
export function parseRequest(text: string | undefined): CoordinationRequest | undefined {
  const value = parseRecord(text);
  const { id, verb, prefix, isAbandoned } = value ?? {};
  if (typeof id !== "string" || id === "") return undefined;
  if (verb === "show") return { id, verb };
  if (verb !== "clear" || typeof prefix !== "string") return undefined;
  return { id, verb, prefix, ...(isAbandoned === true ? { isAbandoned } : {}) };
}

export function parseAnswer(text: string | undefined): CoordinationAnswer | undefined {
  const { id, entries, leftOut, problem } = parseRecord(text) ?? {};
  if (typeof id !== "string" || !Array.isArray(entries)) return undefined;
  return {
    id,
    entries: entries.filter((entry): entry is string => typeof entry === "string"),
    leftOut: typeof leftOut === "number" ? leftOut : 0,
    ...(typeof problem === "string" ? { problem } : {}),
  };
}

function parseRecord(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // What somebody typed by hand and is no JSON is no request.
    return undefined;
  }
}
