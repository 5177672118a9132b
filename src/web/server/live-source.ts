// An API server that is watched with the user's own credentials. The clusters are always watched, so that the time line knows
// what happened before somebody looked; pods, events and databases only while somebody does.
// Rules: spec/web.md [WEB10], [WEB18], [WEB19].
import { foundationDbBackups } from "../../api/backup.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { foundationDbClusters } from "../../api/cluster.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { foundationDbRestores } from "../../api/restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { version } from "../../env/program-version.ts";
import type { Timer } from "../../env/clock.ts";
import type { Node } from "../../kube/generated/types.ts";
import type { PodExec } from "../../kube/pod-exec.ts";
import { nodes } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import { clusterCard } from "../views/card.ts";
import type {
  ClusterCard,
  PageModel,
  PreviewAnswer,
  PreviewRequest,
  SessionModel,
} from "../view-model.ts";
import { ClusterWatch } from "./cluster-watch.ts";
import { asksMax, Gate } from "./database-look.ts";
import { manifestOf } from "./manifest.ts";
import { NamespaceWatch, watched } from "./namespace-watch.ts";
import type { Watched, WatchOptions } from "./namespace-watch.ts";
import { WebProblem } from "./source.ts";
import type { ClusterRef, Look, Source } from "./source.ts";

export interface LiveOptions extends WatchOptions {
  readonly exec: PodExec;
  /** The time of the API server. */
  readonly serverNowMs: () => number;
  /** For people. */
  readonly where: string;
  /** Empty: of all namespaces. */
  readonly namespace: string;
  /** Of the server's clock. */
  readonly speed: number;
  /** Between two looks at a database. */
  readonly pauseMs: number;
  /** Absent where no preview can be made. */
  readonly preview?: (
    cluster: Stored<FoundationDBCluster>,
    request: PreviewRequest,
    signal: AbortSignal,
  ) => Promise<PreviewAnswer>;
}

/** What nobody looks at any more is watched for so long, since people go back and forth. */
const lingerMs = 30_000;
/** A card speaks of minutes: it is made again after this time, whatever happens. */
const cardMs = 10_000;
/** A first answer waits for so long for what is being read. */
const readyMs = 3_000;

interface Used<T> {
  readonly value: T;
  uses: number;
  lingering?: Timer;
}

