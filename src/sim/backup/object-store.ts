// Simulated object stores: hosts with accounts, buckets and objects, and the ways in which they fail. Volumes that
// file:// containers lie on are stores too, without accounts. Plain data: nothing happens here by itself.
// Carries rules BSIM1 and BSIM2.
import type { StoredObject } from "./container-objects.ts";

export interface StoreTrouble {
  /** Nobody answers at the address, the name does not resolve, or its certificate is not trusted. */
  isUnreachable: boolean;
  /** Takes requests and never answers. */
  isHanging: boolean;
  /** Every request is answered with a 5xx. */
  isFailing: boolean;
  /** Its clock and that of the tools are too far apart for a signature to be believed. */
  isSkewed: boolean;
  /** Nothing more can be written. */
  isFull: boolean;
  /** Added to each request. */
  extraLatencyMs: number;
}

const noTrouble: StoreTrouble = {
  isUnreachable: false,
  isHanging: false,
  isFailing: false,
  isSkewed: false,
  isFull: false,
  extraLatencyMs: 0,
};

export interface ObjectStoreOptions {
  /** Key to secret. */
  accounts?: Readonly<Record<string, string>>;
  buckets?: readonly string[];
  /** Requests signed for another region are refused; any is good when absent. */
  region?: string;
  /** Whether it speaks TLS, by default at port 443 only. */
  isSecure?: boolean;
}

export class ObjectStore {
  readonly accounts: Map<string, string>;
  readonly region: string | undefined;
  readonly isSecure: boolean;
  trouble: StoreTrouble = { ...noTrouble };
  readonly #buckets = new Map<string, Map<string, StoredObject>>();

  constructor(options: ObjectStoreOptions = {}) {
    this.accounts = new Map(Object.entries(options.accounts ?? {}));
    this.region = options.region;
    this.isSecure = options.isSecure ?? false;
    for (const bucket of options.buckets ?? []) this.addBucket(bucket);
  }

  addBucket(name: string): void {
    if (!this.#buckets.has(name)) this.#buckets.set(name, new Map());
  }

  removeBucket(name: string): void {
    this.#buckets.delete(name);
  }

  bucket(name: string): Map<string, StoredObject> | undefined {
    return this.#buckets.get(name);
  }

  /** Objects whose key begins so, in the order of their keys. */
  list(bucket: string, prefix: string): StoredObject[] {
    return [...(this.#buckets.get(bucket)?.values() ?? [])]
      .filter(({ key }) => key.startsWith(prefix))
      .toSorted((left, right) => (left.key < right.key ? -1 : 1));
  }

  /** Switches trouble on or off; what is not named stays. */
  fail(trouble: Partial<StoreTrouble>): void {
    this.trouble = { ...this.trouble, ...trouble };
  }

  heal(): void {
    this.trouble = { ...noTrouble };
  }

  /** The objects are gone, as if somebody had deleted them; gives how many. */
  lose(bucket: string, isLost: (object: StoredObject) => boolean): number {
    const lost = this.list(bucket, "").filter(isLost);
    for (const { key } of lost) this.#buckets.get(bucket)?.delete(key);
    return lost.length;
  }

  /** Bytes of the objects are no longer what was written; gives how many objects. */
  damage(bucket: string, isHit: (object: StoredObject) => boolean): number {
    const hit = this.list(bucket, "").filter(isHit);
    for (const object of hit) object.isDamaged = true;
    return hit.length;
  }
}

/** The bucket in which a volume keeps its containers. */
export const volumeBucket = "files";

export interface ObjectStores {
  /** Adds a store at host:port, or gives the one that is there. */
  add(address: string, options?: ObjectStoreOptions): ObjectStore;
  at(address: string): ObjectStore | undefined;
  /** The containers on a volume. */
  onVolume(volumeId: string): ObjectStore;
}

export function createObjectStores(): ObjectStores {
  const stores = new Map<string, ObjectStore>();
  const add = (address: string, options?: ObjectStoreOptions): ObjectStore => {
    const isSecure = options?.isSecure ?? address.endsWith(":443");
    const known = stores.get(address) ?? new ObjectStore({ ...options, isSecure });
    stores.set(address, known);
    return known;
  };
  return {
    add,
    at: (address) => stores.get(address),
    onVolume: (volumeId) => add(`volume ${volumeId}`, { buckets: [volumeBucket] }),
  };
}
