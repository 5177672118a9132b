// The seam between a Kubernetes client and a Kubernetes API server. Two implementations: HTTPS to a
// real server (https.ts), and the emulator in the same process and in virtual time.
// Objects that cross this seam are plain JSON data and must never be mutated by the receiver: the
// emulator hands out its own frozen objects.

export interface KubeRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute path, for example /api/v1/namespaces/default/pods. */
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** Of the body; application/json when absent. Patches name their kind here. */
  contentType?: string;
  /** What the answer may be; application/json when absent. Tables are asked for here. */
  accept?: string;
  /** Aborting ends the request with a KubeError of reason "Aborted". */
  signal?: AbortSignal;
  /** Who asks; used for managedFields when no fieldManager is given. */
  userAgent?: string;
}

export interface KubeResponse {
  /** HTTP status code. A code >= 400 comes with a metav1.Status body; request() does not throw for it. */
  status: number;
  body: unknown;
  /** Warning texts of the server (HTTP header Warning: 299). */
  warnings?: readonly string[];
  /** How long the server asks to wait (HTTP header Retry-After). */
  retryAfterSeconds?: number;
  /** When the server made the answer, by its own clock (HTTP header Date). */
  dateMs?: number;
}

export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: unknown;
}

export interface KubeTransport {
  /** Throws KubeError only when no answer arrived (reason "Unreachable", "Timeout" or "Aborted"). */
  request(request: KubeRequest): Promise<KubeResponse>;
  /**
   * Opens a watch (the query carries watch=true and resourceVersion). Calls `onEvent` for each event in
   * order. Resolves when the server ends the stream or the signal is aborted; rejects with KubeError when
   * the server refuses it or the connection breaks.
   */
  watch(request: KubeRequest, onEvent: (event: WatchEvent) => void): Promise<void>;
}
