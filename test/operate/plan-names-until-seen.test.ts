// Names, and addresses of services, that the connection string needs until the database was seen.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, ClusterStatus } from "../../src/api/cluster.ts";
import { routingOf } from "../../src/api/effective.ts";
import { clusterFileKey } from "../../src/build/config-map.ts";
import { formatTime } from "../../src/kube/time.ts";
import { withNamesUntilSeen } from "../../src/plan/services/names-until-seen.ts";
import type { DatabaseObservation } from "../../src/plan/snapshot.ts";
import { sampleEntry } from "../fixtures/sample-view.ts";
import { PlanWorld } from "./plan-world.ts";

const names = "sample:abc@sample-log-1.sample.default.svc.cluster.local:4501";
const foreignNames = "sample:abc@other-log-1.other.default.svc.cluster.local:4501";
const ofPods = "sample:abc@10.1.0.7:4501";
const ofServices = "sample:abc@10.0.9.9:4501,10.1.0.7:4501";
const ofServices6 = "sample:abc@[fd00::9]:4501:tls";
const addresses = { useDNSInClusterFile: false } as const;
const unseen: DatabaseObservation = {
  ...{ kind: "missing", reason: "Unreachable", message: "none", sinceMs: 0 },
};
const serving: DatabaseObservation = {
  kind: "seen",
  status: { client: { database_status: { available: true, healthy: true } } },
  observedMs: 0,
};

interface Case {
  readonly what: string;
  readonly routing?: ClusterSpec["routing"];
  readonly spec?: Partial<ClusterSpec>;
  readonly status?: ClusterStatus;
  readonly inConfigMap?: string;
  readonly database?: DatabaseObservation;
  readonly hasNames: boolean;
  readonly source: "pod" | "service";
}

const adopting = { adopt: { volumes: { matchLabels: { a: "b" } } }, seedConnectionString: names };
const cases: readonly Case[] = [
  { what: "no connection string", hasNames: false, source: "pod" },
  { what: "names in the ConfigMap", inConfigMap: names, hasNames: true, source: "pod" },
  {
    what: "names in the status",
    status: { connectionString: names },
    hasNames: true,
    source: "pod",
  },
  {
    what: "the status before the ConfigMap",
    ...{ status: { connectionString: ofPods }, inConfigMap: names, hasNames: false, source: "pod" },
  },
  {
    what: "a database that was seen, and its coordinators have no pods",
    ...{ status: { configured: true, connectionString: names }, hasNames: true, source: "pod" },
  },
  {
    what: "a database that serves, though the status is lost",
    ...{ inConfigMap: names, database: serving, hasNames: false, source: "pod" },
  },
  { what: "names of another cluster", inConfigMap: foreignNames, hasNames: false, source: "pod" },
  { what: "addresses of pods", inConfigMap: ofPods, hasNames: false, source: "pod" },
  { what: "addresses of services", inConfigMap: ofServices, hasNames: false, source: "service" },
  {
    what: "addresses of services of IPv6",
    ...{ inConfigMap: ofServices6, hasNames: false, source: "service" },
  },
  {
    what: "addresses of services, where names are wanted",
    ...{ routing: {}, inConfigMap: ofServices, hasNames: true, source: "service" },
  },
  {
    what: "names, where services are wanted",
    routing: { ...addresses, publicIPSource: "service" },
    ...{ inConfigMap: names, hasNames: true, source: "service" },
  },
  { what: "a seed while adopting [ADO16]", spec: adopting, hasNames: true, source: "pod" },
  {
    what: "a seed where nothing else is known",
    ...{ spec: { seedConnectionString: names }, hasNames: true, source: "pod" },
  },
  {
    what: "a seed that is not adopted, beside a ConfigMap",
    spec: { seedConnectionString: names },
    ...{ inConfigMap: ofPods, hasNames: false, source: "pod" },
  },
];

