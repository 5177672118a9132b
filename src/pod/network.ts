// How the operator talks to a pod: HTTP to the split image's sidecar. The emulated kubelet answers in process; the real
// implementation uses node:http(s).

export interface PodRequest {
  /** IP address without brackets. */
  host: string;
  port: number;
  useTls: boolean;
  method: "GET" | "POST";
  /** Without the leading slash, for example check_hash/fdb.cluster. */
  path: string;
  timeoutMs: number;
}

export interface PodResponse {
  status: number;
  body: string;
}

export interface PodNetwork {
  /** Rejects with PodUnreachableError when nobody answers within the time limit. */
  request(request: PodRequest): Promise<PodResponse>;
}

export class PodUnreachableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PodUnreachableError";
  }
}
