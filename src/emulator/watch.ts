// One open watch: filters the changes of its kind, turns "no longer selected" into DELETED, and hands the
// events on in order from a microtask, so that a writer never runs a watcher's code. [KAS20]
import type { Clock, Timer } from "../env/clock.ts";
import type { WatchEvent } from "../kube/transport.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import type { StoreEvent } from "./store.ts";

export interface WatchOptions {
  clock: Clock;
  isSelected: (object: JsonObject) => boolean;
  /** From the stored object to the version that was asked for. */
  convert: (object: JsonObject) => JsonObject;
  wantsBookmarks: boolean;
  timeoutMs: number;
  namespace: string;
  apiVersion: string;
  kind: string;
  currentRevision: () => number;
  onEvent: (event: WatchEvent) => void;
  onEnd: () => void;
}

const bookmarkPeriodMs = 60_000;
const lastBookmarkBeforeEndMs = 2000;
const initialEventsEnd = "k8s.io/initial-events-end";

export class Watch {
  readonly #options: WatchOptions;
  readonly #queue: WatchEvent[] = [];
  readonly #timers: (Timer | undefined)[] = [];
  #isFlushing = false;
  #isEnding = false;
  #isEnded = false;
  /** The newest revision that the client has been told of. */
  #sentRevision: number;

  constructor(options: WatchOptions, startRevision: number) {
    this.#options = options;
    this.#sentRevision = startRevision;
    this.#timers.push(options.clock.setTimer(options.timeoutMs, () => this.end()));
    if (!options.wantsBookmarks) return;
    const lastBookmarkMs = options.timeoutMs - lastBookmarkBeforeEndMs;
    if (lastBookmarkMs > 0) {
      const send = (): void => this.#sendBookmark(options.currentRevision(), undefined);
      this.#timers.push(options.clock.setTimer(lastBookmarkMs, send));
    }
    this.#armBookmark();
  }

  /** A change of the watched kind. Events that do not concern this watch cost a few comparisons. */
  receive(event: StoreEvent): void {
    const { namespace, isSelected } = this.#options;
    if (namespace !== "" && event.namespace !== namespace) return;
    const wasSelected = event.previous !== undefined && isSelected(event.previous);
    const isNowSelected = event.type !== "DELETED" && isSelected(event.object);
    if (!wasSelected && !isNowSelected) return;
    this.#sentRevision = event.revision;
    if (isNowSelected) this.#push(wasSelected ? "MODIFIED" : "ADDED", event.object);
    else this.#push("DELETED", event.type === "DELETED" ? event.object : leaving(event));
  }

  sendInitial(object: JsonObject): void {
    this.#push("ADDED", object);
  }

  sendInitialEnd(revision: number): void {
    this.#sendBookmark(revision, { [initialEventsEnd]: "true" });
  }

  sendError(status: JsonObject): void {
    this.#enqueue({ type: "ERROR", object: status });
    this.end();
  }

  /** Ends after the events that are already on their way. */
  end(): void {
    this.#isEnding = true;
    this.#schedule();
  }

  /** Ends at once; nothing is delivered any more. */
  abort(): void {
    this.#queue.length = 0;
    this.#isEnding = true;
    this.#finish();
  }

  #push(type: WatchEvent["type"], object: JsonObject): void {
    this.#enqueue({ type, object: this.#options.convert(object) });
  }

  #enqueue(event: WatchEvent): void {
    if (this.#isEnding) return;
    this.#queue.push(event);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      while (this.#queue.length > 0 && !this.#isEnded) {
        const event = this.#queue.shift();
        if (event !== undefined) this.#options.onEvent(event);
      }
      if (this.#isEnding) this.#finish();
    });
  }

  #finish(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const timer of this.#timers) timer?.cancel();
    this.#options.onEnd();
  }

  #armBookmark(): void {
    this.#timers[2] = this.#options.clock.setTimer(bookmarkPeriodMs, () => {
      this.#bookmarkIfBehind();
      if (!this.#isEnding) this.#armBookmark();
    });
  }

  #bookmarkIfBehind(): void {
    const revision = this.#options.currentRevision();
    if (revision > this.#sentRevision) this.#sendBookmark(revision, undefined);
  }

  #sendBookmark(revision: number, annotations: JsonObject | undefined): void {
    this.#sentRevision = revision;
    const { apiVersion, kind } = this.#options;
    const metadata: JsonObject = { resourceVersion: String(revision) };
    if (annotations !== undefined) metadata["annotations"] = annotations;
    this.#enqueue({ type: "BOOKMARK", object: { kind, apiVersion, metadata } });
  }
}

/** An object that stops matching a selector is shown as it last matched, with the change's revision. */
function leaving(event: StoreEvent): JsonObject {
  const previous = event.previous ?? event.object;
  const metadata = isJsonObject(previous["metadata"]) ? previous["metadata"] : {};
  return { ...previous, metadata: { ...metadata, resourceVersion: String(event.revision) } };
}
