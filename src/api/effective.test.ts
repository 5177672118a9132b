// Effective defaults, one table a group.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterSpec } from "./cluster-spec.ts";
import {
  automationOf,
  faultDomainOf,
  imageTypeOf,
  labelsOf,
  locksOf,
  logGroupOf,
  needsExplicitListenAddress,
  processSettingsOf,
  routingOf,
  serversPerPod,
} from "./effective.ts";

const spec = (fields: Partial<ClusterSpec> = {}): ClusterSpec => ({ version: "7.3.69", ...fields });

test("[API10] the unified image is used unless split is asked for", () => {
  assert.equal(imageTypeOf(spec()), "unified");
  assert.equal(imageTypeOf(spec({ imageType: "split" })), "split");
});

test("[API11] DNS names are on by default and bring the headless service", () => {
  const standard = {
    publicIpSource: "pod",
    podIpFamily: 0,
    useDnsInClusterFile: true,
    definesDnsLocalityFields: true,
    needsHeadlessService: true,
    dnsDomain: "cluster.local",
  };
  assert.deepEqual(routingOf(spec()), standard);
  const off = { useDNSInClusterFile: false };
  assert.deepEqual(routingOf(spec({ routing: off })), {
    ...standard,
    useDnsInClusterFile: false,
    definesDnsLocalityFields: false,
    needsHeadlessService: false,
  });
  assert.equal(
    routingOf(spec({ routing: { ...off, defineDNSLocalityFields: true } })).needsHeadlessService,
    true,
  );
  const service = routingOf(
    spec({ routing: { ...off, headlessService: true, publicIPSource: "service", podIPFamily: 6 } }),
  );
  assert.deepEqual(
    [service.needsHeadlessService, service.publicIpSource, service.podIpFamily],
    [true, "service", 6],
  );
});

test("[API12] automation has these values when the spec is silent", () => {
  assert.deepEqual(automationOf(spec()), {
    configureDatabase: true,
    killProcesses: true,
    cacheDatabaseStatusForReconciliation: true,
    replacements: {
      enabled: true,
      faultDomainBasedReplacements: false,
      failureDetectionTimeSeconds: 7200,
      taintReplacementTimeSeconds: 1800,
      maxConcurrentReplacements: 1,
      taintReplacementOptions: [],
      maxFaultDomainsWithTaintedProcessGroups: "10%",
      replacementBucket: { enabled: false, storage: 1, log: 1, stateless: 1 },
    },
    ignorePendingPodsMs: 300_000,
    useNonBlockingExcludes: false,
    useLocalitiesForExclusion: true,
    ignoreTerminatingPodsSeconds: 600,
    ignoreMissingProcessesSeconds: 30,
    failedPodDurationSeconds: 300,
    managesDrains: false,
    maxConcurrentReplacements: Infinity,
    deletionMode: "Zone",
    removalMode: "Zone",
    waitBetweenRemovalsSeconds: 60,
    podUpdateStrategy: "ReplaceTransactionSystem",
    volumeSizeChange: "Expand",
    storageEngineChange: "Database",
    podResourcesChange: "InPlace",
    volumeQuarantineMs: 0,
    maintenanceMode: { usesChecker: false, resets: false, timeSeconds: 600 },
    ignoreLogGroupsForUpgrade: ["fdb-kubernetes-operator"],
    synchronizationMode: "local",
    databaseInteractionMode: "fdbcli",
    minimumUptimeSecondsForBounce: 600,
    maxZonesWithUnavailablePods: Infinity,
  });
});

test("[API12] odd values of automation options mean what they always meant", () => {
  const automation = automationOf(
    spec({
      automationOptions: {
        ignorePendingPodsDuration: 60_000_000_000,
        waitBetweenRemovalsSeconds: -5,
        maxConcurrentReplacements: 0,
        maintenanceModeOptions: { UseMaintenanceModeChecker: true },
        synronizationMode: "global",
        ignoreLogGroupsForUpgrade: [],
      },
    }),
  );
  assert.equal(automation.ignorePendingPodsMs, 60_000);
  assert.equal(automation.waitBetweenRemovalsSeconds, 60);
  assert.equal(automation.maxConcurrentReplacements, 0);
  assert.equal(automation.maintenanceMode.resets, true);
  assert.equal(automation.synchronizationMode, "global");
  assert.deepEqual(automation.ignoreLogGroupsForUpgrade, ["fdb-kubernetes-operator"]);
});

test("[API13] labels default to the name of the cluster, also where only one kind is customised", () => {
  const name = { "foundationdb.org/fdb-cluster-name": "sample" };
  const cluster = (labels: ClusterSpec["labels"]) => ({
    metadata: { name: "sample" },
    spec: spec(labels === undefined ? {} : { labels }),
  });
  assert.deepEqual(labelsOf(cluster(undefined)), {
    matchLabels: name,
    resourceLabels: name,
    processGroupIdLabels: ["foundationdb.org/fdb-process-group-id"],
    processClassLabels: ["foundationdb.org/fdb-process-class"],
  });
  const custom = labelsOf(cluster({ matchLabels: { app: "db" }, processClassLabels: ["class"] }));
  assert.deepEqual([custom.matchLabels, custom.resourceLabels], [{ app: "db" }, name]);
  assert.deepEqual(custom.processClassLabels, ["class"]);
  assert.deepEqual(labelsOf(cluster({ matchLabels: {} })).matchLabels, name);
});

