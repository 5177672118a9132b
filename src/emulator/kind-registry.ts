// The kinds that the server serves at this moment, found by the parts of a path or by an object's type.
import { builtInKinds } from "./built-in-kinds.ts";
import type { Kind } from "./kind.ts";

export class KindRegistry {
  readonly #byResource = new Map<string, Kind>();
  readonly #byType = new Map<string, Kind>();
  /** Preferred kinds by storage place: the form in which the server itself handles the objects. */
  readonly #byStorageKey = new Map<string, Kind>();
  /** Changes whenever a kind comes or goes; discovery documents are cached by it. */
  changes = 0;

  constructor() {
    for (const kind of builtInKinds()) this.add(kind);
  }

  add(kind: Kind): void {
    this.changes += 1;
    this.#byResource.set(resourceKey(kind.group, kind.version, kind.plural), kind);
    this.#byType.set(`${kind.group}/${kind.version}/${kind.kind}`, kind);
    const known = this.#byStorageKey.get(kind.storageKey);
    const isStorageVersion = storageVersion(kind) === kind.version && kind.toStored === undefined;
    if (known === undefined || isStorageVersion) this.#byStorageKey.set(kind.storageKey, kind);
  }

  remove(kind: Kind): void {
    this.changes += 1;
    this.#byResource.delete(resourceKey(kind.group, kind.version, kind.plural));
    this.#byType.delete(`${kind.group}/${kind.version}/${kind.kind}`);
    if (this.#byStorageKey.get(kind.storageKey) === kind)
      this.#byStorageKey.delete(kind.storageKey);
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#byResource.get(resourceKey(group, version, plural));
  }

  findType(apiVersion: string, kind: string): Kind | undefined {
    const key = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
    return this.#byType.get(`${key}/${kind}`);
  }

  stored(storageKey: string): Kind | undefined {
    return this.#byStorageKey.get(storageKey);
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.all().some((kind) => kind.group === group && kind.version === version);
  }

  all(): Kind[] {
    return [...this.#byResource.values()];
  }

  /** One kind per storage place. */
  storedKinds(): Kind[] {
    return [...this.#byStorageKey.values()];
  }
}

function resourceKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}

function storageVersion(kind: Kind): string {
  return kind.storageApiVersion.slice(kind.storageApiVersion.lastIndexOf("/") + 1);
}
