// The state of backups and restores as the real layer keeps it in the database: tag to UID, UID to properties, each value
// in the real encoding. Everything that a tool shows is read from here. Carries rule BSIM21.
import { binaryText, bytesOfBinary, bytesOfText, textOfBytes } from "../../fdb/bytes.ts";
import { decodeTuple, encodeTuple } from "../../fdb/tuple.ts";
import type { TupleElement } from "../../fdb/tuple.ts";
import type { KeyValueStore } from "../key-value/store.ts";
import type { Item } from "../key-value/versioned-map.ts";
import type { KeyRange } from "../key-value/write-buffer.ts";
import { singleKeyRange } from "../key-value/write-buffer.ts";

export type Layer = "backup" | "restore";

/** Changes of several keys that happen together; undefined clears. */
export type KeyChanges = Map<string, Uint8Array | undefined>;

export interface TagEntry {
  readonly tag: string;
  /** As the tools print it. */
  readonly uid: string;
  readonly isAborted: boolean;
}

export const backupRoot = "\xff\x02/backup-agent/";

export function rootOf(layer: Layer): string {
  return layer === "backup" ? backupRoot : "\xff\x02/restore-agent/";
}

export function tuple(...elements: readonly TupleElement[]): string {
  return binaryText(encodeTuple(elements));
}

/** The range of all keys with a prefix that ends with an ordinary character. */
export function prefixRange(prefix: string): KeyRange {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { begin: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}

/** Each half of the sixteen bytes is written backwards in the text form. */
export function uidBytes(uid: string): Uint8Array {
  const halves = [uid.slice(0, 16), uid.slice(16)].map((half) =>
    Buffer.from(half, "hex").toReversed(),
  );
  return Uint8Array.from(Buffer.concat(halves));
}

export function uidText(bytes: Uint8Array): string {
  const halves = [bytes.slice(0, 8), bytes.slice(8, 16)];
  return halves.map((half) => Buffer.from(half.toReversed()).toString("hex")).join("");
}

function tagKey(layer: Layer, tag: string): string {
  return `${rootOf(layer)}tag->uid/${tuple(bytesOfText(tag))}`;
}

export function listTags(store: KeyValueStore, layer: Layer): TagEntry[] {
  const prefix = `${rootOf(layer)}tag->uid/`;
  return store.readNow(prefixRange(prefix)).items.map(({ key, value }) => {
    const [tag] = decodeTuple(bytesOfBinary(key.slice(prefix.length)));
    const [uid, aborted] = decodeTuple(value);
    return { tag: textOf(tag), uid: uidText(bytesOf(uid)), isAborted: aborted === 1 };
  });
}

export function findTag(store: KeyValueStore, layer: Layer, tag: string): TagEntry | undefined {
  return listTags(store, layer).find((entry) => entry.tag === tag);
}

export function tagChange(layer: Layer, entry: TagEntry): KeyChanges {
  const value = encodeTuple([uidBytes(entry.uid), entry.isAborted ? 1 : 0]);
  return new Map([[tagKey(layer, entry.tag), value]]);
}

/** Numbers that many agents add to are kept as eight bytes, little-endian, instead of a tuple. */
export interface Counter {
  readonly count: number;
}

export type PropertyValue = readonly TupleElement[] | Counter | undefined;

export class LayerConfig {
  readonly layer: Layer;
  readonly uid: string;
  readonly #store: KeyValueStore;
  readonly #prefix: string;

  constructor(store: KeyValueStore, layer: Layer, uid: string) {
    this.layer = layer;
    this.uid = uid;
    this.#store = store;
    this.#prefix = `${rootOf(layer)}uid->config/${binaryText(uidBytes(uid))}`;
  }

  key(property: string, ...rest: readonly TupleElement[]): string {
    return this.#prefix + tuple(bytesOfText(property), ...rest);
  }

  elements(property: string): readonly TupleElement[] | undefined {
    const value = this.#store.readNow(singleKeyRange(this.key(property))).items[0]?.value;
    return value && decodeTuple(value);
  }

  number(property: string): number | undefined {
    const [value] = this.elements(property) ?? [];
    return typeof value === "number" ? value : undefined;
  }

  text(property: string): string {
    return textOf(this.elements(property)?.[0]);
  }

  count(property: string): number {
    const value = this.#store.readNow(singleKeyRange(this.key(property))).items[0]?.value;
    return value === undefined ? 0 : Number(Buffer.from(value).readBigUInt64LE());
  }

  /** The entries of a map property: what follows its name in the key, and the value. */
  entries(property: string): { readonly key: readonly TupleElement[]; readonly item: Item }[] {
    const prefix = this.key(property);
    return this.#store
      .readNow({ begin: prefix, end: `${prefix}\xff\xff` })
      .items.flatMap((item) => {
        const rest = item.key.slice(prefix.length);
        return rest === "" ? [] : [{ key: decodeTuple(bytesOfBinary(rest)), item }];
      });
  }

  changes(properties: Readonly<Record<string, PropertyValue>>): KeyChanges {
    return new Map(
      Object.entries(properties).map(([name, value]) => [this.key(name), encodeProperty(value)]),
    );
  }

  /** An error of a task, under its code and as the last one. */
  errorChanges(code: number, text: string, version: number): KeyChanges {
    const value = encodeTuple([bytesOfText(text), version]);
    return new Map([
      [this.key("lastError"), value],
      ...(this.layer === "backup" ? ([[this.key("lastErrorPerType", code), value]] as const) : []),
    ]);
  }
}

function encodeProperty(value: PropertyValue): Uint8Array | undefined {
  if (value === undefined) return undefined;
  if (!("count" in value)) return encodeTuple(value);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value.count));
  return Uint8Array.from(bytes);
}

export function bytesOf(element: TupleElement | undefined): Uint8Array {
  return element instanceof Uint8Array ? element : new Uint8Array();
}

export function textOf(element: TupleElement | undefined): string {
  return typeof element === "string" ? element : textOfBytes(bytesOf(element));
}

export function merged(...parts: readonly KeyChanges[]): KeyChanges {
  return new Map(parts.flatMap((part) => [...part]));
}
