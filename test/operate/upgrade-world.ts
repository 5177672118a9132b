// A cluster of plain objects in the middle of an upgrade: processes keep their version until they are restarted, sidecars
// change their image when told to, and monitors take over a configuration only with the binary of its version.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { annotationKeys } from "../../src/build/labels.ts";
import { sidecarContainerName } from "../../src/build/normalise.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { StatusProcess, SupportedVersion } from "../../src/model/database-status.ts";
import type { Action } from "../../src/plan/action.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { PlanWorld } from "./plan-world.ts";

export const oldVersion = "7.1.57";
export const newVersion = "7.3.63";

const small: Partial<ClusterSpec> = {
  version: oldVersion,
  processCounts: { storage: 2, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
  minimumUptimeSecondsForBounce: 60,
};

type DisruptiveKill = Extract<Action, { type: "killProcesses" }>;

export class UpgradeWorld extends PlanWorld {
  readonly kills: DisruptiveKill[] = [];
  readonly imageChanges: string[] = [];
  clients: SupportedVersion[] = [];
  /** Whether a sidecar runs its new image as soon as it is told to, and its node tells so. */
  areKubeletsAtOnce = true;

  /** Reconciled at the old version; nothing about the new one has happened yet. */
  constructor(spec: Partial<ClusterSpec> = {}) {
    super({ ...small, ...spec });
    const plan = this.settle();
    assert.ok(plan.isReconciled, JSON.stringify(plan.waits));
    this.keepProcesses();
  }

  /** From here on processes stay as they are, whatever their pods are told. */
  keepProcesses(): void {
    const seen = this.database();
    assert.ok(seen.kind === "seen");
    const processes = structuredClone(seen.status.cluster?.processes ?? {});
    this.statusOverlay = { ...this.statusOverlay, processes };
    this.showClients(this.clients);
  }

  showClients(clients: SupportedVersion[]): void {
    this.clients = clients;
    const overlay = { count: clients.length, supported_versions: clients };
    this.statusOverlay = { ...this.statusOverlay, clients: overlay };
  }

  get processes(): Record<string, StatusProcess> {
    return this.statusOverlay.processes ?? {};
  }

  override apply(action: Action): void {
    if (action.type === "killProcesses") {
      this.kills.push(action);
      return;
    }
    if (action.type !== "updatePodImage") return super.apply(action);
    this.imageChanges.push(`${action.basis.name} ${action.image}`);
    const pod = this.pods.get(action.basis.name);
    assert.ok(pod?.spec);
    const containers = pod.spec.containers.map((container) =>
      container.name === action.container ? { ...container, image: action.image } : container,
    );
    this.pods.set(action.basis.name, { ...pod, spec: { ...pod.spec, containers } });
    if (this.areKubeletsAtOnce) this.restartSidecars(({ metadata }) => metadata === pod.metadata);
  }

  /** Sidecars run the images that their pods name, and their nodes know these by the names that `nameOf` gives. */
  restartSidecars(
    isChosen: (pod: Stored<Pod>) => boolean = () => true,
    nameOf: (image: string) => string = (image) => image,
  ): void {
    for (const pod of [...this.pods.values()].filter(isChosen)) {
      const sidecar = pod.spec?.containers.find(({ name }) => name === sidecarContainerName);
      const { image = "" } = sidecar ?? {};
      const containerStatuses = pod.status?.containerStatuses?.map((status) =>
        status.name === sidecarContainerName
          ? { ...status, image: nameOf(image), imageID: `id of ${image}` }
          : status,
      );
      const status = { ...pod.status, ...(containerStatuses && { containerStatuses }) };
      this.pods.set(pod.metadata.name ?? "", { ...pod, status });
    }
  }

  /** Monitors of prepared pods take over what the ConfigMap says. */
  followConfiguration(isChosen: (pod: Stored<Pod>) => boolean = () => true): void {
    for (const pod of [...this.pods.values()].filter(isChosen)) {
      const processClass = pod.metadata.labels?.["foundationdb.org/fdb-process-class"] ?? "";
      const text = this.configMap?.data?.[`fdbmonitor-conf-${processClass}-json`];
      if (text === undefined || !this.#hasBinary(pod, text)) continue;
      const annotations = {
        ...pod.metadata.annotations,
        [annotationKeys.launcherConfiguration]: text,
      };
      this.pods.set(pod.metadata.name ?? "", {
        ...pod,
        metadata: { ...pod.metadata, annotations },
      });
    }
  }

  #hasBinary(pod: Stored<Pod>, text: string): boolean {
    const { version } = JSON.parse(text) as { version: string };
    return (pod.spec?.containers ?? []).some(
      ({ image }) => image?.endsWith(`:${version}`) === true,
    );
  }

  sidecarImages(): string[] {
    return [...this.pods.values()].map(
      (pod) => pod.spec?.containers.find(({ name }) => name === sidecarContainerName)?.image ?? "",
    );
  }

  /** Passes until everything is prepared; the restart itself is only noted. */
  prepare(passes = 6): Plan {
    let plan = this.pass();
    for (let count = 0; count < passes; count += 1) {
      this.nowMs += 1_000;
      this.followConfiguration();
      plan = this.pass();
    }
    return plan;
  }

  /** Version that the ConfigMap tells monitors to run. */
  announced(): string {
    const text = this.configMap?.data?.["fdbmonitor-conf-storage-json"] ?? "{}";
    return (JSON.parse(text) as { version?: string }).version ?? "";
  }
}

export function client(
  address: string,
  version: string,
  { logGroup = "app", protocol = "fdb00b071010000" } = {},
): SupportedVersion {
  return {
    client_version: version,
    protocol_version: protocol,
    max_protocol_clients: [{ address, log_group: logGroup }],
  };
}
