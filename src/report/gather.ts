// Gathers what a support bundle holds, with the user's own credentials. Only the cluster has to be readable: whatever else
// cannot be read is left out and named, so that partial rights give a partial bundle. Rules PIC30, PIC32, PIC33.
import { foundationDbBackups } from "../api/backup.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { foundationDbRestores } from "../api/restore.ts";
import { agentLabel } from "../build/backup-deployment.ts";
import { agentsNameOf } from "../build/restore-agents.ts";
import { CommandError } from "../env/command-error.ts";
import { isKubeError } from "../kube/error.ts";
import type { Deployment, Event, Pod } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import * as resources from "../kube/resource.ts";
import type { Resource, Stored } from "../kube/resource.ts";
import type { LeftOut, Picture } from "../preview/picture.ts";
import { byKindAndName, takePicture, withoutManagers } from "../preview/take-picture.ts";
import type { PictureSource } from "../preview/take-picture.ts";
import { gatherLogs } from "./gather-logs.ts";
import type { LogOwner, LogText } from "./gather-logs.ts";

export interface ReportOptions {
  /** Of each container; 0 for none. */
  readonly logLines: number;
  readonly timeoutMs: number;
  readonly versions: Picture["versions"];
  /** The status of the database from elsewhere. */
  readonly databaseStatus?: unknown;
  /** The Deployments of operators that are found. */
  readonly findOperators: () => Promise<readonly Stored<Deployment>[]>;
  /** The page that `explain` shows. */
  readonly explain: () => Promise<string>;
  readonly onProgress?: (text: string) => void;
}

export interface Gathered {
  readonly picture: Picture;
  /** Backups, restores, their agents, Deployments: what is no part of the picture. */
  readonly objects: readonly KubeObject[];
  readonly events: readonly Stored<Event>[];
  readonly logs: readonly LogText[];
  readonly explanation: string | undefined;
  readonly left: readonly LeftOut[];
}

const eventsMaximum = 5_000;
const pictureMs = 120_000;

export async function gather(
  source: PictureSource,
  cluster: Stored<FoundationDBCluster>,
  options: ReportOptions,
): Promise<Gathered> {
  const ending = new AbortController();
  const abort = (): void => ending.abort();
  const timer = source.clock.setTimer(options.timeoutMs, abort);
  source.signal?.addEventListener("abort", abort, { once: true });
  try {
    return await new Gathering(source, cluster, options, ending.signal).everything();
  } catch (error) {
    if (source.signal?.aborted !== true) throw error;
    throw new CommandError("interrupted: no bundle was written");
  } finally {
    timer.cancel();
    source.signal?.removeEventListener("abort", abort);
  }
}

class Gathering {
  readonly #source: PictureSource;
  readonly #cluster: Stored<FoundationDBCluster>;
  readonly #options: ReportOptions;
  readonly #signal: AbortSignal;
  readonly #endMs: number;
  readonly #left: LeftOut[] = [];

  constructor(
    source: PictureSource,
    cluster: Stored<FoundationDBCluster>,
    options: ReportOptions,
    signal: AbortSignal,
  ) {
    this.#source = source;
    this.#cluster = cluster;
    this.#options = options;
    this.#signal = signal;
    this.#endMs = source.clock.nowMs() + options.timeoutMs;
  }

  async everything(): Promise<Gathered> {
    const { name = "" } = this.#cluster.metadata;
    const explanation = await this.#attempt("explanation", () => this.#options.explain());
    const operators = await this.#attempt("operator", () => this.#options.findOperators());
    if (operators?.length === 0) {
      this.#left.push({ what: "operator", why: "no Deployment of one was found" });
    }
    const picture = await this.#picture(operators ?? []);
    const backups = await this.#list("backups", foundationDbBackups);
    const restores = await this.#list("restores", foundationDbRestores);
    const own = [
      ...backups.filter(({ spec }) => spec.clusterName === name),
      ...restores.filter(({ spec }) => spec.destinationClusterName === name),
    ];
    const agents = await this.#agents(own);
    const budgets = await this.#list("disruption budgets", resources.podDisruptionBudgets);
    const policies = await this.#list("network policies", resources.networkPolicies);
    const told = await this.#list("events", resources.events);
    const ofAgents = [...agents.deployments, ...agents.pods];
    const objects = [...own, ...ofAgents, ...budgets, ...policies, ...(operators ?? [])];
    const logs = await this.#logs(picture, operators ?? [], agents.pods);
    return {
      picture,
      objects: objects.map(withoutManagers).toSorted(byKindAndName),
      events: this.#ownEvents(told, [...picture.objects, ...objects]),
      logs,
      explanation,
      left: [...this.#left, ...knownGaps, ...picture.left],
    };
  }

  async #picture(operators: readonly Stored<Deployment>[]): Promise<Picture> {
    const { versions, databaseStatus, onProgress } = this.#options;
    const image = operators[0]?.spec?.template.spec?.containers[0]?.image;
    return takePicture(this.#source, this.#cluster, {
      versions: { ...versions, ...(image === undefined ? {} : { operator: image }) },
      ...(databaseStatus === undefined ? {} : { databaseStatus }),
      ...(onProgress === undefined ? {} : { onProgress }),
      timeoutMs: Math.max(0, Math.min(this.#endMs - this.#source.clock.nowMs(), pictureMs)),
    });
  }

  async #agents(
    own: readonly KubeObject[],
  ): Promise<{ deployments: Stored<Deployment>[]; pods: Stored<Pod>[] }> {
    const names = new Set(own.map(agentsNameOf));
    if (names.size === 0) return { deployments: [], pods: [] };
    const [deployments, pods] = [
      await this.#list("Deployments of backup agents", resources.deployments),
      await this.#list("backup agents", resources.pods),
    ];
    return {
      deployments: deployments.filter(({ metadata }) => names.has(metadata.name ?? "")),
      pods: pods.filter(({ metadata }) => names.has(metadata.labels?.[agentLabel] ?? "")),
    };
  }

