// A local copy of all objects of one kind that is kept current by list and watch. It outlives everything a
// server does to it: cut streams, forgotten history (410), errors, silence. Carries rules KUBE26 to KUBE38.
import { sleep } from "../env/clock.ts";
import type { Clock, Timer } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import { silentLog } from "../env/log.ts";
import { randomInteger } from "../env/random.ts";
import type { Random } from "../env/random.ts";
import { ended } from "../env/ended.ts";
import { backOffMs } from "./back-off.ts";
import type { KubeClient } from "./client.ts";
import { withKind } from "./client.ts";
import { KubeError } from "./error.ts";
import { ObjectCache } from "./object-cache.ts";
import type { ChangeListener, IndexFunction } from "./object-cache.ts";
import type { KubeObject } from "./object.ts";
import type { ObjectKey } from "./path.ts";
import { compareResourceVersions, isNewerResourceVersion } from "./resource-version.ts";
import type { Resource } from "./resource.ts";
import { errorOfAnswer, isHistoryGone, isStatus } from "./status.ts";
import type { WatchEvent } from "./transport.ts";

export interface ReflectorOptions<T> {
  client: KubeClient;
  resource: Resource<T>;
  clock: Clock;
  random: Random;
  log?: Log;
  /** All namespaces when absent. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  pageSize?: number;
  indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Whether an object concerns us at all; what does not is never kept. */
  keeps?: (object: T) => boolean;
  /** Trims an object before it is cached, for example of its managed fields. */
  transform?: (object: T) => T;
  /** The server is asked to end a watch after this time, up to twice as long, chosen by chance. */
  watchSeconds?: number;
}

