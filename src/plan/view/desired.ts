// What should exist for a cluster: its objects, hashes, configurations and command lines. Everything is derived from the
// resource and a few fields of its status, is made when first asked for, and is kept until one of those inputs changes,
// so that a pass over a cluster at rest builds nothing. Rules: spec/plan.md [P9].
import { createHash } from "node:crypto";
import type {
  ClusterStatus,
  FoundationDBCluster,
  ProcessGroupStatus as ProcessGroup,
} from "../../api/cluster.ts";
import { wantedCounts } from "../../api/wanted-counts.ts";
import { expectedCommandLine } from "../../build/command-line.ts";
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
import type { MonitorTarget } from "../../build/monitor-configuration.ts";
import { mainContainerName, normalCluster } from "../../build/normalise.ts";
import type { NormalCluster } from "../../build/normalise.ts";
import { livePodMetadata } from "../../build/pod-metadata.ts";
import { pod } from "../../build/pod.ts";
import type { BuildProblem } from "../../build/problem.ts";
import { headlessService, processGroupService } from "../../build/service.ts";
import { splitConfiguration } from "../../build/split-configuration.ts";
import { volumeClaim } from "../../build/volume-claim.ts";
import { Memory } from "../../env/memory.ts";
import type { ConfigMap, PersistentVolumeClaim, Pod, Service } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { desiredConfiguration } from "../../model/database-configuration.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";
import type { ProcessCounts } from "../../model/process-counts.ts";
import { podNameOf } from "../../model/process-group-id.ts";
import { hallOf, isPacked } from "../../model/process-group.ts";
import type { MetadataPatch } from "../action.ts";
import { missingMetadata } from "./metadata-check.ts";
import { shapeOfPod } from "./pod-shape.ts";
import { isSameJson } from "./same-json.ts";
import { sidecarImageFor } from "./sidecar-image.ts";

type Substitutions = Readonly<Record<string, string>>;

interface Derived {
  from: readonly unknown[];
  value: unknown;
}

export interface DesiredObject<T> {
  object: T;
  specHash: string;
}

/** Kept by the caller between passes; a fresh one gives the same answers. */
export class PlanMemory extends Memory {
  signature = "";
  desired: Desired | undefined = undefined;
}

type Inputs = Pick<
  ClusterStatus,
  | "runningVersion"
  | "imageTypes"
  | "storageServersPerDisk"
  | "logServersPerDisk"
  | "requiredAddresses"
  | "hasListenIPsForAllPods"
  | "connectionString"
>;

