// A watch of one Lease for who waits for it. Rule: spec/kube.md [KUBE67].
import type { KubeClient } from "./client.ts";
import type { Lease } from "./generated/types.ts";
import type { ObjectKey } from "./path.ts";
import { leases } from "./resource.ts";
import type { Stored } from "./resource.ts";
import type { WatchEvent } from "./transport.ts";

/** Tells when the Lease is given back. Whatever ends the stream is no harm: the Lease is read every few seconds anyway. */
export class LeaseWatch {
  readonly #client: KubeClient;
  readonly #lease: ObjectKey;
  readonly #ending = new AbortController();
  #isOpen = false;
  #onFree: () => void = () => {};
  #onLease: (lease: Stored<Lease>) => void = () => {};

  constructor(client: KubeClient, lease: ObjectKey) {
    this.#client = client;
    this.#lease = lease;
  }

  /** Watches from the given state on, unless a stream is open already. */
  open(
    from: Stored<Lease> | undefined,
    onFree: () => void,
    onLease: (lease: Stored<Lease>) => void,
  ): void {
    this.#onFree = onFree;
    this.#onLease = onLease;
    const resourceVersion = from?.metadata.resourceVersion;
    if (this.#isOpen || resourceVersion === undefined) return;
    this.#isOpen = true;
    const { namespace, name } = this.#lease;
    const fieldSelector = `metadata.name=${name}`;
    const signal = this.#ending.signal;
    const options = { namespace, fieldSelector, resourceVersion, timeoutSeconds: 300, signal };
    const end = (): void => void (this.#isOpen = false);
    this.#client.watch(leases, options, (event) => this.#see(event)).then(end, end);
  }

  close(): void {
    this.#ending.abort();
  }

  #see({ type, object }: WatchEvent): void {
    const lease = object as Stored<Lease>;
    const holder = lease.spec?.holderIdentity ?? "";
    if (type === "MODIFIED" || type === "ADDED") this.#onLease(lease);
    if (type === "DELETED" || (type === "MODIFIED" && holder === "")) this.#onFree();
  }
}
