// Where the operator instances of one database keep what they share, under one prefix: the lock, the deny
// list, pending upgrades, process groups under maintenance, and the coordination sets. The first four are byte
// for byte those of the Go operator, so that mixed fleets respect each other. Carries rules KV50 to KV57.
import {
  binaryText,
  bytesOfBinary,
  bytesOfText,
  concatBytes,
  prefixEnd,
  textOfBytes,
} from "./bytes.ts";
import { TupleError, decodeTuple, encodeTuple } from "./tuple.ts";

/** The bytes 0xff 0x02: system keys that a client may write, outside of what applications see. */
export const defaultLockPrefix = "\xff\x02/org.foundationdb.kubernetes-operator";

export const coordinationSets = [
  "pendingForRemoval",
  "pendingForExclusion",
  "pendingForInclusion",
  "pendingForRestart",
  "readyForExclusion",
  "readyForInclusion",
  "readyForRestart",
] as const;

export type CoordinationSet = (typeof coordinationSets)[number];

/** The Go operator keeps addresses beside its sets whenever it is in global mode; this one never writes them. */
export const storedSets = [...coordinationSets, "processAddresses"] as const;

export type StoredSet = (typeof storedSets)[number];

/** Of an instance as a whole. */
export const announcementKinds = ["windows", "fences"] as const;

export type Announcement = (typeof announcementKinds)[number];

export interface KeyBounds {
  readonly begin: Uint8Array;
  /** Not included. */
  readonly end: Uint8Array;
}

export interface LockValue {
  /** The processGroupIDPrefix of the holder; may be empty. */
  readonly owner: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface SetEntry {
  readonly processGroupIdPrefix: string;
  readonly processGroupId: string;
}

/** A value of a coordination set. "foreign" is the Go operator's form, which global mode must not misread. */
export type SetValue =
  | { readonly type: "targets"; readonly targets: readonly string[] }
  | { readonly type: "foreign"; readonly writtenAtSeconds: number };

/** `lockKeyPrefix` is lockOptions.lockKeyPrefix; its text is taken as UTF-8, as the Go operator does. */
export function operatorKeys(lockKeyPrefix?: string): OperatorKeys {
  const isDefault = lockKeyPrefix === undefined || lockKeyPrefix === "";
  return new OperatorKeys(
    isDefault ? bytesOfBinary(defaultLockPrefix) : bytesOfText(lockKeyPrefix),
  );
}

export class OperatorKeys {
  readonly prefix: Uint8Array;
  readonly #bounds = new Map<string, KeyBounds>();

  constructor(prefix: Uint8Array) {
    this.prefix = prefix;
  }

  lock(): Uint8Array {
    return this.#key("global");
  }

  /** The slash stays when the id is empty, as in the Go operator. */
  denyListEntry(id: string): Uint8Array {
    return concatBytes(this.denyList().begin, bytesOfText(id));
  }

  denyList(): KeyBounds {
    return this.#below("denyList");
  }

  pendingUpgrade(version: string, processGroupId: string): Uint8Array {
    return this.#key("upgrades", version, processGroupId);
  }

  /** The pending upgrades to one version, or to all. */
  pendingUpgrades(version?: string): KeyBounds {
    return version === undefined ? this.#below("upgrades") : this.#below("upgrades", version);
  }

  maintenanceEntry(processGroupId: string): Uint8Array {
    return this.#key("maintenance", processGroupId);
  }

  maintenance(): KeyBounds {
    return this.#below("maintenance");
  }

  /** What one instance tells the others. */
  announcementEntry(kind: Announcement, processGroupIdPrefix: string): Uint8Array {
    return this.#key(kind, processGroupIdPrefix);
  }

  announcements(kind: Announcement): KeyBounds {
    return this.#below(kind);
  }

  setEntry(set: StoredSet, entry: SetEntry): Uint8Array {
    return this.#key(set, entry.processGroupIdPrefix, entry.processGroupId);
  }

