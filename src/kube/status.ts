// Turns the metav1.Status of a refused call into a KubeError. Answers that are no Status at all (a proxy's
// error page, an empty body) still become an error with the reason that belongs to the HTTP code.
import type { Status } from "./generated/types.ts";
import { KubeError } from "./error.ts";

const reasonOfCode: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

export function isStatus(body: unknown): body is Status {
  return (
    typeof body === "object" &&
    body !== null &&
    "kind" in body &&
    body.kind === "Status" &&
    "apiVersion" in body &&
    body.apiVersion === "v1"
  );
}

/** The error of an answer with an HTTP code >= 400, or of a Status that arrived as a watch event. */
export function errorOfAnswer(code: number, body: unknown, retryAfterSeconds?: number): KubeError {
  const fallback = reasonOfCode[code] ?? "Unknown";
  if (!isStatus(body)) {
    const text = typeof body === "string" && body !== "" ? body.slice(0, 200) : "no details";
    const message = `the API server answered ${code}: ${text}`;
    return new KubeError(code, fallback, message, [], retryAfterSeconds);
  }
  return new KubeError(
    code,
    body.reason === undefined || body.reason === "" ? fallback : body.reason,
    body.message ?? `the API server answered ${code}`,
    body.details?.causes ?? [],
    body.details?.retryAfterSeconds ?? retryAfterSeconds,
  );
}

/** Whether the server no longer has the history that was asked for (410 in its two spellings). */
export function isHistoryGone(error: unknown): boolean {
  return (
    error instanceof KubeError &&
    (error.status === 410 || error.reason === "Expired" || error.reason === "Gone")
  );
}