/** `configurationVersion` is the one that monitors are told to run; that of the resource when absent. */
export function desiredFor(
  memory: PlanMemory,
  cluster: FoundationDBCluster,
  status: Inputs,
  configurationVersion = cluster.spec.version,
): Desired {
  const { uid, generation, name, namespace } = cluster.metadata;
  const inputs: Inputs = {
    runningVersion: status.runningVersion,
    imageTypes: status.imageTypes,
    storageServersPerDisk: status.storageServersPerDisk,
    logServersPerDisk: status.logServersPerDisk,
    requiredAddresses: status.requiredAddresses,
    hasListenIPsForAllPods: status.hasListenIPsForAllPods,
    connectionString: status.connectionString,
  };
  const signature = JSON.stringify([
    ...[uid, generation, name, namespace],
    ...[inputs, configurationVersion, cluster.spec.routing, cluster.spec.mainContainer?.enableTls],
  ]);
  if (memory.desired === undefined || memory.signature !== signature) {
    const normal = normalCluster({ ...cluster, status: inputs });
    memory.desired = new Desired(memory, normal, configurationVersion);
    memory.signature = signature;
  }
  return memory.desired;
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
  readonly #podNames = new Map<string, string>();
  readonly #pods = new Map<string, DesiredObject<Stored<Pod>> | BuildProblem>();
  readonly #pvcs = new Map<string, DesiredObject<Stored<PersistentVolumeClaim>> | undefined>();
  readonly #services = new Map<string, Stored<Service> | undefined>();
  readonly #derived = new WeakMap<object, Map<string, Derived>>();
  readonly #texts = new Map<string, string>();
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

  /** What follows from a live object and the values given with it; made again when one of those is another one. */
  derived<V>(live: object, what: string, from: readonly unknown[], make: () => V): V {
    let known = this.#derived.get(live);
    if (known === undefined) this.#derived.set(live, (known = new Map()));
    const found = known.get(what);
    if (found !== undefined && found.from.every((value, index) => value === from[index])) {
      return found.value as V;
    }
    const value = make();
    known.set(what, { from, value });
    return value;
  }

  get configuredVersion(): string {
    return this.#configured.spec.version;
  }

  podName(group: ProcessGroup): string {
    return remembered(this.#podNames, group.processGroupID, () =>
      podNameOf(this.cluster.metadata.name ?? "", group.processClass, group.processGroupID),
    );
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
    const [id, hall] = [group.processGroupID, hallOf(group)];
    return remembered(this.#pods, hall === "" ? id : `${id}/${hall}`, () => {
      const built = pod(this.cluster, group);
      return built.ok ? hashed(built.value as Stored<Pod>) : built.problem;
    });
  }

  /** Undefined for classes that keep no data. */
  pvc(group: ProcessGroup): DesiredObject<Stored<PersistentVolumeClaim>> | undefined {
    return remembered(this.#pvcs, group.processGroupID, () => {
      const claim = volumeClaim(this.cluster, group);
      return claim === undefined ? undefined : hashed(claim as Stored<PersistentVolumeClaim>);
    });
  }

  /** Undefined unless processes announce the address of a service. */
  service(group: ProcessGroup): Stored<Service> | undefined {
    return remembered(
      this.#services,
      group.processGroupID,
      () => processGroupService(this.cluster, group) as Stored<Service> | undefined,
    );
  }

  /** What a live pod's metadata lacks. */
  podMetadataPatch(group: ProcessGroup, live: Stored<Pod>): MetadataPatch | undefined {
    return this.derived(live, "patch", [], () =>
      missingMetadata(live.metadata, livePodMetadata(this.cluster, group, live)),
    );
  }

  /** What a live volume claim's metadata lacks. */
  claimMetadataPatch(
    group: ProcessGroup,
    live: Stored<PersistentVolumeClaim>,
  ): MetadataPatch | undefined {
    return this.derived(live, "patch", [], () => this.#claimPatch(group, live));
  }

  #claimPatch(group: ProcessGroup, live: Stored<PersistentVolumeClaim>): MetadataPatch | undefined {
    const { labels = {}, annotations = {} } = this.pvc(group)?.object.metadata ?? {};
    const { [annotationKeys.lastAppliedSpec]: note, ...others } = annotations;
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
    return this.derived(live, "sidecarImage", [processClass, version], () => {
      const { cluster } = this;
      const versioned = { ...cluster, spec: { ...cluster.spec, version } };
      return sidecarImageFor(this, versioned, processClass, live);
    });
  }

  /** The hash of the entries of the ConfigMap that this pod reads. */
  configHash(group: ProcessGroup, live: Stored<Pod>): string {
    const { processClass } = group;
    return this.derived(live, "configHash", [processClass, isPacked(group)], () => {
      const { imageType, servers } = shapeOfPod(this, live);
      const variant = confVariant(this.cluster.spec, isPacked(group));
      const key = `hash/${processClass}/${imageType}/${servers}/${variant}`;
      return remembered(this.#texts, key, () =>
        dynamicConfHash(this.configMap.data ?? {}, processClass, imageType, servers, variant),
      );
    });
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
    const from = [group.processClass, isPacked(group), text];
    return this.derived(live, "isCurrent", from, () => this.#runsWith(group, live, text));
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
    return this.derived(live, "fileHashes", [from], () => {
      const { imageType: _, ...target } = targetOf(this, group, live);
      return {
        "fdb.cluster": sha256(this.configMap.data?.[clusterFileKey] ?? ""),
        "fdbmonitor.conf": sha256(splitConfiguration(this.cluster, target, from)),
      };
    });
  }

  /** The command line that the n-th process of the pod should show. */
  commandLine(
    group: ProcessGroup,
    live: Stored<Pod>,
    processNumber: number,
    from: Substitutions,
  ): string {
    const lines = this.derived(live, "commandLines", [from], (): string[] => []);
    lines[processNumber] ??= expectedCommandLine(
      this.cluster,
      targetOf(this, group, live),
      processNumber,
      from,
    );
    return lines[processNumber];
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

function remembered<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const found = known.get(key);
  if (found !== undefined || known.has(key)) return found as V;
  const value = make();
  known.set(key, value);
  return value;
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
