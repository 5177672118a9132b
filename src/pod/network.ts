// How the operator talks to a pod: HTTP to the split image's sidecar, and a TLS handshake with a process to see its
// certificate. The emulated kubelet answers in process; the real implementation uses node:http(s) and node:tls.
import type { SeenCertificate } from "../model/certificate.ts";

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

export interface Handshake {
  /** IP address without brackets. */
  host: string;
  port: number;
  timeoutMs: number;
}

export interface PodNetwork {
  /** Rejects with PodUnreachableError when nobody answers within the time limit. */
  request(request: PodRequest): Promise<PodResponse>;
  /** The certificate that a process shows. Rejects with PodUnreachableError when it shows none within the time limit. */
  certificate(handshake: Handshake): Promise<SeenCertificate>;
}

export class PodUnreachableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PodUnreachableError";
  }
}
