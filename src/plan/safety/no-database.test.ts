// When it is certain that there is no database, and what may go then: pods, and of them none that a coordinator's address
// depends on.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { DisruptiveAction } from "../action.ts";
import type { DatabaseObservation } from "../snapshot.ts";
import { actRefusal } from "./act-refusal.ts";
import { isNeverCreated } from "./no-database.ts";
import { sampleDatabase, sampleNowMs, viewOf } from "../../../test/fixtures/sample-view.ts";
import type { SafetyView } from "./view.ts";

function statusWith(recovery: string | undefined, quorum = true, names = false): DatabaseStatus {
  const hosts = ["1", "2", "3"].map((number) =>
    names ? `sample-log-${number}.sample.default.svc.cluster.local` : `10.0.1.${number}`,
  );
  return {
    client: {
      coordinators: {
        coordinators: hosts.map((host) => ({ address: `${host}:4501`, reachable: quorum })),
        quorum_reachable: quorum,
      },
      database_status: { available: false, healthy: false },
    },
    cluster: {
      connection_string: `sample:abc@${hosts.map((host) => `${host}:4501`).join(",")}`,
      processes: sampleDatabase().status.cluster?.processes ?? {},
      ...(recovery === undefined ? {} : { recovery_state: { name: recovery } }),
    },
  };
}

interface World {
  database: DatabaseObservation;
  configured?: boolean;
  spec?: Partial<ClusterSpec>;
  connectionString?: string;
  clusterFile?: string | undefined;
  lastDatabaseWriteMs?: number;
}

function seen(status: DatabaseStatus, ageMs = 1_000): DatabaseObservation {
  return { kind: "seen", status, observedMs: sampleNowMs - ageMs };
}

function missing(reason: "NoConnectionString" | "Asking" | "Unreachable"): DatabaseObservation {
  return { kind: "missing", reason, message: "none", sinceMs: 0 };
}

function viewIn(world: World): SafetyView {
  const { database, configured, spec, connectionString, clusterFile } = world;
  const view = viewOf(sampleDatabase(), { database });
  const status = {
    ...view.cluster.status,
    configured: configured === true,
    ...(connectionString === undefined ? {} : { connectionString }),
  };
  const configMap =
    clusterFile === undefined
      ? undefined
      : {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "sample-config" },
          data: { "cluster-file": clusterFile },
        };
  return {
    ...view,
    cluster: { ...view.cluster, spec: { ...view.cluster.spec, ...spec }, status },
    configMap,
    lastDatabaseWriteMs: world.lastDatabaseWriteMs ?? 0,
  };
}

function early(id: string): DisruptiveAction {
  const basis = { name: `sample-${id}`, uid: `uid-${id}`, resourceVersion: "1" };
  const pods = [{ basis, processGroupId: id }];
  const evidenceMs = sampleNowMs - 1_000;
  return { type: "deletePods", step: "test", because: "early", pods, evidenceMs, needsLock: false };
}

function reasonOf(world: World, id = "storage-1"): string {
  const refusal = actRefusal(viewIn(world), early(id));
  return refusal === undefined ? "" : `${refusal.reason}: ${refusal.message}`;
}

const never = "configuration_never_created";
const none: World = { database: missing("NoConnectionString"), clusterFile: "" };
const doubt = "StatusIncomplete: no majority of coordinators says that there is no database";
const lost = "DatabaseUnreachable: a connection string may be lost";
const old = "EvidenceStale: the status is older than our own last act on the database";

