// Takes a picture of a cluster with the user's own credentials. Only the cluster itself is needed: what may not be read, or
// does not answer in time, is left out and named. Rules PIC1 to PIC5.
import { labelsOf } from "../api/effective.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Clock } from "../env/clock.ts";
import { append } from "../env/long-lists.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import type { PodExec } from "../kube/pod-exec.ts";
import * as resources from "../kube/resource.ts";
import type { Resource, Stored } from "../kube/resource.ts";
import { formatTime } from "../kube/time.ts";
import { RequestSums } from "./other-requests.ts";
import type { LeftOut, OtherRequests, Picture } from "./picture.ts";
import { takeStatus } from "./take-status.ts";
import type { StatusAnswer } from "./take-status.ts";

export interface PictureSource {
  readonly client: KubeClient;
  readonly exec: PodExec;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

export interface PictureOptions {
  /** The status of the database from elsewhere; no pod is asked then. */
  readonly databaseStatus?: unknown;
  readonly versions: Picture["versions"];
  /** Until when everything has to be read. */
  readonly timeoutMs?: number;
  readonly onProgress?: (what: string) => void;
}

const timeoutMsDefault = 120_000;
/** Of a Kubernetes cluster with more pods than this, the rest counts as none. */
const pagesMaximum = 400;
const pageSize = 500;
/** Objects that are read one by one where they may not be listed. */
const singleReadsMaximum = 500;

export async function takePicture(
  source: PictureSource,
  cluster: Stored<FoundationDBCluster>,
  options: PictureOptions,
): Promise<Picture> {
  const taking = new Taking(source, cluster, options);
  try {
    return await taking.picture();
  } finally {
    taking.end();
  }
}

class Taking {
  readonly #source: PictureSource;
  readonly #cluster: Stored<FoundationDBCluster>;
  readonly #options: PictureOptions;
  readonly #left: LeftOut[] = [];
  readonly #ending = new AbortController();
  readonly #endMs: number;
  readonly #cancel: () => void;

  constructor(
    source: PictureSource,
    cluster: Stored<FoundationDBCluster>,
    options: PictureOptions,
  ) {
    this.#source = source;
    this.#cluster = cluster;
    this.#options = options;
    const limitMs = options.timeoutMs ?? timeoutMsDefault;
    this.#endMs = source.clock.nowMs() + limitMs;
    const abort = (): void => this.#ending.abort();
    const timer = source.clock.setTimer(limitMs, abort);
    source.signal?.addEventListener("abort", abort, { once: true });
    this.#cancel = () => {
      timer.cancel();
      source.signal?.removeEventListener("abort", abort);
    };
  }

  end(): void {
    this.#cancel();
  }

