// The process group that a pod, volume claim or service is built for.

export interface PodSubject {
  readonly processGroupID: string;
  readonly processClass: string;
  /** The logical fault domain of a packed process group. */
  readonly distributionKey?: string | undefined;
  /** The data hall or datacenter that it must run in. */
  readonly hall?: string | undefined;
}
