// What must hold at every moment of a world, whatever goes wrong in it. Requests of the operator are looked at as they
// reach the server, changes as they are stored, commands as they reach the database.
import type { FoundationDBCluster, ProcessGroupStatus } from "../../src/api/cluster.ts";
import type { AdminClient, AdminClientFactory } from "../../src/fdb/admin.ts";
import type { KubeObject, ObjectMeta } from "../../src/kube/object.ts";
import type { KubeRequest, KubeTransport } from "../../src/kube/transport.ts";
import {
  parseProcessGroupId,
  podNameOf,
  volumeClaimNameOf,
} from "../../src/model/process-group-id.ts";
import type { World } from "../../src/sim/world.ts";

const idLabel = "foundationdb.org/fdb-process-group-id";
const clusterLabel = "foundationdb.org/fdb-cluster-name";

interface Place {
  namespace: string;
  plural: string;
  name: string;
  subresource: string;
}

export class Invariants {
  readonly violations: string[] = [];
  readonly #ids = new Map<string, Set<string>>();
  readonly #podOfId = new Map<string, string>();
  #world: World | undefined;
  /** Databases by description that a `configure new` has succeeded on. */
  readonly #created = new Map<string, number>();

  watch(world: World): void {
    this.#world = world;
    world.server.context.store.subscribeAll(({ type, storageKey, object }) => {
      const stored = object as unknown as KubeObject;
      if (storageKey.endsWith("/foundationdbclusters")) this.#noteIds(stored);
      if (storageKey === "/pods" && type === "ADDED") this.#checkPod(stored);
    });
  }

  /** Between the operator and the server, after everything that may lose a request. */
  inspectRequests(transport: KubeTransport): KubeTransport {
    return {
      request: (request) => {
        this.#checkRequest(request);
        return transport.request(request);
      },
      watch: (request, onEvent) => transport.watch(request, onEvent),
    };
  }

  inspectCommands(admin: AdminClientFactory): AdminClientFactory {
    const inspected = (client: AdminClient, connectionString: string): AdminClient => ({
      ...client,
      configure: async (text, timeoutMs) => {
        const isNew = /^new\b/.test(text);
        if (isNew) this.#checkCreation(connectionString);
        await client.configure(text, timeoutMs);
        if (!isNew) return;
        const description = connectionString.split("@")[0] ?? "";
        const count = (this.#created.get(description) ?? 0) + 1;
        this.#created.set(description, count);
        if (count > 1) this.#violated(`${description} was created ${count} times`);
      },
    });
    return {
      ...admin,
      open: (options) => inspected(admin.open(options), options.connectionString),
    };
  }

  #violated(text: string): void {
    const atMs = this.#world?.clock.nowMs() ?? 0;
    this.violations.push(`${atMs} ${text}`);
  }