  async picture(): Promise<Picture> {
    const { clock } = this.#source;
    const takenAt = formatTime(clock.nowMs());
    const { own, others } = await this.#pods();
    const [claims, services, configMaps, storageClasses, status] = await Promise.all([
      this.#ownObjects("volume claims", resources.persistentVolumeClaims),
      this.#ownObjects("services", resources.services),
      this.#ownObjects("config maps", resources.configMaps, configMapsIn(own)),
      this.#attempt("storage classes", () => this.#list(resources.storageClasses)),
      this.#status(own),
    ]);
    const policies = await this.#policies();
    const [nodes, volumes] = [await this.#nodes(own), await this.#volumes(claims)];
    return {
      format: 1,
      takenAt,
      cluster: this.#cluster,
      objects: [own, claims, volumes, services, configMaps, policies, nodes, storageClasses ?? []]
        .flat()
        .toSorted(byKindAndName),
      otherRequests: others,
      databaseStatus: status,
      left: this.#left.toSorted((one, other) => (one.what < other.what ? -1 : 1)),
      versions: this.#options.versions,
    };
  }

  /** One walk over all pods: those of the cluster are kept, of the others only what they ask for. */
  async #pods(): Promise<{ own: Stored<Pod>[]; others: OtherRequests[] }> {
    this.#progress("pods");
    const { namespace = "" } = this.#cluster.metadata;
    const everywhere = await this.#foldPods({});
    if (!("why" in everywhere)) return everywhere;
    const here = await this.#foldPods({ namespace });
    if ("why" in here) {
      this.#left.push({ what: "pods", why: here.why });
      return { own: [], others: [] };
    }
    this.#left.push({
      what: "requests of pods in other namespaces",
      why: `${everywhere.why}: nodes may have less room than it seems`,
    });
    return here;
  }

  async #foldPods(place: {
    namespace?: string;
  }): Promise<{ own: Stored<Pod>[]; others: OtherRequests[] } | { why: string }> {
    const own: Stored<Pod>[] = [];
    const sums = new RequestSums();
    const isOwn = this.#ownership();
    try {
      let next: string | undefined;
      for (let page = 1; page <= pagesMaximum; page += 1) {
        const list = await this.#source.client.list(resources.pods, {
          ...place,
          limit: pageSize,
          ...(next === undefined ? {} : { continue: next }),
          signal: this.#ending.signal,
        });
        for (const pod of list.items) {
          if (isOwn(pod)) own.push(withoutManagers(pod));
          else sums.add(pod);
        }
        next = list.metadata.continue || undefined;
        if (next === undefined) return { own, others: sums.result() };
      }
      const why = `there are more than ${pagesMaximum * pageSize} pods`;
      this.#left.push({ what: "requests of some pods", why });
      return { own, others: sums.result() };
    } catch (error) {
      return { why: this.#why(error) };
    }
  }

  /** Of the cluster by its labels or as its owner, in its namespace. */
  #ownership(): (object: KubeObject) => boolean {
    const { namespace, uid } = this.#cluster.metadata;
    const wanted = Object.entries(labelsOf(this.#cluster).matchLabels);
    return ({ metadata }) => {
      if (metadata.namespace !== namespace) return false;
      const isOwned = metadata.ownerReferences?.some((owner) => owner.uid === uid);
      return isOwned === true || wanted.every(([key, value]) => metadata.labels?.[key] === value);
    };
  }

  /** And those of its namespace that are named. */
  async #ownObjects<T extends KubeObject>(
    what: string,
    resource: Resource<T>,
    names: ReadonlySet<string> = new Set(),
  ): Promise<T[]> {
    const { namespace = "" } = this.#cluster.metadata;
    const isOwn = this.#ownership();
    const found = await this.#attempt(what, () => this.#list(resource, namespace));
    return (found ?? []).filter((object) => isOwn(object) || names.has(object.metadata.name ?? ""));
  }

  async #list<T extends KubeObject>(resource: Resource<T>, namespace?: string): Promise<T[]> {
    const { items } = await this.#source.client.listAll(resource, {
      ...(namespace === undefined ? {} : { namespace }),
      signal: this.#ending.signal,
    });
    return items.map(withoutManagers);
  }

  /** Only what the operator keeps for this cluster: whoever may not list them need not learn of it otherwise. */
  async #policies(): Promise<KubeObject[]> {
    const { automationOptions, networkPolicy } = this.#cluster.spec;
    return [
      ...(automationOptions?.drains?.enabled === true
        ? await this.#ownObjects("disruption budgets", resources.podDisruptionBudgets)
        : []),
      ...(networkPolicy?.enabled === true
        ? await this.#ownObjects("network policies", resources.networkPolicies)
        : []),
    ];
  }

  /** Whoever may not list nodes may perhaps read single ones. */
  async #nodes(own: readonly Stored<Pod>[]): Promise<Stored<Node>[]> {
    const names = [...new Set(own.flatMap(({ spec }) => spec?.nodeName ?? []))];
    const found = await this.#listedOrSingle(resources.nodes, "nodes", names);
    return found.map(withoutImages);
  }

  async #volumes(
    claims: readonly Stored<PersistentVolumeClaim>[],
  ): Promise<Stored<PersistentVolume>[]> {
    const names = new Set(claims.flatMap(({ spec }) => spec?.volumeName || []));
    const found = await this.#listedOrSingle(resources.persistentVolumes, "volumes", [...names]);
    return found.filter(({ metadata }) => names.has(metadata.name ?? ""));
  }

  async #listedOrSingle<T extends KubeObject>(
    resource: Resource<T>,
    what: string,
    names: readonly string[],
  ): Promise<T[]> {
    this.#progress(what);
    try {
      return await this.#list(resource);
    } catch (error) {
      if (!isKubeError(error, "Forbidden")) {
        this.#left.push({ what, why: this.#why(error) });
        return [];
      }
    }
    const found = await this.#attempt(what, () => this.#single(resource, what, names));
    if (found !== undefined && found.length > 0) {
      this.#left.push({ what: `other ${what}`, why: "not allowed to list them" });
    } else if (found !== undefined) {
      this.#left.push({ what, why: "not allowed" });
    }
    return found ?? [];
  }

  async #single<T extends KubeObject>(
    resource: Resource<T>,
    what: string,
    names: readonly string[],
  ): Promise<T[]> {
    const some = names.toSorted().slice(0, singleReadsMaximum);
    if (some.length < names.length) {
      const why = `only the first ${singleReadsMaximum} were read one by one`;
      this.#left.push({ what: `some ${what}`, why });
    }
    const found: T[] = [];
    for (let at = 0; at < some.length; at += 8) {
      const batch = some
        .slice(at, at + 8)
        .map((name) =>
          this.#source.client.find(resource, { name }, { signal: this.#ending.signal }),
        );
      append(
        found,
        (await Promise.all(batch)).filter((object) => object !== undefined),
      );
    }
    return found.map(withoutManagers);
  }

  async #status(own: readonly Stored<Pod>[]): Promise<unknown> {
    if (this.#options.databaseStatus !== undefined) return this.#options.databaseStatus;
    this.#progress("status of the database");
    const { exec, clock } = this.#source;
    const isOver = (): boolean => this.#ending.signal.aborted;
    const deadline = { leftMs: () => (isOver() ? 0 : this.#endMs - clock.nowMs()) };
    const answer: StatusAnswer = await takeStatus(exec, own, deadline);
    if (answer.status === undefined) {
      this.#left.push({ what: "status of the database", why: answer.why });
    }
    return answer.status;
  }

  async #attempt<T>(what: string, read: () => Promise<T>): Promise<T | undefined> {
    this.#progress(what);
    try {
      return await read();
    } catch (error) {
      this.#left.push({ what, why: this.#why(error) });
      return undefined;
    }
  }

  /** Who is told to stop stops; everything else that the server refuses is a gap. */
  #why(error: unknown): string {
    if (!isKubeError(error) || this.#source.signal?.aborted === true) throw error;
    if (error.reason === "Forbidden") return "not allowed";
    if (this.#ending.signal.aborted) return "the API server did not answer in time";
    return error.message;
  }

  #progress(what: string): void {
    this.#options.onProgress?.(what);
  }
}

/** Without them a pod could not start again. */
function configMapsIn(pods: readonly Stored<Pod>[]): Set<string> {
  const names = pods.flatMap(({ spec }) => [
    ...(spec?.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
    ...(spec?.containers ?? []).flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ]),
  ]);
  return new Set(names.filter((name) => name !== undefined));
}

/** Who wrote which field when is of no use for a copy, and half of the size. */
export function withoutManagers<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function withoutImages(node: Stored<Node>): Stored<Node> {
  if (node.status?.images === undefined) return node;
  const { images: _, ...status } = node.status;
  return { ...node, status };
}

export function byKindAndName(one: KubeObject, other: KubeObject): number {
  const [left, right] = [sortKey(one), sortKey(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function sortKey({ kind, metadata }: KubeObject): string {
  return `${kind}\0${metadata.namespace ?? ""}\0${metadata.name ?? ""}`;
}