for (const { what, routing = addresses, hasNames, source, ...given } of cases) {
  test(`[P114] until the database was seen: ${what}`, () => {
    const world = new PlanWorld({ ...given.spec, routing });
    const { status, inConfigMap: text, database = unseen } = given;
    if (status !== undefined) world.cluster = { ...world.cluster, status };
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "sample-log-1" } };
    const spec = { clusterIP: "10.0.9.9", clusterIPs: ["10.0.9.9", "fd00::9"] };
    const configMap = {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sample-config" } },
      data: { [clusterFileKey]: text ?? "" },
    };
    const services = new Map([["sample-log-1", { ...service, spec }]]);
    const snapshot = withNamesUntilSeen(world.snapshot({ services, configMap, database }));
    const found = routingOf(snapshot.cluster.spec);
    assert.equal(found.definesDnsLocalityFields, hasNames);
    assert.equal(found.publicIpSource, source);
    const { storedSpec = snapshot.cluster.spec } = snapshot;
    assert.deepEqual(storedSpec.routing, routing, "what is wanted is not forgotten");
  });
}

test("[P114] what is wanted already is no other spec", () => {
  const world = new PlanWorld({ routing: { publicIPSource: "service" } });
  const status = { connectionString: names };
  const snapshot = world.snapshot({ cluster: { ...world.cluster, status }, database: unseen });
  assert.equal(snapshot.storedSpec, undefined);
});

interface Loss {
  readonly what: string;
  readonly running?: number;
  readonly pending?: number;
  readonly hasOther?: boolean;
  /** When their pods started. */
  readonly startMs?: number;
  readonly database: DatabaseObservation;
  readonly hasNames: boolean;
}

const unreachable: DatabaseObservation = { ...serving, status: {} };
const quorum = { client: { coordinators: { quorum_reachable: true } } };
const recovering: DatabaseObservation = { ...serving, status: quorum };
const losses: readonly Loss[] = [
  { what: "all run and are reached", running: 3, database: serving, hasNames: false },
  { what: "one is lost", running: 2, database: serving, hasNames: false },
  { what: "most are lost, before a status says so", running: 1, database: serving, hasNames: true },
  { what: "most do not run yet", running: 1, pending: 2, database: serving, hasNames: true },
  { what: "they run and are not reached", running: 3, database: unreachable, hasNames: true },
  {
    what: "they came after the status",
    ...{ running: 3, startMs: 60_000, database: serving, hasNames: true },
  },
  {
    what: "they came before the status",
    ...{ running: 3, startMs: -60_000, database: serving, hasNames: false },
  },
  { what: "a recovery", running: 3, database: recovering, hasNames: false },
  { what: "nobody has asked", running: 3, database: unseen, hasNames: true },
  {
    what: "nobody has asked, and the wish has begun",
    ...{ running: 3, hasOther: true, database: unseen, hasNames: false },
  },
];

for (const { what, running = 0, pending = 0, hasOther, startMs, database, hasNames } of losses) {
  test(`[P114] names that are given up: ${what}`, () => {
    const world = new PlanWorld({ routing: addresses });
    const hosts = [1, 2, 3].map((id) => `sample-log-${id}.sample.default.svc.cluster.local:4501`);
    const status = { configured: true, connectionString: `sample:abc@${hosts.join()}` };
    const made = [1, 2, 3].slice(0, running + pending).map((id) => {
      const name = `sample-log-${id}`;
      const spec = { hostname: name, subdomain: "sample", containers: [] };
      const phase = id <= running ? "Running" : "Pending";
      const startTime = startMs === undefined ? undefined : formatTime(startMs);
      const pod = { phase, ...(startTime && { startTime }) };
      return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec, status: pod };
    });
    const other = { apiVersion: "v1", kind: "Pod", metadata: { name: "sample-log-4" } };
    const pods = new Map(
      [...made, ...(hasOther === true ? [other] : [])].map((pod) => [pod.metadata.name, pod]),
    );
    const cluster = { ...world.cluster, status };
    const snapshot = withNamesUntilSeen(world.snapshot({ cluster, pods, database }));
    assert.equal(routingOf(snapshot.cluster.spec).definesDnsLocalityFields, hasNames);
  });
}

interface SharedLoss {
  readonly what: string;
  /** Pods of the update that is under way. */
  readonly updated?: readonly number[];
  /** Pods that run without a name. */
  readonly nameless?: readonly number[];
  /** Coordinators that the status shows as unreachable: two are ours, and three of another resource. */
  readonly unreachable?: readonly string[];
  /** The status has coordinators that are known otherwise, and is so much younger than our own last change. */
  readonly changedMs?: number;
  readonly hasNames: boolean;
}