test("[API14] the fault domain comes from faultDomain or from the zone locality", () => {
  const base = { value: "", valueFrom: "spec.nodeName", zoneCount: 0, zoneIndex: 0 };
  const host = "kubernetes.io/hostname";
  assert.deepEqual(faultDomainOf(spec()), { key: host, ...base });
  assert.deepEqual(
    faultDomainOf(spec({ faultDomain: { key: "rack", valueFrom: "$RACK", zoneCount: 2 } })),
    { key: "rack", value: "", valueFrom: "$RACK", zoneCount: 2, zoneIndex: 0 },
  );
  const locality = (entry: { value?: string; envValue?: string; topologyKey?: string }) =>
    faultDomainOf(spec({ localities: [{ key: "zone", ...entry }] }));
  assert.deepEqual(locality({ topologyKey: host }), { key: host, ...base });
  assert.deepEqual(locality({ topologyKey: "example.org/rack" }), {
    ...base,
    key: "example.org/rack",
    valueFrom: "$NODE_LABEL_EXAMPLE_ORG_RACK",
  });
  assert.deepEqual(locality({ envValue: "RACK", topologyKey: "example.org/rack" }), {
    ...base,
    key: "example.org/rack",
    valueFrom: "$RACK",
  });
  assert.deepEqual(locality({ value: "z1" }), {
    ...base,
    key: "foundationdb.org/kubernetes-cluster",
    value: "z1",
  });
});

test("[API15] [HALL24] locks are on by default when several instances may share the database", () => {
  const rows: (readonly [boolean, Partial<ClusterSpec>])[] = [
    [false, {}],
    [false, { faultDomain: { zoneCount: 1 } }],
    [true, { faultDomain: { zoneCount: 2 } }],
    [false, { databaseConfiguration: { regions: [{}] } }],
    [false, { databaseConfiguration: { usable_regions: 2 } }],
    [true, { databaseConfiguration: { regions: [{}, {}] } }],
    [true, { databaseConfiguration: { redundancy_mode: "three_data_hall" } }],
    [true, { databaseConfiguration: { redundancy_mode: "three_datacenter_fallback" } }],
    [true, { seedConnectionString: "a:b@1.2.3.4:4501" }],
    [true, { dataHall: "hall-1" }],
    [true, { localities: [{ key: "datacenter", value: "dc1" }] }],
    [false, { localities: [{ key: "dcid", topologyKey: "topology.kubernetes.io/zone" }] }],
    [true, { processes: { log: { customParameters: ["locality_data_hall=one"] } } }],
    [false, { processes: { log: { customParameters: ["locality_data_hall=$HALL"] } } }],
    [true, { automationOptions: { synchronizationMode: "global" } }],
    [false, { dataHall: "hall-1", lockOptions: { disableLocks: true } }],
    [true, { lockOptions: { disableLocks: false } }],
    [
      true,
      { automationOptions: { synchronizationMode: "global" }, lockOptions: { disableLocks: true } },
    ],
  ];
  for (const [isEnabled, fields] of rows) {
    assert.equal(locksOf(spec(fields)).isEnabled, isEnabled, JSON.stringify(fields));
  }
});

test("[API15] lock keys begin with FF 02 unless a prefix is given", () => {
  const standard = locksOf(spec());
  assert.equal(
    Buffer.from(standard.keyPrefix).toString("latin1"),
    "\xff\x02/org.foundationdb.kubernetes-operator",
  );
  assert.equal(standard.durationMinutes, 10);
  const own = locksOf(spec({ lockOptions: { lockKeyPrefix: "mine", denyList: [{ id: "dc1" }] } }));
  assert.equal(Buffer.from(own.keyPrefix).toString(), "mine");
  assert.deepEqual(own.denyList, [{ id: "dc1", allow: false }]);
});

test("[API16] each setting of a class is taken whole from the class or else from general", () => {
  const podTemplate = { spec: { containers: [] } };
  const processes = {
    general: { podTemplate, customParameters: ["a=1"] },
    storage: { customParameters: ["b=2"] },
  };
  assert.deepEqual(processSettingsOf(spec({ processes }), "storage"), {
    podTemplate,
    customParameters: ["b=2"],
  });
  assert.deepEqual(processSettingsOf(spec({ processes }), "log"), processes.general);
  assert.deepEqual(processSettingsOf(spec(), "log"), {});
});

test("[API17] servers per pod, listen address and log group", () => {
  const dense = spec({ storageServersPerPod: 2, logServersPerPod: 0 });
  assert.deepEqual(
    ["storage", "log", "transaction", "stateless"].map((each) => serversPerPod(dense, each)),
    [2, 1, 1, 1],
  );
  assert.equal(needsExplicitListenAddress(spec()), true);
  assert.equal(needsExplicitListenAddress(spec({ useExplicitListenAddress: false })), false);
  assert.equal(
    needsExplicitListenAddress(
      spec({ useExplicitListenAddress: false, routing: { publicIPSource: "service" } }),
    ),
    true,
  );
  const metadata = { name: "sample" };
  assert.equal(logGroupOf({ metadata, spec: spec() }), "sample");
  assert.equal(logGroupOf({ metadata, spec: spec({ logGroup: "other" }) }), "other");
});
