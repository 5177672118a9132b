// What should exist for a cluster: its objects, hashes, configurations and command lines. Everything is derived from the
// resource and a few fields of its status, is made when first asked for, and is kept until one of those inputs changes,
// so that a pass over a cluster at rest builds nothing. Rules: spec/plan.md [P9].
import { createHash } from "node:crypto";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { wantedCounts } from "../../api/wanted-counts.ts";
import { commandArguments, expectedCommandLine } from "../../build/command-line.ts";
import {
  clusterFileKey,
  configMap,
  confVariant,
  dynamicConfHash,
  dynamicConfHashOf,
} from "../../build/config-map.ts";
import { annotationKeys } from "../../build/labels.ts";
import {
  monitorConfiguration,
  monitorJson,
  variablesIn,
} from "../../build/monitor-configuration.ts";
import type { MonitorArgument, MonitorTarget } from "../../build/monitor-configuration.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { NormalCluster } from "../../build/normalise.ts";
import { livePodMetadata } from "../../build/pod-metadata.ts";
import { pod } from "../../build/pod.ts";
import type { BuildProblem } from "../../build/problem.ts";
import { headlessService, processGroupService } from "../../build/service.ts";
import { splitConfiguration } from "../../build/split-configuration.ts";
import { volumeClaim } from "../../build/volume-claim.ts";
import type { Memory } from "../../env/memory.ts";
import type { ConfigMap, PersistentVolumeClaim, Pod, Service } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { desiredConfiguration } from "../../model/database-configuration.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";
import type { ProcessCounts } from "../../model/process-counts.ts";
import { makeProcessGroupId, parseProcessGroupId } from "../../model/process-group-id.ts";
import { hallOf, isPacked } from "../../model/process-group.ts";
import type { MetadataPatch } from "../action.ts";
import { missingMetadata } from "./metadata-check.ts";
import { remembered } from "./derived-of-live.ts";
import type { OfLive, Substitutions } from "./derived-of-live.ts";
import { shapeOfPod } from "./pod-shape.ts";
import { isSameJson } from "./same-json.ts";
import { sidecarImageFor } from "./sidecar-image.ts";

/** What should exist for one process group in one hall. */
interface OfGroup {
  pod?: DesiredObject<Stored<Pod>> | BuildProblem;
  pvc?: DesiredObject<Stored<PersistentVolumeClaim>> | null;
  service?: Stored<Service> | null;
  hasOwnPrefix?: boolean;
}

export interface DesiredObject<T> {
  object: T;
  specHash: string;
}

export class Desired {
  readonly memory: Memory;
  readonly cluster: NormalCluster;
  /** The same with the version that monitors are told to run. */
  readonly #configured: NormalCluster;
  readonly configMap: Stored<ConfigMap>;
  readonly headlessService: Stored<Service> | undefined;
  readonly counts: ProcessCounts;
  readonly configuration: DatabaseConfiguration;
  readonly #groups = new Map<string, OfGroup>();
  readonly #live = new WeakMap<object, OfLive>();
  /** Several things are asked of one object in a row. */
  #last: { readonly live: object; readonly known: OfLive } | undefined = undefined;
  readonly #texts = new Map<string, string>();
  readonly #arguments = new Map<string, readonly MonitorArgument[]>();
  readonly #sameConfigurations = new Map<string, Map<string, boolean>>();

  constructor(
    memory: Memory,
    cluster: NormalCluster,
    configurationVersion: string = cluster.spec.version,
  ) {
    this.memory = memory;
    this.cluster = cluster;
    this.#configured =
      configurationVersion === cluster.spec.version
        ? cluster
        : { ...cluster, spec: { ...cluster.spec, version: configurationVersion } };
    this.configMap = configMap(this.#configured) as Stored<ConfigMap>;
    this.headlessService = headlessService(cluster) as Stored<Service> | undefined;
    this.counts = wantedCounts(cluster.spec);
    this.configuration = desiredConfiguration(cluster.spec.databaseConfiguration ?? {});
  }

  get configuredVersion(): string {
    return this.#configured.spec.version;
  }

  /** A process group keeps its class, and belongs in another hall at most once in its life. */
  #ofGroup(group: ProcessGroup): OfGroup {
    const hall = hallOf(group);
    const key = hall === "" ? group.processGroupID : `${group.processGroupID}/${hall}`;
    let found = this.#groups.get(key);
    if (found === undefined) this.#groups.set(key, (found = {}));
    return found;
  }