const sharedLosses: readonly SharedLoss[] = [
  { what: "both are lost, before a status says so", hasNames: true },
  {
    what: "the status shows both losses",
    unreachable: ["sample-log-1", "sample-log-2"],
    hasNames: false,
  },
  { what: "the status shows one of two losses", unreachable: ["sample-log-1"], hasNames: true },
  { what: "an update takes both away", updated: [1, 2], hasNames: false },
  { what: "an update takes one away, the other is lost", updated: [1], hasNames: true },
  {
    what: "an update takes both away, and one of the others is lost",
    ...{ updated: [1, 2], unreachable: ["other-log-1"], hasNames: true },
  },
  {
    what: "both run without a name, as the status shows",
    ...{ nameless: [1, 2], unreachable: ["sample-log-1", "sample-log-2"], hasNames: false },
  },
  { what: "both run without a name, and are still reached", nameless: [1, 2], hasNames: false },
  { what: "the status has others in their place", changedMs: 1, hasNames: false },
  { what: "a status from before the change has others", changedMs: -1, hasNames: true },
  {
    what: "most of all are lost",
    ...{ unreachable: ["sample-log-1", "sample-log-2", "other-log-1"], hasNames: true },
  },
];

for (const { what, updated, nameless = [], changedMs, hasNames, ...given } of sharedLosses) {
  test(`[P117] names of two of five coordinators that are given up: ${what}`, () => {
    const world = new PlanWorld({ routing: addresses });
    const hostOf = (name: string): string =>
      `${name}.${name.split("-", 1)[0]}.default.svc.cluster.local:4501`;
    const members = ["sample-log-1", "sample-log-2", "other-log-1", "other-log-2", "other-log-3"];
    const coordinators = members.map((name, index) => ({
      address: changedMs === undefined ? hostOf(name) : `10.1.0.${index}:4501`,
      reachable: given.unreachable?.includes(name) !== true,
    }));
    const client = {
      database_status: { available: true, healthy: true },
      coordinators: { coordinators, quorum_reachable: true },
    };
    const told = coordinators.map(({ address }) => address).join();
    const connection_string = `sample:abc@${told}`;
    const connectionString = `sample:abc@${members.map(hostOf).join()}`;
    const processGroups = [1, 2].map((id) => ({
      ...{ processGroupID: `log-${id}`, processClass: "log" as const },
    }));
    const made = nameless.map((id) => ({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: `sample-log-${id}` } },
      ...{ spec: { containers: [] }, status: { phase: "Running", startTime: formatTime(-60_000) } },
    }));
    const entry = sampleEntry({ type: "deletePods", isUpdate: true });
    const processGroupIds = updated?.map((id) => `log-${id}`) ?? [];
    const cluster = {
      ...world.cluster,
      status: { configured: true, connectionString, processGroups },
    };
    const snapshot = withNamesUntilSeen(
      world.snapshot({
        ...{ cluster, pods: new Map(made.map((pod) => [pod.metadata.name, pod])) },
        database: {
          ...{ kind: "seen", observedMs: 0 },
          status: { client, cluster: { connection_string } },
        },
        lastDatabaseWriteMs: -(changedMs ?? 1),
        ledger: updated === undefined ? [] : [{ ...entry, processGroupIds }],
      }),
    );
    assert.equal(routingOf(snapshot.cluster.spec).definesDnsLocalityFields, hasNames);
  });
}

for (const [podIPFamily, ipFamilies, expected, givenFamily] of [
  [6, ["IPv4"], 4],
  [4, ["IPv6"], 6],
  [6, ["IPv6"], 6],
  [6, ["IPv4", "IPv6"], 6],
  [undefined, ["IPv6"], 0],
  [undefined, ["IPv6"], 6, 4],
  [undefined, ["IPv4"], 4, 6],
  [undefined, ["IPv6"], 0, 6],
  [6, ["IPv4"], 4, 6],
] as const) {
  test(`[P114] pods of the family ${ipFamilies.join()} are looked for, ${podIPFamily} is wanted, and nodes give ${givenFamily}`, () => {
    const world = new PlanWorld({ routing: podIPFamily === undefined ? {} : { podIPFamily } });
    const status = { connectionString: names };
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "sample" } };
    const services = new Map([["sample", { ...service, spec: { ipFamilies: [...ipFamilies] } }]]);
    const cluster = { ...world.cluster, status };
    const snapshot = withNamesUntilSeen(
      world.snapshot({ cluster, services, database: unseen, givenFamily }),
    );
    assert.equal(routingOf(snapshot.cluster.spec).podIpFamily, expected);
  });
}
