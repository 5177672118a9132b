// One local copy of each kind for all parts of the emulated cluster that run beside each other, so
// that the scheduler, the controllers and the kubelet do not each list and watch the same pods.
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { KubeClient } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";
import { Reflector } from "../kube/reflector.ts";
import type { Resource } from "../kube/resource.ts";

export interface InformersOptions {
  client: KubeClient;
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

export class Informers {
  readonly #options: InformersOptions;
  readonly #reflectors = new Map<Resource<unknown>, Reflector<KubeObject>>();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /** The running reflector of this kind; started on first use. */
  of<T extends KubeObject>(resource: Resource<T>): Reflector<T> {
    const known = this.#reflectors.get(resource);
    // The key is the resource itself, so the reflector has its type.
    if (known !== undefined) return known as unknown as Reflector<T>;
    const { client, clock, random, log, signal } = this.#options;
    const reflector = new Reflector({ client, resource, clock, random, log });
    this.#reflectors.set(resource, reflector as unknown as Reflector<KubeObject>);
    void reflector.start(signal);
    return reflector;
  }

  async synced(...resources: Resource<KubeObject>[]): Promise<void> {
    await Promise.all(resources.map((resource) => this.of(resource).synced));
  }
}
