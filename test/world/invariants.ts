// What must hold at every moment of a world, whatever goes wrong in it. Requests of the operator are looked at as they
// reach the server, changes as they are stored, commands as they reach the database.
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import type { AdminClient, AdminClientFactory } from "../../src/fdb/admin.ts";
import type { KubeObject, ObjectMeta } from "../../src/kube/object.ts";
import type { KubeRequest, KubeTransport } from "../../src/kube/transport.ts";
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
      if (storageKey.endsWith("/foundationdbclusters")) this.#checkIds(stored);
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

  /** Ids are only added in this phase of an operator's life: none goes, none comes back. */
  #checkIds(object: KubeObject): void {
    const { metadata, status } = object as unknown as FoundationDBCluster;
    const key = `${metadata.namespace}/${metadata.name}/${metadata.uid}`;
    const known = this.#ids.get(key) ?? new Set<string>();
    const present = new Set<string>();
    for (const { processGroupID = "" } of status?.processGroups ?? []) {
      if (present.has(processGroupID)) this.#violated(`${key}: ${processGroupID} is there twice`);
      present.add(processGroupID);
    }
    for (const id of known) if (!present.has(id)) this.#violated(`${key}: ${id} was forgotten`);
    this.#ids.set(key, new Set([...known, ...present]));
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
    if (
      plural === "events" ||
      (plural === "foundationdbclusters" && place.subresource === "status")
    ) {
      return;
    }
    const object = name === "" ? (request.body as KubeObject) : this.#stored(place);
    if (object === undefined) return;
    const what = `${request.method} ${plural} ${namespace}/${name}`;
    if (!isOwned(object.metadata)) this.#violated(`${what}: the object is nobody's cluster's`);
    if (request.method !== "DELETE") return;
    const { phase } = (object as { status?: { phase?: string } }).status ?? {};
    const isTerminalPod = plural === "pods" && (phase === "Failed" || phase === "Succeeded");
    if (!isTerminalPod) this.#violated(`${what}: phase ${phase}`);
  }

  #stored({ plural, namespace, name }: Place): KubeObject | undefined {
    return this.#world?.server.context.store.get(`/${plural}`, namespace, name) as
      | KubeObject
      | undefined;
  }

  #checkCreation(connectionString: string): void {
    const truth = this.#world?.fdb.truth.databases() ?? [];
    const existing = truth.find((one) => one.connectionString === connectionString);
    if (existing?.isConfigured) this.#violated(`configure new on ${connectionString}`);
  }
}

function isOwned(metadata: ObjectMeta): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind }) => kind === "FoundationDBCluster");
}

function placeOf(path: string): Place {
  const [, namespace = "", plural = "", name = "", subresource = ""] =
    /\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path) ?? [];
  return { namespace, plural, name, subresource };
}
