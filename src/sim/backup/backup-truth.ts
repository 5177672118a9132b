// What is really so with backups, for those who watch: what a committed key says about a backup or restore, and what a
// container in an object store can be restored to. Nothing of it comes from a tool's words.
import { bytesOfBinary } from "../../fdb/bytes.ts";
import { decodeTuple } from "../../fdb/tuple.ts";
import { backupStates } from "./backup-view.ts";
import { dataPrefix, markerKey, propertyObject, readContent } from "./container-objects.ts";
import type { StoredObject } from "./container-objects.ts";
import { describe } from "./describe.ts";
import { bytesOf, rootOf, textOf, uidText } from "./layer-config.ts";
import type { Layer } from "./layer-config.ts";
import type { ObjectStore } from "./object-store.ts";
import { restoreStates } from "./restore-view.ts";
import { parseStoreUrl } from "./store-url.ts";

/** What one changed key says about a backup or restore. */
export type LayerFact = { readonly layer: Layer; readonly uid: string } & (
  | { readonly kind: "tag"; readonly tag: string }
  | { readonly kind: "state"; readonly end: "completed" | "aborted" | undefined }
  /** Where a backup goes, or what a restore reads. */
  | { readonly kind: "container"; readonly name: string }
  | { readonly kind: "target"; readonly version: number }
);

const ends = {
  backup: backupStates,
  restore: restoreStates,
} as const;

/** Undefined for a key that says nothing of these. */
export function layerFact(key: string, value: Uint8Array): LayerFact | undefined {
  for (const layer of ["backup", "restore"] as const) {
    const [tags, configs] = [`${rootOf(layer)}tag->uid/`, `${rootOf(layer)}uid->config/`];
    if (key.startsWith(tags)) {
      const [tag] = decodeTuple(bytesOfBinary(key.slice(tags.length)));
      const [uid] = decodeTuple(value);
      return { layer, kind: "tag", tag: textOf(tag), uid: uidText(bytesOf(uid)) };
    }
    if (!key.startsWith(configs)) continue;
    const uid = uidText(bytesOfBinary(key.slice(configs.length, configs.length + 16)));
    const [name] = decodeTuple(bytesOfBinary(key.slice(configs.length + 16)));
    return propertyFact(layer, uid, textOf(name), value);
  }
  return undefined;
}

function propertyFact(
  layer: Layer,
  uid: string,
  property: string,
  value: Uint8Array,
): LayerFact | undefined {
  const first = (): ReturnType<typeof decodeTuple>[number] | undefined => decodeTuple(value)[0];
  if (property === "stateEnum") {
    const state = Number(first());
    const { completed, aborted } = ends[layer];
    const end = state === completed ? "completed" : state === aborted ? "aborted" : undefined;
    return { layer, uid, kind: "state", end };
  }
  if (property === "restoreVersion")
    return { layer, uid, kind: "target", version: Number(first()) };
  if (property !== "backupContainer" && property !== "sourceContainer") return undefined;
  return { layer, uid, kind: "container", name: containerName(textOf(first())) };
}

/** The name of the container that a URL of an object store leads to; empty when it leads nowhere. */
export function containerName(url: string): string {
  const parsed = parseStoreUrl(url);
  return "problem" in parsed || parsed.scheme === "file" ? "" : parsed.name;
}

export interface ContainerTruth {
  /** The first and the last version that it can be restored to; undefined while there is none. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Where its snapshots begin. */
  readonly snapshots: readonly number[];
  readonly objects: number;
}

export function containerTruth(store: ObjectStore, bucket: string, name: string): ContainerTruth {
  const objects = store.list(bucket, dataPrefix(name));
  const { minRestorable, maxRestorable, snapshots } = describe(readContent(name, objects), {
    isDeep: true,
  });
  return {
    from: minRestorable,
    to: maxRestorable,
    snapshots: snapshots.map(({ file }) => file.beginVersion),
    objects: objects.length,
  };
}

/** Puts a container there that no backup of this world has written. */
export function plantContainer(store: ObjectStore, bucket: string, name: string): void {
  const marker: StoredObject = {
    ...{ key: markerKey(name), bytes: 0 },
    content: { kind: "property", text: "" },
  };
  for (const object of [marker, propertyObject(name, "log_begin_version", "1")]) {
    store.bucket(bucket)?.set(object.key, object);
  }
}
