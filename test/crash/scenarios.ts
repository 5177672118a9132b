// The changes of a cluster and of backups at whose every write the operator is crashed, each as small as it can be and
// still need every kind of write. Rules: spec/crash.md.
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { networkPolicies, nodes } from "../../src/kube/resource.ts";
import { createCertificates, renewCertificates } from "../../src/sim/sample-certificates.ts";
import { groups } from "../world/removal-harness.ts";
import { loseAllButDisks, nameLabel } from "../world/adoption-harness.ts";
import { backupScenarios } from "./backup-scenarios.ts";
import { knobs } from "../world/restart-harness.ts";
import { minuteMs, securedProcesses } from "../world/world-harness.ts";
import type { TestWorld } from "../world/world-harness.ts";

export interface Scenario {
  name: string;
  /** The cluster before the change. */
  spec: Partial<ClusterSpec>;
  /** Whether the cluster is there, and at rest, when the writes begin to count. */
  startsWithCluster: boolean;
  change: (world: TestWorld, spec: Partial<ClusterSpec>) => Promise<unknown>;
  seed?: number;
  /** What is there besides the cluster when the writes begin to count. */
  prepare?: (world: TestWorld) => Promise<void>;
  /** How long after the change the end is looked at; without it as soon as the cluster is settled. */
  endsAfterMs?: number;
  /** Restarts in place that the change takes: none where new pods bring it about. */
  restarts: number;
  /** That commits stand still is what is asked for. */
  isStopWanted?: boolean;
  /** The version before knows nothing of such a wish. */
  isUnknownBefore?: boolean;
  /** How often a database is created, one time where nothing is said. */
  creations?: number;
}

/** With locks, so that what the operator writes into the database is counted and crashed at, too. */
const base: Partial<ClusterSpec> = {
  version: "7.3.63",
  databaseConfiguration: { redundancy_mode: "double" },
  lockOptions: { disableLocks: false },
  minimumUptimeSecondsForBounce: 20,
  automationOptions: { waitBetweenRemovalsSeconds: 0 },
};

const five = { ...base, processCounts: { storage: 2, log: 2, stateless: 1 } };
const seven = { ...base, processCounts: { storage: 3, log: 3, stateless: 1 } };
const three: Partial<ClusterSpec> = {
  ...base,
  databaseConfiguration: { redundancy_mode: "single" },
  processCounts: { storage: 1, log: 1, stateless: 1 },
};

