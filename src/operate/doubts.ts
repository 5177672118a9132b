// Objects of which our local copy may be behind one of our own writes: no answer came, or the answer said that the object
// had changed or was gone. The watch tells sooner or later; a plan does not wait for that and does not rest on the old state
// either: the object itself is read first. Rules: spec/operate.md [OP74].
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { KubeObject } from "../kube/object.ts";
import { keyText } from "../kube/path.ts";
import type { ObjectKey } from "../kube/path.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { Resource } from "../kube/resource.ts";
import { isOfInterest } from "./caches.ts";

/** An object that is about to be written, and the copy that holds it. */
export interface WritePlace<T extends KubeObject> {
  resource: Resource<T>;
  cache: Reflector<T>;
  key: ObjectKey;
}

export interface ReadingTools {
  client: KubeClient;
  clock: Clock;
  log: Log;
}

/** Who cannot read an object for so long plans all the same: every write names what it was decided on. */
const heldMaximumMs = 30_000;
const pauseMs = 1_000;

export class Doubts {
  readonly #reads = new Map<string, (client: KubeClient) => Promise<void>>();
  /** Since when something could not be read. */
  #heldSinceMs: number | undefined;

  /** Carries out a write, and remembers the object when the copy may be behind afterwards. */
  async during<T extends KubeObject, R>(place: WritePlace<T>, write: () => Promise<R>): Promise<R> {
    try {
      return await write();
    } catch (error) {
      if (mayBeBehind(error)) {
        const text = `${place.resource.plural} ${keyText(place.key)}`;
        this.#reads.set(text, (client) => readInto(client, place));
      }
      throw error;
    }
  }

  /** Reads what is in doubt; how long to wait before the next attempt, 0 when a plan may be made. */
  async settle({ client, clock, log }: ReadingTools): Promise<number> {
    if (this.#reads.size === 0) return 0;
    const startedMs = clock.nowMs();
    await Promise.all(
      [...this.#reads].map(async ([text, read]) => {
        try {
          await read(client);
          this.#reads.delete(text);
        } catch (error) {
          log.debug("an object could not be read again", { object: text, error: String(error) });
        }
      }),
    );
    this.#heldSinceMs ??= startedMs;
    const isOver = clock.nowMs() - this.#heldSinceMs >= heldMaximumMs;
    if (this.#reads.size > 0 && !isOver) return pauseMs;
    this.#reads.clear();
    this.#heldSinceMs = undefined;
    return 0;
  }
}

/** Whether a failed write may have been carried out, or shows that the object is not what we took it for. */
function mayBeBehind(error: unknown): boolean {
  if (!isKubeError(error)) return false;
  const { status, reason } = error;
  return status === 0 || status >= 500 || reason === "Conflict" || reason === "NotFound";
}

async function readInto<T extends KubeObject>(
  client: KubeClient,
  { resource, cache, key }: WritePlace<T>,
): Promise<void> {
  const known = cache.get(key);
  const found = await client.find(resource, key);
  if (found === undefined) {
    if (known !== undefined) cache.observeDelete(known, undefined);
    return;
  }
  // A stranger of the same name is none of ours: the watch would not keep it up to date.
  if (known !== undefined || isOfInterest(found)) cache.observeWrite(found);
}
