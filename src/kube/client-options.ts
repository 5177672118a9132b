// The options of the calls of KubeClient, in the terms of the Kubernetes API.

export interface CallOptions {
  signal?: AbortSignal;
}

export interface ListOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: "Exact" | "NotOlderThan";
}

export interface WatchOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion: string;
  timeoutSeconds?: number;
  allowWatchBookmarks?: boolean;
}

export interface WriteOptions extends CallOptions {
  dryRun?: boolean;
  fieldManager?: string;
  /** What the server does with unknown or duplicate fields; it warns by default. */
  fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export interface PatchOptions extends WriteOptions {
  type: "merge" | "json" | "strategic" | "apply";
  subresource?: string;
  /** Takes over fields of other managers; only for apply. */
  force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  dryRun?: boolean;
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  preconditions?: { uid?: string; resourceVersion?: string };
}
