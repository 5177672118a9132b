// A quota on objects of the operator's namespace: from the moment it is set there are no more pods, or no more claims, than
// at that moment. Rules: spec/world.md [W115].
import type { Store } from "../../emulator/store.ts";
import type { KubeRequest, KubeResponse, KubeTransport } from "../../kube/transport.ts";

export type LimitedKind = "pods" | "persistentvolumeclaims";

export class ObjectQuota {
  readonly #limits = new Map<LimitedKind, number>();
  readonly #store: () => Store;

  constructor(store: () => Store) {
    this.#store = store;
  }

  /** No more of them than there are; how many that is. */
  limit(kind: LimitedKind): number {
    const used = this.#used(kind);
    this.#limits.set(kind, used);
    return used;
  }

  lift(): void {
    this.#limits.clear();
  }

  transport(transport: KubeTransport): KubeTransport {
    return {
      watch: (request, onEvent) => transport.watch(request, onEvent),
      request: async (request) => this.#refusal(request) ?? transport.request(request),
    };
  }

  #refusal({ method, path, body }: KubeRequest): KubeResponse | undefined {
    if (method !== "POST") return undefined;
    const kind = path.slice(path.lastIndexOf("/") + 1) as LimitedKind;
    const limit = this.#limits.get(kind);
    const used = limit === undefined ? 0 : this.#used(kind);
    if (limit === undefined || used < limit) return undefined;
    const { name = "" } = (body as { metadata?: { name?: string } }).metadata ?? {};
    const counts = `requested: ${kind}=1, used: ${kind}=${used}, limited: ${kind}=${limit}`;
    const message = `${kind} "${name}" is forbidden: exceeded quota: objects, ${counts}`;
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden" };
    return { status: 403, body: { ...status, message, code: 403 } };
  }

  #used(kind: LimitedKind): number {
    return this.#store().list(`/${kind}`, "").length;
  }
}
