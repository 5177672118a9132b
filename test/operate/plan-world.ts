// A world of plain objects for tests of the plan: it applies actions at once, lets pods run when told to, and shows a
// database whose processes run with what their pods were given.
import { safetyChecks } from "../../src/plan/safety/checks.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import { renderArgument } from "../../src/build/command-line.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import type { MonitorConfiguration } from "../../src/build/monitor-configuration.ts";
import type {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../../src/kube/generated/types.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { formatTime } from "../../src/kube/time.ts";
import type {
  DatabaseStatus,
  StatusConfiguration,
  StatusProcess,
} from "../../src/model/database-status.ts";
import type { Action, MetadataPatch } from "../../src/plan/action.ts";
import { planCluster } from "../../src/plan/chain.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { ClusterFacts } from "../../src/plan/facts.ts";
import { withSpecInForce } from "../../src/plan/status/spec-in-force.ts";
import { PlanMemory } from "../../src/plan/view/plan-memory.ts";
import { shapeOfPod } from "../../src/plan/view/pod-shape.ts";
import { defaultPlanOptions, nothingRemembered } from "../../src/plan/snapshot.ts";
import type { DatabaseObservation, SidecarObservation, Snapshot } from "../../src/plan/snapshot.ts";
import type { NewWait } from "../../src/plan/wait.ts";

export const startMs = Date.UTC(2026, 0, 1);

export class PlanWorld {
  cluster: FoundationDBCluster;
  readonly pods = new Map<string, Stored<Pod>>();
  readonly pvcs = new Map<string, Stored<PersistentVolumeClaim>>();
  readonly services = new Map<string, Stored<Service>>();
  readonly sidecars = new Map<string, SidecarObservation>();
  configMap: Stored<ConfigMap> | undefined;
  /** Undefined while there is no database; set by a `configure`. */
  configuration: StatusConfiguration | undefined;
  isDatabaseReachable = true;
  /** Merged over the status that the world makes up. */
  statusOverlay: Partial<NonNullable<DatabaseStatus["cluster"]>> = {};
  nowMs = startMs;
  seed = 1;
  memory: PlanMemory = new PlanMemory();
  waits: readonly NewWait[] = [];
  facts: ClusterFacts = {};
  readonly commands: string[] = [];
  #version = 1;

  constructor(spec: Partial<ClusterSpec> = {}, name = "sample") {
    this.cluster = {
      apiVersion: "apps.foundationdb.org/v1beta2",
      kind: "FoundationDBCluster",
      metadata: { name, namespace: "default", uid: "cluster-uid", generation: 1 },
      spec: { version: "7.3.79", ...spec },
    };
  }

  snapshot(overrides: Partial<Snapshot> = {}): Snapshot {
    return withSpecInForce({
      nowMs: this.nowMs,
      cluster: this.cluster,
      pods: this.pods,
      pvcs: this.pvcs,
      services: this.services,
      configMap: this.configMap,
      database: this.database(),
      sidecars: this.sidecars,
      ...nothingRemembered,
      watchedSinceMs: startMs - 3_600_000,
      heardSinceMs: startMs - 3_600_000,
      facts: this.facts,
      seed: this.seed,
      options: defaultPlanOptions,
      checks: safetyChecks,
      memory: this.memory,
      ...overrides,
    });
  }

  plan(overrides: Partial<Snapshot> = {}): Plan {
    return planCluster(this.snapshot(overrides));
  }

  /** One pass: the status is stored and all actions are applied. */
  pass(): Plan {
    const plan = this.plan();
    this.cluster = { ...this.cluster, status: plan.status };
    this.waits = plan.waits;
    this.facts = plan.facts;
    for (const action of plan.actions) this.apply(action);
    return plan;
  }

  /** Passes until nothing is done any more, time and pods going on in between. */
  settle(passes = 12): Plan {
    let plan = this.pass();
    for (let count = 0; count < passes; count += 1) {
      this.nowMs += 2_000;
      this.runPods();
      plan = this.pass();
    }
    return plan;
  }

  changeSpec(change: Partial<ClusterSpec>): void {
    const generation = (this.cluster.metadata.generation ?? 0) + 1;
    this.cluster = {
      ...this.cluster,
      metadata: { ...this.cluster.metadata, generation },
      spec: { ...this.cluster.spec, ...change },
    };
  }

  apply(action: Action): void {
    switch (action.type) {
      case "createConfigMap":
      case "updateConfigMap":
        this.configMap = this.#stored(action.object);
        return;
      case "createService":
      case "updateService":
        this.services.set(action.object.metadata.name ?? "", this.#serviceWithIp(action.object));
        return;
      case "createPvc":
        return this.#create(this.pvcs, action.object);
      case "createPod":
        return this.#create(this.pods, action.object);
      case "patchPod":
        return this.#patch(this.pods, action.basis.name, action.patch);
      case "patchPvc":
        return this.#patch(this.pvcs, action.basis.name, action.patch);
      case "deletePods":
        for (const { basis } of action.pods) this.pods.delete(basis.name);
        return;
      case "configureDatabase":
        this.commands.push(action.arguments);
        this.configuration = parseConfigure(action.arguments);
        return;
      case "copyToPod":
        this.commands.push(`copy ${action.podName}`);
    }
  }

  /** Every pod gets a node and an address, runs, and its monitor takes over the ConfigMap. */
  runPods(isChosen: (pod: Stored<Pod>) => boolean = () => true): void {
    for (const pod of [...this.pods.values()].filter(isChosen)) {
      const number = Number((pod.metadata.name ?? "").split("-").at(-1));
      const nodeName = pod.spec?.nodeName ?? `node-${number}`;
      const podIP = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
      const containers = pod.spec?.containers ?? [];
      const running: Stored<Pod> = {
        ...pod,
        spec: { ...pod.spec, containers, nodeName },
        status: {
          phase: "Running",
          podIP,
          podIPs: [{ ip: podIP }],
          containerStatuses: containers.map(({ name, image = "" }) => ({
            name,
            ready: true,
            restartCount: 0,
            image,
            imageID: `id of ${image}`,
          })),
        },
      };
      this.pods.set(pod.metadata.name ?? "", this.#withMonitor(running));
    }
  }

  database(): DatabaseObservation {
    const connectionString = this.cluster.status?.connectionString ?? "";
    if (connectionString === "" || !this.isDatabaseReachable) {
      const reason = connectionString === "" ? "NoConnectionString" : "Unreachable";
      return { kind: "missing", reason, message: "nobody answers", sinceMs: this.nowMs };
    }
    return { kind: "seen", observedMs: this.nowMs, status: this.#status(connectionString) };
  }

  #status(connectionString: string): DatabaseStatus {
    const processes = this.#processes();
    const isCreated = this.configuration !== undefined;
    return {
      client: {
        coordinators: {
          quorum_reachable: Object.keys(processes).length > 0,
          coordinators: (connectionString.split("@")[1] ?? "")
            .split(",")
            .map((address) => ({ address, reachable: true })),
        },
        database_status: { available: isCreated, healthy: isCreated },
      },
      cluster: {
        connection_string: connectionString,
        processes,
        full_replication: isCreated,
        layers: isCreated ? { _valid: true } : { _valid: false, _error: "configurationMissing" },
        recovery_state: {
          name: isCreated ? "fully_recovered" : "configuration_never_created",
          active_generations: 1,
          seconds_since_last_recovered: 1000,
        },
        ...(isCreated
          ? {
              configuration: this.configuration,
              data: { state: { name: "healthy", healthy: true } },
            }
          : {}),
        // What is derived from a status is remembered by its identity, and tests edit the overlay in place.
        ...structuredClone(this.statusOverlay),
      },
    };
  }

  /** A process runs when its pod runs with a configuration that starts servers. */
  #processes(): Record<string, StatusProcess> {
    const processes: Record<string, StatusProcess> = {};
    for (const pod of this.pods.values()) {
      const annotations = pod.metadata.annotations ?? {};
      const text = annotations[annotationKeys.launcherConfiguration];
      if (text === undefined || pod.status?.phase !== "Running") continue;
      const configuration = JSON.parse(text) as MonitorConfiguration;
      if (configuration.runServers === false) continue;
      const environment = JSON.parse(annotations[annotationKeys.launcherEnvironment] ?? "{}");
      const name = pod.metadata.name ?? "";
      for (let number = 1; number <= shapeOfPod(this, pod).servers; number += 1) {
        const commandLine = [
          "/usr/bin/fdbserver",
          ...configuration.arguments.map((one) => renderArgument(one, number, environment)),
        ].join(" ");
        const key = number === 1 ? name : `${name}-${number}`;
        processes[key] = processOf(commandLine, configuration.version);
      }
    }
    return processes;
  }

  #withMonitor(pod: Stored<Pod>): Stored<Pod> {
    const processClass = pod.metadata.labels?.["foundationdb.org/fdb-process-class"] ?? "";
    const text = this.configMap?.data?.[`fdbmonitor-conf-${processClass}-json`];
    if (text === undefined) return pod;
    const environment: Record<string, string> = { BINARY_DIR: "/usr/bin" };
    for (const { name, value, valueFrom } of pod.spec?.containers[0]?.env ?? []) {
      const path = valueFrom?.fieldRef?.fieldPath;
      environment[name] = value ?? fieldOf(pod, path ?? "");
    }
    const annotations = {
      ...pod.metadata.annotations,
      [annotationKeys.launcherConfiguration]: text,
      [annotationKeys.launcherEnvironment]: JSON.stringify(environment),
    };
    return { ...pod, metadata: { ...pod.metadata, annotations } };
  }

  #serviceWithIp(service: Stored<Service>): Stored<Service> {
    const clusterIP = service.spec?.clusterIP ?? `10.96.0.${this.services.size + 1}`;
    return this.#stored({ ...service, spec: { ...service.spec, clusterIP } });
  }

  #create<T extends KubeObject>(map: Map<string, T>, object: T): void {
    const name = object.metadata.name ?? "";
    if (map.has(name)) throw new Error(`${name} exists already`);
    map.set(name, this.#stored(object));
  }

  #patch<T extends KubeObject>(map: Map<string, T>, name: string, patch: MetadataPatch): void {
    const object = map.get(name);
    if (object === undefined) throw new Error(`there is no ${name}`);
    const merge = (
      base: Record<string, string> | undefined,
      over: MetadataPatch["labels"],
    ): Record<string, string> =>
      Object.fromEntries(
        Object.entries({ ...base, ...over }).filter((entry) => entry[1] !== null),
      ) as Record<string, string>;
    const { labels, annotations } = object.metadata;
    const metadata = {
      ...object.metadata,
      labels: merge(labels, patch.labels),
      annotations: merge(annotations, patch.annotations),
    };
    map.set(name, this.#stored({ ...object, metadata }));
  }

  #stored<T extends KubeObject>(object: T): T {
    this.#version += 1;
    const { uid, creationTimestamp } = object.metadata;
    const metadata = {
      ...object.metadata,
      uid: uid ?? `uid-${this.#version}`,
      resourceVersion: String(this.#version),
      creationTimestamp: creationTimestamp ?? formatTime(this.nowMs),
    };
    return { ...object, metadata };
  }
}

