// What is kept of a live object beside what should exist, so that it is derived once for each version of it.
// Rules: spec/plan.md [P9].
import type { MetadataPatch } from "../action.ts";

export type Substitutions = Readonly<Record<string, string>>;

/** What follows from a live object and some values; made again when one of those is another one. */
interface Derived<V = unknown> {
  readonly from: readonly unknown[];
  readonly value: V;
}

/** What follows from one live object. */
export interface OfLive {
  patch?: { readonly value: MetadataPatch | undefined };
  sidecarImage?: {
    readonly processClass: string;
    readonly version: string;
    readonly value: string;
  };
  configHash?: {
    readonly processClass: string;
    readonly isPacked: boolean;
    readonly value: string;
  };
  isCurrent?: { readonly group: string; readonly text: string; readonly value: boolean };
  commandLines?: { readonly from: Substitutions; readonly value: string[] };
  fileHashes?: { readonly from: Substitutions; readonly value: Substitutions };
  localities?: Derived<ReadonlyMap<string, string>>;
  difference?: { readonly wanted: object; readonly value: unknown };
}

/** The value under a key, made when it is first asked for. */
export function remembered<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const found = known.get(key);
  if (found !== undefined || known.has(key)) return found as V;
  const value = make();
  known.set(key, value);
  return value;
}