const proofs: readonly [what: string, world: World, reason: string][] = [
  ["coordinators that never heard of one", { database: seen(statusWith(never)) }, ""],
  ["no connection string anywhere", none, ""],
  [
    "a status that is two minutes old",
    { database: seen(statusWith(never), 120_000) },
    "EvidenceStale: the status is more than 60 seconds old",
  ],
  [
    "an act since the status",
    { database: seen(statusWith(never)), lastDatabaseWriteMs: sampleNowMs },
    old,
  ],
  ["coordinators that cannot be reached", { database: seen(statusWith(never, false)) }, doubt],
  ["a status without a state", { database: seen(statusWith(undefined)) }, doubt],
  ["a recovery that has begun", { database: seen(statusWith("reading_coordinated_state")) }, doubt],
  ["a database", { database: seen(statusWith("fully_recovered")) }, doubt],
  [
    "a database that was there before",
    { database: seen(statusWith(never)), configured: true },
    "StatusIncomplete: the database has been created before",
  ],
  [
    "the first answer still to come",
    { database: missing("Asking") },
    "DatabaseUnreachable: the database does not answer: none",
  ],
  [
    "no answer",
    { database: missing("Unreachable") },
    "DatabaseUnreachable: the database does not answer: none",
  ],
  ["no ConfigMap", { ...none, clusterFile: undefined }, lost],
  ["a connection string in the ConfigMap", { ...none, clusterFile: "a:b@c:1" }, lost],
  ["a connection string in the status", { ...none, connectionString: "a:b@c:1" }, lost],
  ["a seed", { ...none, spec: { seedConnectionString: "a:b@c:1" } }, lost],
  [
    "a resource that was configured and lost its connection string",
    { ...none, configured: true },
    "StatusIncomplete: the database has been created before",
  ],
];

for (const [what, world, reason] of proofs) {
  test(`[S140] whether there is no database: ${what}`, () => {
    assert.equal(reasonOf(world), reason);
  });
}

test("[S140] a coordinator that is known by its address stays, one that is known by a name does not", () => {
  const refused = "CertificateMissing: log-1 is a coordinator that is known by its address";
  assert.equal(reasonOf({ database: seen(statusWith(never)) }, "log-1"), refused);
  assert.equal(reasonOf({ database: seen(statusWith(never, true, true)) }, "log-1"), "");
});

test("[S140] no volume goes on the word that there is no database", () => {
  const view = viewIn({ database: seen(statusWith(never)) });
  const removal: DisruptiveAction = {
    type: "removeProcessGroups",
    step: "test",
    evidenceMs: sampleNowMs - 1_000,
    needsLock: false,
    groups: [{ processGroupId: "storage-1", proof: "certificate" }],
  };
  assert.equal(actRefusal(view, removal)?.reason, "StatusIncomplete");
});

const silent: readonly [what: string, clientVersion: string, quorum: boolean, reason: string][] = [
  ["a client of the version of its servers", "7.3.27", false, ""],
  [
    "a client of another protocol, which reaches nobody",
    "7.4.6",
    false,
    "StatusIncomplete: a client of another version than that of storage-1 was asked",
  ],
  ["coordinators that answered a client of another protocol", "7.4.6", true, ""],
];

for (const [what, clientVersion, quorum, reason] of silent) {
  test(`[S140] [ADO7] whether a database on disks does not serve, by ${what}`, () => {
    const status = statusWith(undefined, quorum);
    const database = { ...seen(status), clientVersion };
    const view = viewIn({ database, spec: { adopt: { volumes: { matchLabels: { a: "b" } } } } });
    const pod = view.pods.get("sample-storage-1");
    assert.ok(pod !== undefined);
    const containers = [{ name: "foundationdb", image: "monitor:7.3.63" }];
    const pods = new Map(view.pods).set("sample-storage-1", { ...pod, spec: { containers } });
    const refusal = actRefusal({ ...view, pods }, early("storage-1"));
    assert.equal(refusal === undefined ? "" : `${refusal.reason}: ${refusal.message}`, reason);
  });
}

test("[P115] no database is created while a claim says that data lies where its pod does not look", () => {
  const creation: DisruptiveAction = {
    type: "configureDatabase",
    step: "test",
    arguments: "new double ssd-2",
    isNew: true,
    evidenceMs: sampleNowMs - 1_000,
    needsLock: false,
  };
  const view = viewIn({ database: seen(statusWith(never)) });
  assert.equal(actRefusal(view, creation), undefined);
  const name = "sample-storage-1-data";
  const claim = view.pvcs.get(name);
  assert.ok(claim);
  const annotations = { [annotationKeys.diskLayout]: "7" };
  const noted = { ...claim, metadata: { ...claim.metadata, annotations } };
  const pvcs = new Map([...view.pvcs, [name, noted]]);
  assert.deepEqual(actRefusal({ ...view, pvcs }, creation), {
    reason: "CertificateMissing",
    message: `data may lie elsewhere on the volume of ${name}`,
  });
});

test("[S142] half a status does not prove that there is no database", () => {
  const status = statusWith("configuration_never_created");
  assert.equal(isNeverCreated(status), true);
  assert.equal(isNeverCreated({ ...status, unreadable: ["cluster.logs"] }), false);
});