  /** All entries of a set, or those of one instance. The slash at the end keeps dc1 apart from dc10. */
  set(set: StoredSet, processGroupIdPrefix = ""): KeyBounds {
    const path = `${set}/${processGroupIdPrefix}`;
    const known = this.#bounds.get(path);
    if (known !== undefined) return known;
    const bounds = this.#below(set, processGroupIdPrefix);
    this.#bounds.set(path, bounds);
    return bounds;
  }

  /** The last part of a key of the deny list, of the upgrades or of the maintenance list. */
  idOf(key: Uint8Array): string {
    const text = binaryText(key);
    return textOfBytes(bytesOfBinary(text.slice(text.lastIndexOf("/") + 1)));
  }

  /** What a key of a set stands for; undefined when it is none of this set. */
  parseSetEntry(set: StoredSet, key: Uint8Array): SetEntry | undefined {
    const { begin } = this.set(set);
    if (key.length <= begin.length || !begin.every((byte, at) => byte === key[at]))
      return undefined;
    const rest = textOfBytes(key.subarray(begin.length));
    const slash = rest.lastIndexOf("/");
    return {
      processGroupIdPrefix: slash < 0 ? "" : rest.slice(0, slash),
      processGroupId: rest.slice(slash + 1),
    };
  }

  /** Empty parts vanish together with their slash. */
  #key(...parts: readonly string[]): Uint8Array {
    const path = parts.filter((part) => part !== "").map((part) => bytesOfText(`/${part}`));
    return concatBytes(this.prefix, ...path);
  }

  #below(...parts: readonly string[]): KeyBounds {
    const begin = concatBytes(this.#key(...parts), bytesOfText("/"));
    return { begin, end: prefixEnd(begin) };
  }
}

export function encodeLock(lock: LockValue): Uint8Array {
  return encodeTuple([lock.owner, lock.startSeconds, lock.endSeconds]);
}

/** Undefined when the bytes are no lock that we understand; such a lock must not be taken over. */
export function decodeLock(bytes: Uint8Array): LockValue | undefined {
  const [owner, startSeconds, endSeconds, ...more] = elementsOf(bytes);
  const isLock =
    typeof owner === "string" &&
    typeof startSeconds === "number" &&
    typeof endSeconds === "number" &&
    more.length === 0;
  return isLock ? { owner, startSeconds, endSeconds } : undefined;
}

/** Since when a process group is under maintenance: eight bytes, the lowest first. */
export function encodeMaintenance(sinceSeconds: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(sinceSeconds));
  return Uint8Array.from(bytes);
}

/** Bytes beyond the eighth are ignored, as the Go operator does; undefined when there are fewer. */
export function decodeMaintenance(bytes: Uint8Array): number | undefined {
  return bytes.length >= 8 ? Number(Buffer.from(bytes).readBigInt64LE()) : undefined;
}

/** Addresses or localities, joined by commas; empty for the sets that need none. */
export function encodeTargets(targets: readonly string[]): Uint8Array {
  return bytesOfText(targets.join(","));
}

/** Undefined when the bytes are neither ours nor the Go operator's. */
export function decodeSetValue(bytes: Uint8Array): SetValue | undefined {
  if (bytes.length === 0) return { type: "targets", targets: [] };
  const text = textOfBytes(bytes);
  // No tuple that begins with a number looks like this.
  if (/^[\x21-\x7e]+$/.test(text)) return { type: "targets", targets: text.split(",") };
  const [writtenAtSeconds, ...more] = elementsOf(bytes);
  if (typeof writtenAtSeconds !== "number" || more.length > 0) return undefined;
  return { type: "foreign", writtenAtSeconds };
}

function elementsOf(bytes: Uint8Array): ReturnType<typeof decodeTuple> {
  try {
    return decodeTuple(bytes);
  } catch (error) {
    if (error instanceof TupleError) return [];
    throw error;
  }
}