  #noteIds(object: KubeObject): void {
    const key = `${object.metadata.namespace}/${object.metadata.name}/${object.metadata.uid}`;
    this.#ids.set(key, new Set([...(this.#ids.get(key) ?? []), ...idsOf(object)]));
  }

  /** No process group that is stored may be forgotten, unless its volume was taken away; one that comes back must have left something behind. */
  #checkStatusWrite(place: Place, body: KubeObject): void {
    const stored = this.#stored(place);
    if (stored?.metadata.resourceVersion !== body.metadata.resourceVersion) return;
    const key = `${place.namespace}/${place.name}/${stored?.metadata.uid}`;
    const written = idsOf(body);
    const before = new Set(stored === undefined ? [] : idsOf(stored));
    if (new Set(written).size !== written.length) this.#violated(`${key}: an id is there twice`);
    for (const id of before) {
      if (written.includes(id) || this.#mayLeave(place, id)) continue;
      this.#violated(`${key}: ${id} was forgotten`);
    }
    for (const id of written) {
      const isBack = !before.has(id) && this.#ids.get(key)?.has(id) === true;
      if (isBack && !this.#hasObject(place, id)) this.#violated(`${key}: ${id} was used again`);
    }
  }

  /**
   * Whoever deletes its claim makes the operator replace a process group: it leaves when its data is elsewhere. A wiped
   * status forgets that it is to leave. Its successor is then one too many, and any one of the class may leave first.
   */
  #mayLeave({ namespace, name }: Place, id: string): boolean {
    const place = { namespace, plural: "foundationdbclusters", name, subresource: "" };
    const { status } = (this.#stored(place) ?? {}) as Partial<FoundationDBCluster>;
    const groups = status?.processGroups ?? [];
    const group = groups.find(({ processGroupID }) => processGroupID === id);
    if (group?.removalTimestamp === undefined) return false;
    return groups.some(
      (one) => one.processClass === group.processClass && this.#lostItsVolume(place, one),
    );
  }

  #lostItsVolume({ namespace, name }: Place, group: ProcessGroupStatus): boolean {
    if (group.removalTimestamp === undefined || group.volumeClaim === undefined) return false;
    const podName = podNameOf(name, group.processClass, group.processGroupID);
    const plural = "persistentvolumeclaims";
    const place = { namespace, plural, name: volumeClaimNameOf(podName), subresource: "" };
    const claim = this.#stored(place);
    const isDeleted = claim?.metadata.deletionTimestamp !== undefined;
    return claim === undefined || isDeleted || claim.metadata.uid !== group.volumeClaim;
  }

  #hasObject({ namespace, name }: Place, id: string): boolean {
    return ["pods", "persistentvolumeclaims", "services"].some((plural) => {
      const podName = podNameOf(name, parseProcessGroupId(id)?.processClass ?? "", id);
      const isClaim = plural === "persistentvolumeclaims";
      const objectName = isClaim ? volumeClaimNameOf(podName) : podName;
      const place = { namespace, plural, name: objectName, subresource: "" };
      return this.#stored(place) !== undefined;
    });
  }

  /** A process group has one pod, and only after it was written down. */
  #checkPod({ metadata }: KubeObject): void {
    const id = metadata.labels?.[idLabel];
    const cluster = metadata.labels?.[clusterLabel];
    if (id === undefined || cluster === undefined) return;
    const key = `${metadata.namespace}/${cluster}/${id}`;
    const before = this.#podOfId.get(key);
    if (before !== undefined && before !== metadata.name) {
      this.#violated(`${key} has two pods: ${before} and ${metadata.name}`);
    }
    this.#podOfId.set(key, metadata.name ?? "");
    const owner = metadata.ownerReferences?.[0]?.uid;
    const known = this.#ids.get(`${metadata.namespace}/${cluster}/${owner}`);
    if (known?.has(id) !== true) this.#violated(`${key} got a pod before it was stored`);
  }

  #checkRequest(request: KubeRequest): void {
    if (request.method === "GET") return;
    const place = placeOf(request.path);
    const { plural, namespace, name } = place;
    if (plural === "events") return;
    if (plural === "foundationdbclusters" && place.subresource === "status") {
      return this.#checkStatusWrite(place, request.body as KubeObject);
    }
    const object = name === "" ? (request.body as KubeObject) : this.#stored(place);
    if (object === undefined) return;
    const what = `${request.method} ${plural} ${namespace}/${name}`;
    if (!isOwned(object.metadata)) this.#violated(`${what}: the object is nobody's cluster's`);
    if (request.method !== "DELETE") return;
    const { phase } = (object as { status?: { phase?: string } }).status ?? {};
    const isTerminalPod = plural === "pods" && (phase === "Failed" || phase === "Succeeded");
    const { [idLabel]: id = "", [clusterLabel]: cluster = "" } = object.metadata.labels ?? {};
    if (isTerminalPod || this.#mayLeave({ ...place, name: cluster }, id)) return;
    this.#violated(`${what}: phase ${phase}`);
  }

  #stored({ plural, namespace, name }: Place): KubeObject | undefined {
    const group = plural === "foundationdbclusters" ? "apps.foundationdb.org" : "";
    const { store } = this.#world?.server.context ?? {};
    return store?.get(`${group}/${plural}`, namespace, name) as KubeObject | undefined;
  }

  #checkCreation(connectionString: string): void {
    const truth = this.#world?.fdb.truth.databases() ?? [];
    const existing = truth.find((one) => one.connectionString === connectionString);
    if (existing?.isConfigured) this.#violated(`configure new on ${connectionString}`);
  }
}

function idsOf(cluster: KubeObject): string[] {
  const { status } = cluster as unknown as FoundationDBCluster;
  return (status?.processGroups ?? []).map(({ processGroupID = "" }) => processGroupID);
}

function isOwned(metadata: ObjectMeta): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind }) => kind === "FoundationDBCluster");
}

function placeOf(path: string): Place {
  const [, namespace = "", plural = "", name = "", subresource = ""] =
    /\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path) ?? [];
  return { namespace, plural, name, subresource };
}
