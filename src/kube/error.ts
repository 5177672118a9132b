// A call to Kubernetes that failed. `status` and `reason` are those of the server's metav1.Status; calls
// that never got an answer have status 0.

export interface KubeErrorCause {
  field?: string;
  reason?: string;
  message?: string;
}

export class KubeError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly causes: readonly KubeErrorCause[];
  /** How long the server asks to wait before the next attempt. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    reason: string,
    message: string,
    causes: readonly KubeErrorCause[] = [],
    retryAfterSeconds?: number,
  ) {
    super(message);
    this.name = "KubeError";
    this.status = status;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function isKubeError(error: unknown, reason?: string): error is KubeError {
  return error instanceof KubeError && (reason === undefined || error.reason === reason);
}