  async #logs(
    picture: Picture,
    operators: readonly Stored<Deployment>[],
    agents: readonly Stored<Pod>[],
  ): Promise<LogText[]> {
    const own = picture.objects.filter(({ kind }) => kind === "Pod") as Stored<Pod>[];
    const owned = (owner: LogOwner, pods: readonly Stored<Pod>[]) =>
      pods.map((pod) => ({ owner, pod }));
    const { logs, left } = await gatherLogs(
      this.#source.client,
      [
        ...owned("operator", await this.#operatorPods(operators)),
        ...owned("pods", own),
        ...owned("agents", agents),
      ],
      { lines: this.#options.logLines, signal: this.#signal },
      this.#options.onProgress,
    );
    for (const entry of left) this.#left.push(entry);
    return logs;
  }

  async #operatorPods(operators: readonly Stored<Deployment>[]): Promise<Stored<Pod>[]> {
    const found: Stored<Pod>[][] = [];
    for (const { metadata, spec } of operators.slice(0, 5)) {
      const labels = Object.entries(spec?.selector.matchLabels ?? {});
      if (labels.length === 0) continue;
      const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(",");
      const { namespace = "" } = metadata;
      found.push(
        await this.#list("pods of the operator", resources.pods, { namespace, labelSelector }),
      );
    }
    return found.flat();
  }

  /** Of the cluster and of everything that belongs to it; the newest where there are too many. */
  #ownEvents(told: readonly Stored<Event>[], objects: readonly KubeObject[]): Stored<Event>[] {
    const { name = "" } = this.#cluster.metadata;
    const names = new Set([name, ...objects.map(({ metadata }) => metadata.name ?? "")]);
    const own = told
      .filter(({ involvedObject }) => {
        const about = involvedObject.name ?? "";
        return names.has(about) || about.startsWith(`${name}-`);
      })
      .toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1));
    if (own.length > eventsMaximum) {
      const why = `a bundle holds the newest ${eventsMaximum}`;
      this.#left.push({ what: `${own.length - eventsMaximum} older events`, why });
    }
    return own.slice(-eventsMaximum).map(withoutManagers);
  }

  async #list<T extends KubeObject>(
    what: string,
    resource: Resource<T>,
    place: { namespace?: string; labelSelector?: string } = {},
  ): Promise<T[]> {
    const { namespace = "" } = this.#cluster.metadata;
    const found = await this.#attempt(what, () =>
      this.#source.client.listAll(resource, { namespace, ...place, signal: this.#signal }),
    );
    return found?.items ?? [];
  }

  async #attempt<T>(what: string, read: () => Promise<T>): Promise<T | undefined> {
    this.#options.onProgress?.(what);
    try {
      return await read();
    } catch (error) {
      // A mistake of ours is not a gap; a page that cannot be made is one.
      if (!isKubeError(error) && !(error instanceof CommandError)) throw error;
      if (this.#source.signal?.aborted === true) throw error;
      const isForbidden = isKubeError(error, "Forbidden");
      const isLate = this.#signal.aborted;
      this.#left.push({
        what,
        why: isForbidden ? "not allowed" : isLate ? "there was no time left" : error.message,
      });
      return undefined;
    }
  }
}

/** What is never in a bundle. */
const knownGaps: readonly LeftOut[] = [
  { what: "Secrets", why: "they are never read" },
  { what: "values of environment variables", why: "they may be secret" },
  {
    what: "trace files of fdbserver",
    why: "they lie in the pods and are large: copy those that matter with kubectl cp",
  },
  { what: "managedFields", why: "they repeat what is there" },
  {
    what: "last-applied-configuration",
    why: "it repeats what is there; that of the cluster is kept without secrets",
  },
];

export function timeOf({ lastTimestamp, eventTime, metadata }: Stored<Event>): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}
