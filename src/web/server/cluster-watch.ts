// One cluster: its time line from the beginning, and while somebody looks at it its figures and everything else. The model is
// made again only when something has changed, however many look. Rules: spec/web.md [WEB18].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import type { Clock } from "../../env/clock.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { PodExec } from "../../kube/pod-exec.ts";
import type { Stored } from "../../kube/resource.ts";
import { parseTime } from "../../kube/time.ts";
import { askDatabase } from "../../plugin/database/ask-database.ts";
import type { DatabaseAnswer } from "../../plugin/database/ask-database.ts";
import type { ExplainInput } from "../../plugin/explain/page.ts";
import { ownershipOf } from "../../plugin/explain/read.ts";
import { agentsOf, ofCluster } from "../views/backups.ts";
import type { BackupsInput } from "../views/backups.ts";
import { clusterModel, storyIn } from "../views/cluster.ts";
import type { ClusterInput } from "../views/cluster.ts";
import { noFigures, withLook } from "../views/figure-history.ts";
import { eventsAbout, TimeLine } from "../views/time-line.ts";
import type { ClusterModel, Story } from "../view-model.ts";
import { lookAtDatabase } from "./database-look.ts";
import type { Gate } from "./database-look.ts";
import type { NamespaceWatch, Watched } from "./namespace-watch.ts";

export interface ClusterWatchOptions {
  /** Of this machine. */
  readonly clock: Clock;
  readonly serverNowMs: () => number;
  readonly exec: PodExec;
  readonly gate: Gate;
  readonly pauseMs: number;
  readonly backups: Watched<Stored<FoundationDBBackup>>;
  readonly restores: Watched<Stored<FoundationDBRestore>>;
  readonly onNews: () => void;
}

/** Headlines speak of minutes: a model is made again after this time, whatever happens. */
const modelMs = 10_000;
const notAsked: DatabaseAnswer = { kind: "silent", why: "the database has not been asked yet" };

export class ClusterWatch {
  readonly #options: ClusterWatchOptions;
  readonly #timeLine: TimeLine;
  #cluster: Stored<FoundationDBCluster> | undefined;
  #around: NamespaceWatch | undefined;
  #looks = 0;
  #ending = new AbortController();
  #answer = notAsked;
  #figures = noFigures;
  #model: ClusterModel | undefined;
  #madeAtMs = 0;
  /** By uid, as of the last model. */
  #pods: ReadonlyMap<string, Stored<Pod>> | undefined;

  constructor(options: ClusterWatchOptions) {
    this.#options = options;
    this.#timeLine = new TimeLine(options.serverNowMs());
  }

  /** Neither is there such a cluster, nor does anybody wait for one. */
  get isIdle(): boolean {
    return this.#cluster === undefined && this.#looks === 0;
  }

  /** Undefined when it was deleted. */
  noteCluster(cluster: Stored<FoundationDBCluster> | undefined): void {
    this.#cluster = cluster;
    if (cluster !== undefined) this.#timeLine.noteCluster(cluster, this.#options.serverNowMs());
    this.news();
  }

