// What is wrong with a cluster, and how far exclusions are.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { analyse } from "./analysis.ts";
import {
  chooseCoordinators,
  livingCoordinators,
  movedCoordinators,
  withCoordinators,
} from "./coordinator-addresses.ts";
import { folderOf } from "./coordination-state.ts";
import { leavingOf, progressOf } from "./exclusions.ts";
import { oneRegionOf } from "./recover.ts";

const nowMs = Date.parse("2026-01-01T01:00:00Z");

const cluster: FoundationDBCluster = {
  apiVersion: "apps.foundationdb.org/v1beta2",
  kind: "FoundationDBCluster",
  metadata: { name: "sample", namespace: "default", generation: 2 },
  spec: { version: "7.3.63", databaseConfiguration: { redundancy_mode: "double" } },
  status: {
    connectionString: "sample:abc@10.0.0.1:4501,10.0.0.2:4501,10.9.9.9:4501",
    generations: { reconciled: 2 },
    health: { available: true, healthy: true, fullReplication: true },
    processGroups: [
      {
        processGroupID: "storage-1",
        processClass: "storage",
        faultDomain: "a",
        addresses: ["10.0.0.1"],
      },
      {
        processGroupID: "storage-2",
        processClass: "storage",
        faultDomain: "b",
        addresses: ["10.0.0.2", "10.0.0.7"],
        processGroupConditions: [{ type: "MissingProcesses", timestamp: 0 }],
      },
      {
        processGroupID: "storage-3",
        processClass: "storage",
        removalTimestamp: "2026-01-01T00:00:00Z",
      },
    ],
  },
};

const pod = (name: string, podIP: string, more: Partial<Pod["metadata"]> = {}): Stored<Pod> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...more },
  spec: { containers: [] },
  status: { phase: "Running", podIP },
});

const options = { ignoreConditions: [], ignoreRemovals: true, nowMs };

test("[FENCE5] a fenced one is told, and not fixed", () => {
  const processGroups = (cluster.status?.processGroups ?? []).map((group) => ({
    ...group,
    processGroupConditions: [
      ...(group.processGroupConditions ?? []),
      { type: "Fenced" as const, timestamp: 0 },
    ],
  }));
  const fenced = { ...cluster, status: { ...cluster.status, processGroups } };
  const { findings, replaceable } = analyse(fenced, [], options);
  assert.deepEqual(replaceable, []);
  assert.ok(findings.some(({ text }) => text.includes("has the condition Fenced")));
});

test("[PL66] [PL67] findings, and what could be removed", () => {
  const pods = [
    pod("sample-storage-1", "10.0.0.5", { deletionTimestamp: "2026-01-01T00:50:00Z" }),
    pod("sample-storage-2", "10.0.0.7"),
    pod("sample-log-9", "10.0.0.8"),
  ];
  const { findings, replaceable } = analyse(cluster, pods, options);
  const texts = findings.map(({ level, text }) => `${level}: ${text}`);
  assert.deepEqual(texts, [
    "good: The database is available",
    "good: All data has all its copies",
    "good: The cluster is as its spec says",
    "error: Process group storage-2 has the condition MissingProcesses since 1970-01-01T00:00:00.000Z",
    "warning: 1 process groups are being removed",
    "error: Pod sample-storage-1 is terminating since 2026-01-01T00:50:00Z",
    "error: Pod sample-log-9 belongs to no process group of the status",
    "warning: storage: 2 fault domains, 2 process groups",
  ]);
  assert.deepEqual(replaceable, ["storage-1", "storage-2"]);
  const ignored = analyse(cluster, [], { ...options, ignoreConditions: ["MissingProcesses"] });
  assert.deepEqual(ignored.replaceable, []);
});

test("[PL65] what is left on excluded processes, and for how long", () => {
  const status = (bytes: number) => ({
    cluster: {
      processes: {
        a: {
          excluded: true,
          locality: { instance_id: "storage-1" },
          roles: [{ role: "storage", stored_bytes: bytes }, { role: "grv_proxy" }],
        },
        b: { roles: [{ role: "storage", stored_bytes: 7 }] },
      },
    },
  });
  const first = progressOf(leavingOf(status(1000), true), [], 60_000);
  const known = { id: "storage-1", role: "storage", firstBytes: 1000 };
  assert.deepEqual(first, [{ ...known, storedBytes: 1000, leftMs: undefined }]);
  const second = progressOf(leavingOf(status(400), true), first, 60_000);
  assert.deepEqual(second, [{ ...known, storedBytes: 400, leftMs: 40_000 }]);
  assert.deepEqual(leavingOf(status(0), true), []);
  assert.equal(leavingOf(status(0), false).length, 1);
});