/** The longest pause is what an API server that comes back waits for us. */
const backOff = { baseMs: 500, maxMs: 10_000 };
/** A watch that lived this long counts as a success even if nothing happened. */
const healthyWatchMs = 10_000;
/** After the server should have ended a watch, it gets this long before we cut it. */
const silenceMs = 30_000;
/** A server sends bookmarks about once a minute: a stream without anything for longer than this may be dead. */
const inactivityMs = 150_000;
/** So many lists in a row that are older than what we saw mean that the server's store was restored. */
const olderListsMax = 3;

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #cache: ObjectCache<T>;
  readonly #log: Log;
  readonly #waiting = new Set<() => boolean>();
  readonly synced: Promise<void>;
  /** Resolves when the server has answered for the first time, whatever it said. */
  readonly attempted: Promise<void>;
  #markSynced: () => void = () => {};
  #markAttempted: () => void = () => {};
  #hasSynced = false;
  #isStarted = false;
  #failures = 0;
  #olderLists = 0;
  #contactAtMs: number | undefined;
  #activeAtMs: number | undefined;
  #problem: string | undefined;
  #problemReason: string | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#log = (options.log ?? silentLog).with({ kind: options.resource.kind });
    this.#cache = new ObjectCache(options.indexes, (error) => {
      this.#log.error("a listener of the cache failed", { error: String(error) });
    });
    this.synced = new Promise((resolve) => (this.#markSynced = resolve));
    this.attempted = new Promise((resolve) => (this.#markAttempted = resolve));
  }

  get kind(): string {
    return this.#options.resource.kind;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** When the server last told us anything: the measure of how fresh the copy is. */
  get contactAtMs(): number | undefined {
    return this.#contactAtMs;
  }

  /** When anything happened at all: an answer, an event, a failure. */
  get activeAtMs(): number | undefined {
    return this.#activeAtMs;
  }

  /** What interrupted list and watch, until the server answers again. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Of the problem, in one word, such as Forbidden. */
  get problemReason(): string | undefined {
    return this.#problemReason;
  }

  /** Everything up to this version is in the copy. */
  get resourceVersion(): string | undefined {
    return this.#cache.resourceVersion;
  }

  get size(): number {
    return this.#cache.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#cache.get(key);
  }

  list(): T[] {
    return this.#cache.list();
  }

  /** The same list again as long as nothing in it has changed. */
  byIndex(index: string, value: string): readonly T[] {
    return this.#cache.byIndex(index, value);
  }

  /** The listener gets every change in order, beginning with one ADDED for each object already here. */
  onChange(listener: ChangeListener<T>): () => void {
    return this.#cache.onChange(listener);
  }

  /** Hands in the answer to our own create, update or patch: it can be read at once. */
  observeWrite(object: T): void {
    this.#cache.observeWrite(this.#trim(object));
    this.#wake();
  }

  /** Hands in the object that we deleted and the answer of KubeClient.delete. */
  observeDelete(deleted: T, answer: T | undefined): void {
    this.#cache.observeDelete(deleted, answer === undefined ? undefined : this.#trim(answer));
    this.#wake();
  }

  /** Resolves with true when the copy holds this version of the object or has passed it, else false. */
  waitFor(key: ObjectKey, resourceVersion: string, timeoutMs: number): Promise<boolean> {
    const isSeen = (): boolean => {
      const held = this.#cache.get(key)?.metadata.resourceVersion;
      if (held !== undefined && compareResourceVersions(held, resourceVersion) >= 0) return true;
      const seen = this.#cache.resourceVersion;
      return seen !== undefined && compareResourceVersions(seen, resourceVersion) >= 0;
    };
    if (isSeen()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const check = (): boolean => {
        if (!isSeen()) return false;
        timer.cancel();
        resolve(true);
        return true;
      };
      const timer = this.#options.clock.setTimer(timeoutMs, () => {
        this.#waiting.delete(check);
        resolve(false);
      });
      this.#waiting.add(check);
    });
  }

  /** Runs until the signal is aborted; resolves then. Never rejects. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#isStarted)
      throw new Error(`the ${this.#options.resource.kind} reflector runs already`);
    this.#isStarted = true;
    this.#activeAtMs = this.#options.clock.nowMs();
    let mustList = true;
    while (!signal.aborted) {
      try {
        if (mustList) await this.#relist(signal);
        mustList = false;
        if (signal.aborted) return;
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        mustList ||= isHistoryGone(error);
        await this.#pause(error, signal);
      }
    }
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const { client, resource, namespace, labelSelector, fieldSelector, pageSize } = this.#options;
    const list = await client.listAll(resource, {
      namespace,
      labelSelector,
      fieldSelector,
      limit: pageSize ?? 500,
      signal,
    });
    this.#noteContact();
    const { keeps } = this.#options;
    const kept = keeps === undefined ? list.items : list.items.filter(keeps);
    const items = kept.map((item) => this.#trim(item));
    if (isNewerResourceVersion(this.#cache.resourceVersion, list.resourceVersion)) {
      this.#olderLists += 1;
      if (this.#olderLists < olderListsMax) {
        throw new KubeError(0, "StaleList", "the server's list is older than what was seen before");
      }
      this.#log.warn("the server's store began a new history", {
        seen: this.#cache.resourceVersion,
        listed: list.resourceVersion,
      });
      this.#cache.reset(items, list.resourceVersion);
    } else {
      this.#cache.replace(items, list.resourceVersion);
    }
    this.#olderLists = 0;
    this.#wake();
    this.#hasSynced = true;
    this.#markSynced();
    this.#markAttempted();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, resource, clock, random, namespace, labelSelector, fieldSelector } =
      this.#options;
    const watchSeconds = this.#options.watchSeconds ?? 300;
    const timeoutSeconds = randomInteger(random, watchSeconds, 2 * watchSeconds);
    const openedAtMs = clock.nowMs();
    const end = new AbortController();
    const abort = (): void => end.abort(ended);
    signal.addEventListener("abort", abort, { once: true });
    const silence = clock.setTimer(timeoutSeconds * 1000 + silenceMs, abort);
    const inactivity = inactivityTimer(clock, () => abort());
    let events = 0;
    let failure: KubeError | undefined;
    try {
      await client.watch(
        resource,
        {
          namespace,
          labelSelector,
          fieldSelector,
          resourceVersion: this.#cache.resourceVersion ?? "",
          timeoutSeconds,
          allowWatchBookmarks: true,
          signal: end.signal,
        },
        (event) => {
          if (failure !== undefined || end.signal.aborted) return;
          this.#noteContact();
          inactivity.note();
          failure = this.#apply(event);
          events += 1;
          if (failure === undefined) this.#failures = 0;
          else end.abort(ended);
        },
      );
    } finally {
      silence.cancel();
      inactivity.cancel();
      signal.removeEventListener("abort", abort);
      if (clock.nowMs() - openedAtMs >= healthyWatchMs) this.#failures = 0;
    }
    if (failure !== undefined) throw failure;
    const wasShort = clock.nowMs() - openedAtMs < healthyWatchMs;
    if (wasShort && events === 0 && !signal.aborted) {
      throw new KubeError(0, "EmptyWatch", "the server ended the watch at once");
    }
    if (!end.signal.aborted) this.#noteContact();
    this.#activeAtMs = clock.nowMs();
  }

  /** Takes over one event; an ERROR event becomes the error with which the watch ends. */
  #apply(event: WatchEvent): KubeError | undefined {
    if (event.type === "ERROR") {
      const code = isStatus(event.object) ? (event.object.code ?? 500) : 500;
      return errorOfAnswer(code, event.object);
    }
    try {
      if (event.type === "BOOKMARK") {
        this.#cache.advance((event.object as KubeObject).metadata.resourceVersion);
      } else {
        const object = this.#trim(withKind(this.#options.resource, event.object));
        const isKept = this.#options.keeps?.(object) ?? true;
        // What stops to concern us is gone for us.
        if (event.type === "DELETED" || !isKept) this.#cache.applyDeleted(object);
        else this.#cache.applyPresent(object);
      }
    } catch (error) {
      return new KubeError(0, "BadEvent", `an event cannot be read: ${String(error)}`);
    }
    this.#wake();
    return undefined;
  }

  #noteContact(): void {
    this.#contactAtMs = this.#options.clock.nowMs();
    this.#activeAtMs = this.#contactAtMs;
    this.#problem = undefined;
    this.#problemReason = undefined;
  }

  #trim(object: T): T {
    return this.#options.transform?.(object) ?? object;
  }

  #wake(): void {
    for (const check of this.#waiting) if (check()) this.#waiting.delete(check);
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    this.#failures += 1;
    this.#activeAtMs = clock.nowMs();
    const asked = error instanceof KubeError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const pauseMs = Math.max(asked, backOffMs(backOff, this.#failures, random));
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof KubeError ? error.reason : "Unknown";
    this.#problem = message;
    this.#problemReason = reason;
    this.#markAttempted();
    // A forgotten history is the server's ordinary business; anything else deserves a look.
    const level = isHistoryGone(error) ? "info" : "warn";
    this.#log[level]("list and watch interrupted", { reason, error: message, pauseMs });
    await sleep(clock, pauseMs, signal);
  }
}

/** Calls `run` once nothing was noted for a while. One timer for all events: they only move the time it looks at. */
function inactivityTimer(clock: Clock, run: () => void): { note(): void; cancel(): void } {
  let notedAtMs = clock.nowMs();
  let timer: Timer | undefined;
  const arm = (delayMs: number): void => {
    timer = clock.setTimer(delayMs, () => {
      const leftMs = notedAtMs + inactivityMs - clock.nowMs();
      if (leftMs <= 0) run();
      else arm(leftMs);
    });
  };
  arm(inactivityMs);
  return {
    note: () => (notedAtMs = clock.nowMs()),
    cancel: () => timer?.cancel(),
  };
}