const clusterScenarios: readonly Scenario[] = [
  {
    name: "create",
    spec: five,
    startsWithCluster: false,
    change: (world, spec) => world.createCluster(spec),
    restarts: 0,
  },
  {
    name: "scale-down",
    spec: seven,
    startsWithCluster: true,
    change: (world) => world.changeSpec({ processCounts: five.processCounts }),
    restarts: 0,
  },
  {
    name: "knob",
    spec: three,
    startsWithCluster: true,
    change: (world) => world.changeSpec(knobs("knob_min_trace_severity=5")),
    restarts: 1,
  },
  {
    name: "knob-in-window",
    isUnknownBefore: true,
    spec: {
      ...three,
      automationOptions: {
        ...base.automationOptions,
        maintenanceWindows: [{ cron: "*/20 * * * *", duration: "10m" }],
      },
    },
    startsWithCluster: true,
    change: (world) => world.changeSpec(knobs("knob_min_trace_severity=5")),
    restarts: 1,
  },
  {
    name: "replace",
    spec: { ...seven, processCounts: { storage: 3, log: 2, stateless: 1 } },
    startsWithCluster: true,
    change: async (world) => {
      const [first] = await groups(world, "storage");
      return world.changeSpec({ processGroupsToRemove: [first?.processGroupID ?? ""] });
    },
    restarts: 0,
  },
  {
    name: "quarantine",
    isUnknownBefore: true,
    spec: {
      ...seven,
      processCounts: { storage: 3, log: 2, stateless: 1 },
      automationOptions: { ...base.automationOptions, volumeQuarantine: "1m" },
    },
    startsWithCluster: true,
    change: async (world) => {
      const [first] = await groups(world, "storage");
      return world.changeSpec({ processGroupsToRemove: [first?.processGroupID ?? ""] });
    },
    // Long enough for the volume to be set aside and deleted.
    endsAfterMs: 600_000,
    restarts: 0,
  },
  {
    name: "adopt",
    isUnknownBefore: true,
    spec: five,
    startsWithCluster: true,
    prepare: loseAllButDisks,
    change: async (world, spec) => {
      const volumes = { matchLabels: { [nameLabel]: "sample" } };
      const [database] = world.world.fdb.truth.databases();
      const { connectionString: seedConnectionString = "" } = database ?? {};
      await world.createCluster({ ...spec, adopt: { volumes }, seedConnectionString });
    },
    restarts: 0,
  },
  {
    name: "adopt-without-string",
    isUnknownBefore: true,
    spec: five,
    startsWithCluster: true,
    prepare: loseAllButDisks,
    change: (world, spec) =>
      world.createCluster({
        ...spec,
        adopt: { volumes: { matchLabels: { [nameLabel]: "sample" } } },
      }),
    restarts: 0,
  },
  {
    name: "storage-engine",
    isUnknownBefore: true,
    spec: { ...seven, processCounts: { storage: 3, log: 2, stateless: 1 } },
    startsWithCluster: true,
    change: (world) =>
      world.changeSpec({
        databaseConfiguration: {
          storage_engine: "ssd-redwood-1",
          storage_migration_type: "gradual",
          perpetual_storage_wiggle: 1,
        },
      }),
    restarts: 0,
  },
  {
    name: "larger-volumes",
    spec: seven,
    startsWithCluster: true,
    change: (world) => {
      const resources = { requests: { storage: "256G" } };
      const general = { volumeClaimTemplate: { spec: { resources } } };
      return world.changeSpec({ processes: { general } });
    },
    restarts: 0,
  },
  {
    name: "other-resources",
    spec: five,
    startsWithCluster: true,
    change: (world) => {
      const resources = { requests: { cpu: "100m", memory: "128Mi" } };
      const containers = [{ name: "foundationdb", resources }];
      const general = { podTemplate: { spec: { containers } } };
      return world.changeSpec({ processes: { general } });
    },
    restarts: 0,
  },
  {
    name: "drain",
    isUnknownBefore: true,
    spec: {
      ...seven,
      automationOptions: { ...seven.automationOptions, drains: { enabled: true } },
    },
    startsWithCluster: true,
    change: async (world) => {
      const [pod] = await world.pods("storage");
      const annotations = { "foundationdb.org/drain": "true" };
      const change = { metadata: { annotations }, spec: { unschedulable: true } };
      const { nodeName: name = "" } = pod?.spec ?? {};
      return world.client.patch(nodes, { name }, change, { type: "merge" });
    },
    restarts: 0,
  },
  {
    name: "network-policy",
    isUnknownBefore: true,
    spec: { ...three, networkPolicy: { enabled: true } },
    startsWithCluster: false,
    // It is made with the cluster, deleted by hand, made anew with somebody more, and then with somebody else.
    change: async (world, spec) => {
      const named = (cidr: string) => ({ networkPolicy: { clients: [{ ipBlock: { cidr } }] } });
      await world.createCluster(spec);
      await world.clock.advance(2 * minuteMs);
      // An operator that died early has not made it yet.
      const policy = { namespace: "default", name: "sample" };
      const isMade = (await world.client.find(networkPolicies, policy)) !== undefined;
      if (isMade) await world.client.delete(networkPolicies, policy);
      await world.changeSpec(named("10.77.0.0/24"));
      await world.clock.advance(10_000);
      await world.changeSpec(named("10.78.0.0/24"));
    },
    restarts: 0,
  },
  {
    name: "certificate-ends",
    isUnknownBefore: true,
    spec: { ...three, mainContainer: { enableTls: true }, processes: securedProcesses },
    startsWithCluster: false,
    change: async (world, spec) => {
      const notBeforeMs = world.clock.nowMs();
      await createCertificates(world.client, "default");
      const notAfterMs = notBeforeMs + 10 * 24 * 3_600_000;
      await renewCertificates(world.client, "default", { notBeforeMs, notAfterMs });
      await world.createCluster(spec);
    },
    restarts: 0,
  },
  {
    name: "sleep",
    isUnknownBefore: true,
    spec: five,
    startsWithCluster: true,
    change: (world) => {
      const wake = (): void => void world.changeSpec({ hibernate: false });
      world.clock.setTimer(3 * minuteMs, wake);
      return world.changeSpec({ hibernate: true });
    },
    endsAfterMs: 7 * minuteMs,
    restarts: 0,
    isStopWanted: true,
  },
  {
    name: "fence",
    isUnknownBefore: true,
    spec: seven,
    startsWithCluster: true,
    change: async (world) => {
      const [first] = await groups(world, "storage");
      world.clock.setTimer(3 * minuteMs, () => void world.changeSpec({ fence: null }));
      return world.changeSpec({ fence: [first?.processGroupID ?? ""] });
    },
    endsAfterMs: 8 * minuteMs,
    restarts: 0,
  },
  {
    name: "patch-upgrade",
    spec: five,
    startsWithCluster: true,
    change: (world) => world.changeSpec({ version: "7.3.79" }),
    restarts: 0,
  },
  {
    name: "incompatible-upgrade",
    spec: { ...five, version: "7.1.57" },
    startsWithCluster: true,
    change: (world) => world.changeSpec({ version: "7.3.63" }),
    restarts: 1,
  },
];

export const scenarios: readonly Scenario[] = [...clusterScenarios, ...backupScenarios(three)];

/** The same changes under other circumstances. */
export function variant(
  scenario: Scenario,
  { seed, spec }: { seed: number; spec: Partial<ClusterSpec> },
): Scenario {
  return { ...scenario, seed, spec: { ...scenario.spec, ...spec } };
}