test("[PL70] coordinators follow their process groups; others stay", () => {
  const pods = [pod("sample-storage-1", "10.0.0.5")];
  const moved = movedCoordinators(cluster, pods);
  assert.deepEqual(moved, {
    ok: true,
    value: {
      connectionString: "sample:abc@10.0.0.5:4501,10.0.0.7:4501,10.9.9.9:4501",
      moves: [
        { from: "10.0.0.1:4501", to: "10.0.0.5:4501", id: "storage-1" },
        { from: "10.0.0.2:4501", to: "10.0.0.7:4501", id: "storage-2" },
      ],
      unknown: ["10.9.9.9:4501"],
    },
  });
  const named = { ...cluster, status: { connectionString: "a:b@host.example:4501" } };
  const names = movedCoordinators(named, []);
  assert.deepEqual(names.ok ? names.value.moves : names, []);
});

test("[PL70] an address that two process groups have had is refused", () => {
  const shared = (cluster.status?.processGroups ?? []).map((group) => ({
    ...group,
    addresses: ["10.0.0.1", ...(group.addresses ?? [])],
  }));
  const unclear = { ...cluster, status: { ...cluster.status, processGroups: shared } };
  const moved = movedCoordinators(unclear, []);
  assert.match(moved.ok ? "" : moved.error, /^10\.0\.0\.1 was the address of \S+ and of /);
});

test("[PL73] only the coordinators of the present connection string live, by address or by name", () => {
  const running = [
    pod("sample-log-1", "10.0.0.1"),
    pod("sample-log-2", "10.0.0.8"),
    pod("sample-log-3", "10.0.0.9"),
  ];
  const unknown = { ...cluster, status: { ...cluster.status, processGroups: [] } };
  const living = livingCoordinators(
    unknown,
    ["10.0.0.1:4501", "sample-log-3.sample.default.svc.cluster.local:4503", "10.9.9.9:4501"],
    running,
  );
  assert.deepEqual(
    living.map(({ pod: { metadata }, server }) => [metadata.name, server]),
    [
      ["sample-log-1", 1],
      ["sample-log-3", 2],
    ],
  );
});

test("[PL73] [PL77] an address that another process group has had makes nobody a coordinator", () => {
  const group = (number: number, address: string) => ({
    ...{ processClass: "log", processGroupID: `log-${number}`, addresses: [address] },
  });
  const processGroups = [group(1, "10.0.0.1"), group(2, "10.0.0.2")];
  const moved = { ...cluster, status: { ...cluster.status, processGroups } };
  const namesOf = (address: string) =>
    livingCoordinators(moved, ["10.0.0.1:4501"], [pod("sample-log-2", address)]);
  // The second pod got the address of the first, and may have been a coordinator long ago.
  assert.deepEqual(namesOf("10.0.0.1"), []);
  const own = livingCoordinators(moved, ["10.0.0.2:4501"], [pod("sample-log-2", "10.0.0.2")]);
  assert.equal(own.length, 1);
});

test("[PL73] [PL77] of several servers of a pod the coordinator's own state counts, and it stays the coordinator", () => {
  const paths = [1, 2].map((number) => `/var/fdb/data/${number}/coordination-0.fdq`);
  assert.equal(folderOf("a", paths, 2), "/var/fdb/data/2");
  assert.equal(folderOf("a", paths, 1), "/var/fdb/data/1");
  assert.equal(folderOf("a", paths, 3), undefined);
  assert.equal(folderOf("a", [""], 1), undefined);
  const root = "/var/fdb/data/coordination-0.fdq";
  assert.equal(folderOf("a", [root], 1), "/var/fdb/data");
  assert.throws(() => folderOf("a", [root, ...paths], 1), /nobody can tell which/);
  const connection = { description: "a", generationId: "b", coordinators: ["10.0.0.1:4502:tls"] };
  const chosen = ["a", "b"].map((name) => ({ pod: name, address: `10.0.0.${name}` }));
  const text = withCoordinators(connection, chosen, [{ pod: "b", server: 2 }]);
  assert.equal(text.split("@")[1], "10.0.0.a:4500:tls,10.0.0.b:4502:tls");
});

test("[PL75] survivors stay coordinators, others come from zones of their own, and one region is left", () => {
  const candidate = (id: string, zone: string) => ({ id, pod: id, address: id, zone });
  const all = [candidate("a", "1"), candidate("b", "1"), candidate("c", "2"), candidate("d", "2")];
  const chosen = chooseCoordinators(cluster, all, ["b"]).map(({ id }) => id);
  assert.deepEqual(chosen, ["b", "c", "a"]);
  const spec = { ...cluster.spec, seedConnectionString: "a:b@1.1.1.1:4501" };
  const { databaseConfiguration, seedConnectionString } = oneRegionOf(spec, "dc2");
  assert.equal(seedConnectionString, undefined);
  assert.deepEqual(databaseConfiguration?.regions, [{ datacenters: [{ id: "dc2", priority: 1 }] }]);
});
