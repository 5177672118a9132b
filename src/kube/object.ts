// The shape that all Kubernetes objects share. Precise types of the kinds we use are generated beside it
// (generated/types.ts).

import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from "./generated/types.ts";

export type { ManagedFieldsEntry, ObjectMeta, OwnerReference };

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

export interface KubeList<T> {
  apiVersion: string;
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: T[];
}