  news(): void {
    this.#model = undefined;
    if (this.#looks > 0) this.#options.onNews();
  }

  /** Somebody looks until what it returns is called. */
  look(around: NamespaceWatch): () => void {
    this.#looks += 1;
    if (this.#looks === 1) this.#begin(around);
    return () => {
      this.#looks -= 1;
      if (this.#looks === 0) this.#ending.abort();
    };
  }

  #begin(around: NamespaceWatch): void {
    const { clock, gate, pauseMs } = this.#options;
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    this.#around = around;
    this.#pods = undefined;
    this.news();
    signal.addEventListener(
      "abort",
      around.onChange(() => this.news()),
    );
    const onAnswer = (answer: DatabaseAnswer): void => this.#noteAnswer(answer);
    const ask = async (): Promise<DatabaseAnswer> => {
      await around.attempted;
      return this.#ask();
    };
    void lookAtDatabase({ gate, clock, pauseMs, ask, onAnswer }, signal);
  }

  async #ask(): Promise<DatabaseAnswer> {
    const cluster = this.#cluster;
    const pods = this.#around?.pods.list();
    if (cluster === undefined) return { kind: "silent", why: "the cluster is not there" };
    if (pods === undefined) return { kind: "silent", why: "its pods cannot be read" };
    return askDatabase(this.#options.exec, cluster, pods.filter(ownershipOf(cluster)));
  }

  #noteAnswer(answer: DatabaseAnswer): void {
    const nowMs = this.#options.serverNowMs();
    this.#answer = answer;
    this.#figures = withLook(this.#figures, answer, nowMs);
    if (answer.kind === "answered") this.#timeLine.noteDatabase(answer.status, nowMs);
    this.news();
  }

  /** Undefined when there is no such cluster. */
  model(): ClusterModel | undefined {
    const cluster = this.#cluster;
    if (cluster === undefined) return undefined;
    const { clock, serverNowMs } = this.#options;
    if (this.#model !== undefined && clock.nowMs() - this.#madeAtMs < modelMs) return this.#model;
    this.#madeAtMs = clock.nowMs();
    const nowMs = serverNowMs();
    const explained = this.#explained(cluster);
    this.#noteAround(explained, nowMs);
    this.#model = clusterModel(this.#input(explained), nowMs);
    return this.#model;
  }

  story(group: string): Story | undefined {
    const cluster = this.#cluster;
    if (cluster === undefined) return undefined;
    const input = { explained: this.#explained(cluster), answer: this.#answer };
    return storyIn(input, group, this.#options.serverNowMs());
  }

  #input(explained: ExplainInput): ClusterInput {
    const figures = this.#figures;
    const timeLine = this.#timeLine.model;
    return {
      explained,
      answer: this.#answer,
      backups: this.#backups(explained),
      timeLine,
      figures,
    };
  }

  #explained(cluster: Stored<FoundationDBCluster>): ExplainInput {
    const around = this.#around;
    const isOwn = ownershipOf(cluster);
    const pods = around?.pods.list()?.filter(isOwn);
    const onNodes = new Set((pods ?? []).map(({ spec }) => spec?.nodeName));
    return {
      ...{ cluster, pods },
      pvcs: around?.pvcs.list()?.filter(isOwn),
      events: around?.events.list(),
      nodes: around?.nodes.list()?.filter(({ metadata }) => onNodes.has(metadata.name)),
      unread: around?.unread().toSorted() ?? [],
    };
  }

  #noteAround({ cluster, pods, pvcs, events }: ExplainInput, nowMs: number): void {
    if (pods !== undefined) this.#notePods(pods, nowMs);
    if (events === undefined) return;
    this.#timeLine.noteEvents(eventsAbout([cluster, ...(pods ?? []), ...(pvcs ?? [])], events));
  }

  #notePods(pods: readonly Stored<Pod>[], nowMs: number): void {
    const found = new Map(pods.map((pod) => [pod.metadata.uid ?? "", pod]));
    const before = this.#pods;
    this.#pods = found;
    if (before === undefined) return;
    for (const [uid, { metadata }] of found) {
      if (before.has(uid)) continue;
      const atMs = parseTime(metadata.creationTimestamp) ?? nowMs;
      this.#timeLine.notePod("created", metadata.name ?? "", atMs);
    }
    for (const [uid, { metadata }] of before) {
      if (!found.has(uid)) this.#timeLine.notePod("deleted", metadata.name ?? "", nowMs);
    }
  }

  #backups({ cluster, events }: ExplainInput): BackupsInput {
    const { backups, restores } = this.#options;
    const problems = [...backups.unread(), ...restores.unread()];
    return {
      ...ofCluster(cluster, { backups: backups.list(), restores: restores.list() }),
      events,
      podsOf: (object) => agentsOf(object, this.#around?.pods.list()),
      ...(problems.length === 0 ? {} : { problem: problems.join("; ") }),
    };
  }
}