  #ofLive(live: object): OfLive {
    if (this.#last?.live === live) return this.#last.known;
    let found = this.#live.get(live);
    if (found === undefined) this.#live.set(live, (found = {}));
    this.#last = { live, known: found };
    return found;
  }

  /** Whether its pod and its claim have been made already. */
  isMade(group: ProcessGroup): boolean {
    const { pod: known, pvc } = this.#ofGroup(group);
    return known !== undefined && pvc !== undefined;
  }

  /** Undefined when the pod cannot be built; `podProblem` says why. */
  pod(group: ProcessGroup): DesiredObject<Stored<Pod>> | undefined {
    const found = this.#builtPod(group);
    return "object" in found ? found : undefined;
  }

  podProblem(group: ProcessGroup): BuildProblem | undefined {
    const found = this.#builtPod(group);
    return "object" in found ? undefined : found;
  }

  #builtPod(group: ProcessGroup): DesiredObject<Stored<Pod>> | BuildProblem {
    const known = this.#ofGroup(group);
    if (known.pod !== undefined) return known.pod;
    const built = pod(this.cluster, group);
    return (known.pod = built.ok ? hashed(built.value as Stored<Pod>) : built.problem);
  }

  /** Undefined for classes that keep no data. */
  pvc(group: ProcessGroup): DesiredObject<Stored<PersistentVolumeClaim>> | undefined {
    const known = this.#ofGroup(group);
    if (known.pvc === undefined) {
      const claim = volumeClaim(this.cluster, group);
      known.pvc = claim === undefined ? null : hashed(claim as Stored<PersistentVolumeClaim>);
    }
    return known.pvc ?? undefined;
  }

  /** Undefined unless processes announce the address of a service. */
  service(group: ProcessGroup): Stored<Service> | undefined {
    const known = this.#ofGroup(group);
    if (known.service === undefined) {
      const service = processGroupService(this.cluster, group) as Stored<Service> | undefined;
      known.service = service ?? null;
    }
    return known.service ?? undefined;
  }

  /** Whether its id is one that the resource gives. */
  hasOwnPrefix(group: ProcessGroup): boolean {
    const known = this.#ofGroup(group);
    if (known.hasOwnPrefix === undefined) {
      const number = parseProcessGroupId(group.processGroupID)?.number ?? 0;
      const prefix = this.cluster.spec.processGroupIDPrefix ?? "";
      const id = makeProcessGroupId(prefix, group.processClass, number);
      known.hasOwnPrefix = id === group.processGroupID;
    }
    return known.hasOwnPrefix;
  }

  /** What a live pod's metadata lacks. */
  podMetadataPatch(group: ProcessGroup, live: Stored<Pod>): MetadataPatch | undefined {
    const known = this.#ofLive(live);
    known.patch ??= {
      value: missingMetadata(live.metadata, livePodMetadata(this.cluster, group, live)),
    };
    return known.patch.value;
  }

  /** What a live volume claim's metadata lacks. */
  claimMetadataPatch(
    group: ProcessGroup,
    live: Stored<PersistentVolumeClaim>,
  ): MetadataPatch | undefined {
    const known = this.#ofLive(live);
    known.patch ??= { value: this.#claimPatch(group, live) };
    return known.patch.value;
  }

  /** How a live pod differs from the wanted one, kept while both are the same. */
  podDifference<V>(live: Stored<Pod>, wanted: DesiredObject<Stored<Pod>>, make: () => V): V {
    const known = this.#ofLive(live);
    if (known.difference?.wanted !== wanted) known.difference = { wanted, value: make() };
    // The same function made it for these two objects.
    return known.difference.value as V;
  }

  /** How a live volume claim differs from the wanted one, kept while both are the same. */
  claimDifference<V extends string>(
    live: Stored<PersistentVolumeClaim>,
    wanted: DesiredObject<Stored<PersistentVolumeClaim>>,
    make: () => V,
  ): V {
    const known = this.#ofLive(live);
    if (known.difference?.wanted !== wanted) known.difference = { wanted, value: make() };
    // The same function made it for these two objects.
    return known.difference.value as V;
  }

  #claimPatch(group: ProcessGroup, live: Stored<PersistentVolumeClaim>): MetadataPatch | undefined {
    const { labels = {}, annotations = {} } = this.pvc(group)?.object.metadata ?? {};
    const { [annotationKeys.lastAppliedSpec]: note, ...rest } = annotations;
    // Where data lies is written when a claim is made; a template says nothing about it.
    const { [annotationKeys.diskLayout]: _, ...others } = rest;
    // A claim without the note of its specification gets it; another note is never rewritten.
    const hasNote = live.metadata.annotations?.[annotationKeys.lastAppliedSpec] !== undefined;
    const wanted: Record<string, string> = { ...others };
    if (!hasNote && note !== undefined) wanted[annotationKeys.lastAppliedSpec] = note;
    return missingMetadata(live.metadata, { labels, annotations: wanted });
  }

  /** Of the wanted version unless another one is given. */
  sidecarImage(
    { processClass }: ProcessGroup,
    live: Stored<Pod>,
    version: string = this.cluster.spec.version,
  ): string {
    const known = this.#ofLive(live);
    const found = known.sidecarImage;
    if (found?.processClass === processClass && found.version === version) return found.value;
    const { cluster } = this;
    const versioned = { ...cluster, spec: { ...cluster.spec, version } };
    const value = sidecarImageFor(this, versioned, processClass, live);
    known.sidecarImage = { processClass, version, value };
    return value;
  }

  /** The hash of the entries of the ConfigMap that this pod reads. */
  configHash(group: ProcessGroup, live: Stored<Pod>): string {
    const { processClass } = group;
    const packed = isPacked(group);
    const known = this.#ofLive(live);
    const found = known.configHash;
    if (found?.processClass === processClass && found.isPacked === packed) return found.value;
    const { imageType, servers } = shapeOfPod(this, live);
    const variant = confVariant(this.cluster.spec, packed);
    const key = `hash/${processClass}/${imageType}/${servers}/${variant}`;
    const value = remembered(this.#texts, key, () =>
      dynamicConfHash(this.configMap.data ?? {}, processClass, imageType, servers, variant),
    );
    known.configHash = { processClass, isPacked: packed, value };
    return value;
  }

  configHashOfNewPod(group: ProcessGroup): string {
    const { processClass } = group;
    const key = `hash/${processClass}/${isPacked(group)}`;
    return remembered(this.#texts, key, () =>
      dynamicConfHashOf(this.cluster, this.configMap.data ?? {}, processClass, isPacked(group)),
    );
  }

  /** Whether a unified monitor runs with the wanted configuration, given as the text that it reports. */
  isCurrentConfiguration(
    group: ProcessGroup,
    live: Stored<Pod>,
    text: string | undefined,
  ): boolean {
    if (text === undefined) return false;
    const known = this.#ofLive(live);
    const of = isPacked(group) ? `${group.processClass}/packed` : group.processClass;
    if (known.isCurrent?.group !== of || known.isCurrent.text !== text) {
      known.isCurrent = { group: of, text, value: this.#runsWith(group, live, text) };
    }
    return known.isCurrent.value;
  }

  #runsWith(group: ProcessGroup, live: Stored<Pod>, text: string): boolean {
    const target = targetOf(this, group, live);
    const { processClass, serverCount, ipFamily = 0 } = target;
    const key = `monitor/${processClass}/${serverCount}/${ipFamily}/${isPacked(group)}`;
    const wanted = remembered(this.#texts, key, () =>
      monitorJson(monitorConfiguration(this.#configured, target)),
    );
    if (text === wanted) return true;
    const known = remembered(this.#sameConfigurations, key, () => new Map<string, boolean>());
    return remembered(known, text, () => isSameJson(parsedOrUndefined(text), JSON.parse(wanted)));
  }

  /**
   * Whether the configuration names a variable that a pod has when it is made now and that this one was made without.
   * The unified monitor does not take such a configuration.
   */
  lacksVariable(group: ProcessGroup, live: Stored<Pod>): boolean {
    const target = targetOf(this, group, live);
    if (target.imageType !== "unified") return false;
    const own = new Set(variablesOfPod(live));
    const missing = variablesOfPod(this.pod(group)?.object).filter((name) => !own.has(name));
    if (missing.length === 0) return false;
    const { arguments: named } = monitorConfiguration(this.#configured, target);
    return named.some((argument) => variablesIn(argument).some((name) => missing.includes(name)));
  }

  /** SHA-256 of the files that a split pod should have. */
  sidecarFileHashes(group: ProcessGroup, live: Stored<Pod>, from: Substitutions): Substitutions {
    const known = this.#ofLive(live);
    if (known.fileHashes?.from !== from) {
      const { imageType: _, ...target } = targetOf(this, group, live);
      const value = {
        "fdb.cluster": sha256(this.configMap.data?.[clusterFileKey] ?? ""),
        "fdbmonitor.conf": sha256(splitConfiguration(this.cluster, target, from)),
      };
      known.fileHashes = { from, value };
    }
    return known.fileHashes.value;
  }

  /** What a new process in the place of the pod would say about where it is, kept while it is made of the same. */
  localities(
    live: Stored<Pod>,
    from: readonly unknown[],
    make: () => ReadonlyMap<string, string>,
  ): ReadonlyMap<string, string> {
    const known = this.#ofLive(live);
    const found = known.localities;
    if (found?.from.every((value, index) => value === from[index]) === true) return found.value;
    const value = make();
    known.localities = { from, value };
    return value;
  }

  /** The command line that the n-th process of the pod should show. */
  commandLine(
    group: ProcessGroup,
    live: Stored<Pod>,
    processNumber: number,
    from: Substitutions,
  ): string {
    const known = this.#ofLive(live);
    if (known.commandLines?.from !== from) known.commandLines = { from, value: [] };
    const lines = known.commandLines.value;
    lines[processNumber] ??= this.#commandLine(targetOf(this, group, live), processNumber, from);
    return lines[processNumber];
  }

  /** Pods of one kind have one configuration. */
  #commandLine(target: MonitorTarget, processNumber: number, from: Substitutions): string {
    const { processClass, imageType, serverCount, ipFamily, isPacked: packed } = target;
    const key = `${processClass}/${imageType}/${serverCount}/${ipFamily}/${packed}`;
    const known = remembered(this.#arguments, key, () => commandArguments(this.cluster, target));
    return expectedCommandLine(this.cluster, target, processNumber, from, known);
  }
}

function variablesOfPod(live: Stored<Pod> | undefined): readonly string[] {
  const main = live?.spec?.containers.find(({ name }) => name === mainContainerName);
  return (main?.env ?? []).map(({ name }) => name);
}

function targetOf(desired: Desired, group: ProcessGroup, live: Stored<Pod>): MonitorTarget {
  const { imageType, servers, ipFamily } = shapeOfPod(desired, live);
  return {
    ...{ processClass: group.processClass, imageType, serverCount: servers, ipFamily },
    isPacked: isPacked(group),
  };
}

function hashed<T extends Stored<Pod> | Stored<PersistentVolumeClaim>>(
  object: T,
): DesiredObject<T> {
  const specHash = object.metadata.annotations?.[annotationKeys.lastAppliedSpec] ?? "";
  return { object, specHash };
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A monitor that reports no JSON at all runs with something else than what is wanted.
    return undefined;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
