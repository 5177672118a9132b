// Kubernetes Events: what the operator tells people about an object. Equal events within a while become one
// with a count; each object has a budget; nothing here ever fails its caller. Carries rules KUBE50 to KUBE55.
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import { silentLog } from "../env/log.ts";
import { randomText } from "../env/random.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./error.ts";
import type { Event, ObjectReference } from "./generated/types.ts";
import type { KubeObject } from "./object.ts";
import { events } from "./resource.ts";
import type { Stored } from "./resource.ts";
import { formatTime } from "./time.ts";

export interface EventRecorderOptions {
  client: KubeClient;
  clock: Clock;
  random: Random;
  log?: Log;
  /** Who reports, for example "foundationdb-operator". */
  component: string;
  /** Equal events within this time are counted together. */
  aggregateMs?: number;
  /** New events an object may cause at once, and how long it takes to earn another one. */
  burst?: number;
  earnMs?: number;
  /** Distinct events that are remembered or wait to be written. */
  capacity?: number;
}

export type EventType = "Normal" | "Warning";

interface Entry {
  key: string;
  object: ObjectReference;
  type: EventType;
  reason: string;
  message: string;
  firstAtMs: number;
  lastAtMs: number;
  count: number;
  /** Under which the API server has it; undefined before the first write. */
  name: string | undefined;
}

interface Budget {
  tokens: number;
  atMs: number;
}

const messageLengthMax = 1024;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #log: Log;
  /** Oldest use first, so that the first entry is the one to forget. */
  readonly #entries = new Map<string, Entry>();
  readonly #budgets = new Map<string, Budget>();
  readonly #pending = new Set<Entry>();
  #writing: Promise<void> | undefined;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
  }

  /** Events that were not written: over budget, over capacity, or refused by the server. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Tells something about an object. Returns at once; the write happens behind. */
  record(object: KubeObject, type: EventType, reason: string, message: string): void {
    const nowMs = this.#options.clock.nowMs();
    const reference = referenceOf(object);
    const text = message.slice(0, messageLengthMax);
    const key = JSON.stringify([
      reference.uid,
      reference.namespace,
      reference.name,
      reference.kind,
      type,
      reason,
      text,
    ]);
    const known = this.#entries.get(key);
    if (known !== undefined) this.#entries.delete(key);
    const isFresh =
      known !== undefined && nowMs - known.lastAtMs <= (this.#options.aggregateMs ?? 600_000);
    if (!isFresh && !this.#spend(reference, nowMs))
      return this.#drop(reference, reason, "over budget");
    const entry: Entry = isFresh
      ? known
      : {
          key,
          object: reference,
          type,
          reason,
          message: text,
          firstAtMs: nowMs,
          lastAtMs: nowMs,
          count: 0,
          name: undefined,
        };
    entry.count += 1;
    entry.lastAtMs = nowMs;
    this.#entries.set(key, entry);
    this.#trim();
    if (this.#pending.size >= this.#capacity && !this.#pending.has(entry)) {
      return this.#drop(reference, reason, "too many wait to be written");
    }
    this.#pending.add(entry);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when everything recorded so far was written or given up. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  get #capacity(): number {
    return this.#options.capacity ?? 4096;
  }

  async #writeAll(): Promise<void> {
    // The first write waits for the end of the caller's turn, so that a burst of equal events is one write.
    await Promise.resolve();
    for (const entry of this.#pending) {
      this.#pending.delete(entry);
      await this.#write(entry);
    }
    this.#writing = undefined;
    if (this.#pending.size > 0) this.#writing = this.#writeAll();
  }

  async #write(entry: Entry): Promise<void> {
    const count = entry.count;
    try {
      if (entry.name !== undefined && (await this.#recount(entry, count))) return;
      entry.name = await this.#create(entry, count);
    } catch (error) {
      this.#drop(
        entry.object,
        entry.reason,
        error instanceof Error ? error.message : String(error),
      );
    }
  }

  /** Raises the count of the written event; false when the server has forgotten it. */
  async #recount(entry: Entry, count: number): Promise<boolean> {
    const key = { namespace: entry.object.namespace ?? "default", name: entry.name ?? "" };
    const patch = { count, lastTimestamp: formatTime(entry.lastAtMs) };
    try {
      await this.#options.client.patch(events, key, patch, { type: "merge" });
      return true;
    } catch (error) {
      if (isKubeError(error, "NotFound")) return false;
      throw error;
    }
  }

  async #create(entry: Entry, count: number): Promise<string> {
    const { client, component, random } = this.#options;
    const name = `${(entry.object.name ?? "").slice(0, 230)}.${randomText(random, 16, "0123456789abcdef")}`;
    const event: Stored<Event> = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace: entry.object.namespace ?? "default" },
      involvedObject: entry.object,
      type: entry.type,
      reason: entry.reason,
      message: entry.message,
      count,
      firstTimestamp: formatTime(entry.firstAtMs),
      lastTimestamp: formatTime(entry.lastAtMs),
      source: { component },
      reportingComponent: component,
      reportingInstance: "",
    };
    await client.create(events, event);
    return name;
  }

  /** A token bucket for each object. */
  #spend(object: ObjectReference, nowMs: number): boolean {
    const [burst, earnMs] = [this.#options.burst ?? 25, this.#options.earnMs ?? 30_000];
    const key = JSON.stringify([object.kind, object.namespace, object.name]);
    const known = this.#budgets.get(key) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, known.tokens + (nowMs - known.atMs) / earnMs);
    this.#budgets.delete(key);
    this.#budgets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs });
    return tokens >= 1;
  }

  #trim(): void {
    for (const held of [this.#entries, this.#budgets]) {
      for (const key of held.keys()) {
        if (held.size <= this.#capacity) break;
        held.delete(key);
      }
    }
  }

  #drop(object: ObjectReference, reason: string, why: string): void {
    this.#dropped += 1;
    this.#log.warn("an event was dropped", {
      object: `${object.kind}/${object.name}`,
      reason,
      why,
    });
  }
}

function referenceOf(object: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name: name ?? "",
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}