export class LiveSource implements Source {
  readonly #options: LiveOptions;
  readonly #ending = new AbortController();
  readonly #clusters: Watched<Stored<FoundationDBCluster>>;
  readonly #backups: Watched<Stored<FoundationDBBackup>>;
  readonly #restores: Watched<Stored<FoundationDBRestore>>;
  readonly #nodes: Watched<Stored<Node>>;
  #areNodesWatched = false;
  readonly #gate = new Gate(asksMax);
  readonly #listeners = new Set<() => void>();
  readonly #namespaces = new Map<string, Used<NamespaceWatch>>();
  readonly #watches = new Map<string, ClusterWatch>();
  readonly #cards = new Map<
    string,
    { of: Stored<FoundationDBCluster>; atMs: number; revision: number; card: ClusterCard }
  >();
  /** Counts changes of backups. */
  #revision = 0;
  #whole: Pick<PageModel, "clusters" | "session"> | undefined;
  #wholeAtMs = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
    const place = options.namespace === "" ? {} : { namespace: options.namespace };
    this.#clusters = watched(options, "clusters", foundationDbClusters, place);
    this.#backups = watched(options, "backups", foundationDbBackups, place);
    this.#restores = watched(options, "restores", foundationDbRestores, place);
    this.#nodes = watched(options, "nodes", nodes);
  }

  /** Until `stop`. */
  start(): void {
    this.#clusters.reflector.onChange(({ type, object }) => {
      const key = keyOf(object);
      const watch = this.#watchOf(key);
      watch.noteCluster(type === "DELETED" ? undefined : object);
      if (watch.isIdle) this.#watches.delete(key);
      this.#news();
    });
    for (const { reflector } of [this.#backups, this.#restores]) {
      reflector.onChange(() => {
        this.#revision += 1;
        for (const watch of this.#watches.values()) watch.news();
        this.#news();
      });
    }
    for (const { reflector } of [this.#clusters, this.#backups, this.#restores]) {
      void reflector.start(this.#ending.signal);
    }
  }

  stop(): void {
    this.#ending.abort();
    for (const { value, lingering } of this.#namespaces.values()) {
      lingering?.cancel();
      value.end();
    }
  }

  nowMs(): number {
    return this.#options.serverNowMs();
  }

  look(cluster: ClusterRef | undefined, onNews: () => void): Look {
    this.#listeners.add(onNews);
    const endLook = cluster === undefined ? () => {} : this.#lookAt(cluster);
    const attempts = [this.#clusters, this.#backups, this.#restores].map(
      ({ reflector }) => reflector.attempted,
    );
    if (cluster !== undefined) {
      attempts.push(this.#namespaces.get(cluster.namespace)?.value.attempted ?? Promise.resolve());
    }
    let last: PageModel | undefined;
    return {
      ready: this.#readyWhen(attempts),
      model: () => {
        const whole = this.#wholeModel();
        const model = cluster === undefined ? whole : { ...whole, cluster: this.#model(cluster) };
        const isSame = last?.clusters === model.clusters && last.session === model.session;
        if (!isSame || last?.cluster !== (model as PageModel).cluster) last = model;
        return last as PageModel;
      },
      end: () => {
        this.#listeners.delete(onNews);
        endLook();
      },
    };
  }

  story(ref: ClusterRef, group: string): ReturnType<Source["story"]> {
    return this.#watches.get(textOf(ref))?.story(group);
  }

  async manifest(ref: ClusterRef): Promise<string | undefined> {
    const cluster = this.#clusters.reflector.get(ref);
    return cluster === undefined ? undefined : manifestOf(cluster);
  }

  async preview(request: PreviewRequest, signal: AbortSignal): Promise<PreviewAnswer> {
    const { namespace, cluster: name } = request;
    const cluster = this.#clusters.reflector.get({ namespace, name });
    if (cluster === undefined) throw new WebProblem(404, "there is no such cluster any more");
    const { preview } = this.#options;
    if (preview === undefined) throw new WebProblem(422, noPreview);
    return preview(cluster, request, signal);
  }

  #readyWhen(attempts: readonly Promise<void>[]): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.setTimer(readyMs, resolve);
      void Promise.all(attempts).then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #news(): void {
    this.#whole = undefined;
    for (const listener of this.#listeners) listener();
  }

  #wholeModel(): Pick<PageModel, "clusters" | "session"> {
    const nowMs = this.#options.clock.nowMs();
    if (this.#whole !== undefined && nowMs - this.#wholeAtMs < cardMs) return this.#whole;
    this.#wholeAtMs = nowMs;
    const all = this.#clusters.list() ?? [];
    const backups = this.#backups.list();
    const ofCluster = Map.groupBy(
      backups ?? [],
      ({ metadata, spec }) => `${metadata.namespace}/${spec.clusterName}`,
    );
    const clusters: Record<string, ClusterCard> = {};
    for (const cluster of all) {
      const key = keyOf(cluster);
      clusters[key] = this.#card(key, cluster, backups && (ofCluster.get(key) ?? []));
    }
    for (const key of this.#cards.keys()) if (!(key in clusters)) this.#cards.delete(key);
    this.#whole = { session: this.#session(), clusters };
    return this.#whole;
  }

  #card(
    key: string,
    cluster: Stored<FoundationDBCluster>,
    backups: readonly Stored<FoundationDBBackup>[] | undefined,
  ): ClusterCard {
    const known = this.#cards.get(key);
    const nowMs = this.#options.clock.nowMs();
    const isFresh = known !== undefined && nowMs - known.atMs < cardMs;
    if (isFresh && known.of === cluster && known.revision === this.#revision) return known.card;
    const card = clusterCard(cluster, backups, this.nowMs());
    this.#cards.set(key, { of: cluster, atMs: nowMs, revision: this.#revision, card });
    return card;
  }

  #session(): SessionModel {
    const { where, namespace, speed, preview } = this.#options;
    return {
      ...{ source: "live", where, namespace, speed, version },
      missing: [this.#clusters, this.#backups, this.#restores].flatMap((one) => one.unread()),
      ...(preview === undefined ? { previewProblem: noPreview } : {}),
    };
  }

  #model(ref: ClusterRef): PageModel["cluster"] {
    const found = this.#watches.get(textOf(ref))?.model();
    if (found !== undefined) return found;
    const [problem] = this.#clusters.unread();
    const why = problem ?? "there is no such cluster here, or it was deleted";
    return { isMissing: true, ...ref, why };
  }

  #watchOf(key: string): ClusterWatch {
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    const { clock, exec, pauseMs } = this.#options;
    const made = new ClusterWatch({
      ...{ clock, exec, pauseMs, gate: this.#gate, serverNowMs: () => this.nowMs() },
      ...{ backups: this.#backups, restores: this.#restores },
      onNews: () => {
        for (const listener of this.#listeners) listener();
      },
    });
    this.#watches.set(key, made);
    return made;
  }

  #lookAt(ref: ClusterRef): () => void {
    const { namespace } = this.#options;
    // Nothing of other namespaces was asked for.
    if (namespace !== "" && ref.namespace !== namespace) return () => {};
    if (!this.#areNodesWatched) {
      this.#areNodesWatched = true;
      void this.#nodes.reflector.start(this.#ending.signal);
    }
    const used = this.#namespaceWatch(ref.namespace);
    const watch = this.#watchOf(textOf(ref));
    const endLook = watch.look(used.value);
    return () => {
      endLook();
      if (watch.isIdle) this.#watches.delete(textOf(ref));
      used.uses -= 1;
      // Streams may end after the source has: then everything has ended already.
      if (used.uses > 0 || this.#ending.signal.aborted) return;
      used.lingering = this.#options.clock.setTimer(lingerMs, () => {
        used.value.end();
        this.#namespaces.delete(ref.namespace);
      });
    };
  }

  #namespaceWatch(namespace: string): Used<NamespaceWatch> {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) {
      known.lingering?.cancel();
      known.uses += 1;
      return known;
    }
    const value = new NamespaceWatch(this.#options, namespace, this.#nodes);
    const made: Used<NamespaceWatch> = { value, uses: 1 };
    this.#namespaces.set(namespace, made);
    return made;
  }
}

const noPreview = "previews cannot be made here";

function keyOf({ metadata }: Stored<FoundationDBCluster>): string {
  return `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}

function textOf({ namespace, name }: ClusterRef): string {
  return `${namespace}/${name}`;
}