function fieldOf(pod: Stored<Pod>, path: string): string {
  const annotation = /^metadata\.annotations\['(.*)'\]$/.exec(path)?.[1];
  if (annotation !== undefined) return pod.metadata.annotations?.[annotation] ?? "";
  const values: Record<string, string | undefined> = {
    "metadata.name": pod.metadata.name,
    "metadata.namespace": pod.metadata.namespace,
    "spec.nodeName": pod.spec?.nodeName,
    "status.podIP": pod.status?.podIP,
    "status.podIPs": pod.status?.podIP,
  };
  return values[path] ?? "";
}

function processOf(commandLine: string, version: string): StatusProcess {
  const locality: Record<string, string> = {};
  for (const [, key, value] of commandLine.matchAll(/--locality_(\w+)=(\S+)/g)) {
    locality[key ?? ""] = value ?? "";
  }
  const processClass = /--class=(\S+)/.exec(commandLine)?.[1] ?? "";
  return {
    address: (/--public_address=(\S+)/.exec(commandLine)?.[1] ?? "").replace(/[[\]]/g, ""),
    class_type: processClass,
    command_line: commandLine,
    version,
    locality,
    excluded: false,
    uptime_seconds: 100,
    messages: [],
    // Without any role a status would count as incomplete.
    roles: processClass === "stateless" ? [{ role: "grv_proxy" }] : [],
  };
}

function parseConfigure(text: string): StatusConfiguration {
  const configuration: StatusConfiguration = {};
  const words = text.replace(/^new /, "").split(" ");
  [configuration.redundancy_mode, configuration.storage_engine] = words;
  for (const word of words.slice(2)) {
    const [key = "", value = ""] = word.split("=");
    if (key !== "regions") configuration[key] = Number(value);
  }
  return configuration;
}
