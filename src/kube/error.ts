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

  constructor(
    status: number,
    reason: string,
    message: string,
    causes: readonly KubeErrorCause[] = [],
  ) {
    super(message);
    this.name = "KubeError";
    this.status = status;
    this.reason = reason;
    this.causes = causes;
  }
}

export function isKubeError(error: unknown, reason?: string): error is KubeError {
  return error instanceof KubeError && (reason === undefined || error.reason === reason);
}
