// Each refusal of the one door with its reason, on a small healthy database in which one thing is changed.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DisruptiveAction, RemovalOrder } from "../action.ts";
import { skippedText } from "./skipped-exclusion.ts";
import { actRefusal } from "./act-refusal.ts";
import {
  emptySampleProcess,
  killSample,
  sampleDatabase,
  sampleEntry,
  sampleGroup,
  sampleNowMs,
  sampleProcess,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";
import { withoutSafetyCheck } from "../../../test/fixtures/without-check.ts";
import type { SafetyView } from "./view.ts";

const base = { step: "test", evidenceMs: sampleNowMs - 1_000, needsLock: false };

function deleting(
  ids: readonly string[],
  because: "terminal" | "unstarted" | "buggify" | "incompatible" | "update" = "update",
): DisruptiveAction {
  const pods = ids.map((id) => ({
    basis: { name: `sample-${id}`, uid: `uid-${id}`, resourceVersion: "1" },
    processGroupId: id,
  }));
  return { ...base, type: "deletePods", because, pods };
}

function removing(...orders: [string, RemovalOrder["proof"]][]): DisruptiveAction {
  const groups = orders.map(([processGroupId, proof]) => ({ processGroupId, proof }));
  return { ...base, type: "removeProcessGroups", groups };
}

const killing: DisruptiveAction = {
  ...base,
  type: "killProcesses",
  addresses: ["10.0.1.1:4501"],
  processGroupIds: ["log-1"],
  isUpgrade: false,
};
const excluding: DisruptiveAction = {
  ...base,
  type: "excludeProcesses",
  targets: ["locality_instance_id:storage-1"],
  processGroupIds: ["storage-1"],
};
const configuring: DisruptiveAction = {
  ...base,
  type: "configureDatabase",
  arguments: "triple",
  isNew: false,
};
const including: DisruptiveAction = { ...excluding, type: "includeProcesses" };
const moving: DisruptiveAction = { ...base, type: "changeCoordinators", addresses: [] };
const resetting: DisruptiveAction = { ...base, type: "resetMaintenanceZone", zone: "" };

function reasonOf(
  sample: Sample,
  action: DisruptiveAction,
  overrides: Partial<SafetyView> = {},
): string {
  const refusal = actRefusal(viewOf(sample, overrides), action);
  return refusal === undefined ? "" : `${refusal.reason}: ${refusal.message}`;
}

function off(check: Parameters<typeof withoutSafetyCheck>[0]): Partial<SafetyView> {
  return { checks: withoutSafetyCheck(check) };
}

function marked(id: string): Sample {
  const sample = sampleDatabase();
  sampleGroup(sample, id).removalTimestamp = "2026-01-01T00:00:00Z";
  return sample;
}

const whole = [killing, excluding, configuring, including, moving, deleting(["storage-1"])];

test("[S70] on a healthy database each act is allowed", () => {
  const sample = sampleDatabase();
  for (const action of [...whole, resetting]) assert.equal(reasonOf(sample, action), "");
});

test("[S70] no act rests on a decision from before our own last act, or on an old one", () => {
  const sample = sampleDatabase();
  for (const action of [...whole, resetting]) {
    const lastDatabaseWriteMs = sampleNowMs - 1_000;
    assert.match(reasonOf(sample, action, { lastDatabaseWriteMs }), /^EvidenceStale: .*own last/);
    const old = { ...action, evidenceMs: sampleNowMs - 60_001 };
    assert.match(reasonOf(sample, old), /^EvidenceStale: .*60 seconds old/);
  }
});

test("[S70] the newest status counts, not only the one that was decided on", () => {
  const sample = sampleDatabase();
  const silence = { kind: "missing" as const, reason: "Unreachable" as const };
  const database = { ...silence, message: "timed out", sinceMs: sampleNowMs };
  for (const action of [...whole, resetting]) {
    assert.match(reasonOf(sample, action, { database }), /^DatabaseUnreachable: .*timed out/);
  }
});

test("[S71] no act rests on an incomplete status", () => {
  for (const action of whole) {
    const sample = sampleDatabase();
    sample.status.cluster?.messages?.push({ name: "status_incomplete" });
    assert.match(reasonOf(sample, action), /^StatusIncomplete/);
  }
});

test("[S142] no act rests on a status of which parts were dropped, but what takes nothing", () => {
  const sample = sampleDatabase();
  sample.status = { ...sample.status, unreadable: ["cluster.processes.storage-1"] };
  for (const action of [...whole, resetting, deleting(["storage-1"], "incompatible")]) {
    assert.match(reasonOf(sample, action), /^StatusIncomplete: .*cluster\.processes\.storage-1/);
  }
  assert.equal(reasonOf(sample, deleting(["storage-1"], "buggify")), "");
});

test("[S72] without a hall or region: exclusion, coordinators and configuration go on, removals do not", () => {
  const sample = marked("storage-1");
  emptySampleProcess(sample, "storage-1");
  assert.equal(reasonOf(sample, removing(["storage-1", "certificate"])), "");
  const recovery = sample.status.cluster?.recovery_state;
  if (recovery) recovery.name = "all_logs_recruited";
  for (const action of [excluding, moving, configuring]) assert.equal(reasonOf(sample, action), "");
  const refused = reasonOf(sample, removing(["storage-1", "certificate"]));
  assert.match(refused, /^CertificateMissing: storage-1: .*fully recovered/);
  sampleGroup(sample, "storage-1").exclusionSkipped = true;
  const unproven = reasonOf(sample, removing(["storage-1", "exclusionSkipped"]));
  assert.match(unproven, /^StatusIncomplete: .*fully recovered/);
});

test("[S73] a new database needs no whole status, a pod that ended needs none at all", () => {
  const sample = sampleDatabase();
  sample.status = { client: {} };
  assert.equal(reasonOf(sample, { ...configuring, isNew: true }), "");
  const pod = sample.pods.get("sample-log-1");
  assert.ok(pod);
  assert.match(reasonOf(sample, deleting(["log-1"], "terminal")), /has not ended/);
  sample.pods.set("sample-log-1", { ...pod, status: { phase: "Failed" } });
  const ended = { ...deleting(["log-1"], "terminal"), evidenceMs: 0 };
  assert.equal(reasonOf(sample, ended, { lastDatabaseWriteMs: sampleNowMs }), "");
});

test("[S73] a pod that has not started takes nothing with it, one that has started does", () => {
  const sample = sampleDatabase();
  const pod = sample.pods.get("sample-storage-1");
  assert.ok(pod);
  const action = { ...deleting(["storage-1"], "unstarted"), evidenceMs: 0 };
  assert.match(reasonOf(sample, action), /has started/);
  sample.pods.set("sample-storage-1", { ...pod, status: { phase: "Pending" } });
  assert.match(reasonOf(sample, action), /has started/);
  killSample(sample, "storage-1");
  assert.equal(reasonOf(sample, action), "");
});

test("[S74] only the pods that were looked at are deleted", () => {
  const sample = sampleDatabase();
  const pod = sample.pods.get("sample-log-1");
  assert.ok(pod);
  sample.pods.set("sample-log-1", { ...pod, metadata: { ...pod.metadata, uid: "successor" } });
  for (const because of ["terminal", "update", "buggify", "incompatible"] as const) {
    assert.match(reasonOf(sample, deleting(["log-1"], because)), /^EvidenceStale: .*another one/);
  }
});

test("[S75] while processes restart nothing else happens", () => {
  const sample = sampleDatabase();
  const entry = sampleEntry({ type: "killProcesses", processGroupIds: ["log-1"] });
  for (const action of [...whole, resetting]) {
    assert.match(reasonOf(sample, action, { ledger: [entry] }), /^ActInFlight: a restart.*log-1/);
  }
});

test("[S75] pods of processes that cannot speak with the database do not wait for a restart", () => {
  const sample = sampleDatabase();
  const ledger = [sampleEntry({ type: "killProcesses", processGroupIds: ["log-1"] })];
  assert.match(reasonOf(sample, deleting(["log-1"], "incompatible"), { ledger }), /^ActInFlight/);
  killSample(sample, "log-1");
  assert.equal(reasonOf(sample, deleting(["log-1"], "incompatible"), { ledger }), "");
});

test("[S76] processes restart only when no other act is under way", () => {
  const sample = sampleDatabase();
  const entry = sampleEntry({ type: "excludeProcesses", processGroupIds: ["storage-1"] });
  assert.match(reasonOf(sample, killing, { ledger: [entry] }), /^ActInFlight: another act/);
  assert.equal(reasonOf(sample, including, { ledger: [entry] }), "");
});

test("[S77] a restart in place is not charged, but nothing may be down beyond the budget", () => {
  const sample = sampleDatabase();
  sample.pods.delete("sample-log-2");
  assert.equal(reasonOf(sample, killing), "");
  sample.pods.delete("sample-storage-3");
  assert.match(reasonOf(sample, killing), /^BudgetExhausted: .*can lose 1 zone.*log-2/);
});

for (const [what, action, expected] of [
  ["an update", deleting(["storage-1"]), "EvidenceStale"],
  ["a removal", removing(["storage-1", "certificate"]), "EvidenceStale"],
  ["a pod that has ended", deleting(["storage-1"], "terminal"), ""],
  ["people's own fault", deleting(["storage-1"], "buggify"), ""],
] as const) {
  test(`[S166] a process group that the resource does not list any more: ${what}`, () => {
    const sample = sampleDatabase();
    const { status: podStatus } = sample.pods.get("sample-storage-1") ?? {};
    if (what === "a pod that has ended") Object.assign(podStatus ?? {}, { phase: "Failed" });
    const index = sample.groups.findIndex((group) => group.processGroupID === "storage-1");
    sample.groups.splice(index, 1);
    const message = "the status of the resource does not list storage-1 any more";
    const refused = expected === "" ? "" : `${expected}: ${message}`;
    assert.equal(reasonOf(sample, action), refused);
  });
}

test("[S77][U54] what runs ahead in an incompatible upgrade is no loss to its restart, and to no other act", () => {
  const sample = sampleDatabase();
  const addresses = ["storage-1", "log-2"].map((id) => {
    killSample(sample, id);
    const [address = ""] = sampleGroup(sample, id).addresses ?? [];
    return `${address}:4501`;
  });
  const upgrade: DisruptiveAction = { ...killing, isUpgrade: true };
  sample.runningVersion = "7.1.57";
  assert.match(reasonOf(sample, upgrade), /^BudgetExhausted/, "nobody knows where they are");
  const { cluster } = sample.status;
  sample.status = {
    ...sample.status,
    cluster: { ...cluster, incompatible_connections: addresses },
  };
  assert.equal(reasonOf(sample, upgrade), "");
  assert.match(reasonOf(sample, killing), /^BudgetExhausted/);
  assert.match(reasonOf(sample, deleting(["storage-3"])), /^BudgetExhausted/);
});

for (const [second, port, isRefused] of [
  ["still reports", 4501, false],
  ["still reports", 4500, false],
  ["ran ahead as well", 4501, false],
  ["is down", 4501, true],
  ["still reports, and only a client beside it is listed", 0, true],
] as const) {
  test(`[U90] a pod whose first server is listed at port ${port} and whose second one ${second}: the restart is ${isRefused ? "refused" : "done"}`, () => {
    const sample = sampleDatabase();
    const listed = ["storage-1", "storage-2"].flatMap((id) => {
      const [host = ""] = sampleGroup(sample, id).addresses ?? [];
      const processes = sample.status.cluster?.processes ?? {};
      const first = processes[id];
      assert.ok(first);
      processes[`${id}-2`] = { ...first, address: `${host}:4503` };
      const pod = sample.pods.get(`sample-${id}`);
      assert.ok(pod);
      const env = [{ name: "STORAGE_SERVERS_PER_POD", value: "2" }];
      sample.pods.set(`sample-${id}`, {
        ...pod,
        spec: { ...pod.spec, containers: [{ name: "foundationdb", env }] },
      });
      killSample(sample, id);
      if (!second.startsWith("still")) killSample(sample, `${id}-2`);
      const own = `${host}:${port}${port === 4500 ? ":tls" : ""}`;
      return second === "ran ahead as well" ? [own, `${host}:4503`] : [own];
    });
    const { cluster } = sample.status;
    sample.status = { ...sample.status, cluster: { ...cluster, incompatible_connections: listed } };
    sample.runningVersion = "7.1.57";
    const reason = reasonOf(sample, { ...killing, isUpgrade: true });
    assert.equal(reason.startsWith("BudgetExhausted"), isRefused, reason);
  });
}

test("[S78] pods of two zones are not taken down together at a fault tolerance of one", () => {
  const sample = sampleDatabase();
  assert.equal(reasonOf(sample, deleting(["storage-1", "log-1"])), "");
  assert.match(reasonOf(sample, deleting(["storage-1", "storage-2"])), /^BudgetExhausted/);
});

test("[S78] nor one after the other, whoever took the first one down", () => {
  const sample = sampleDatabase();
  const ledger = [sampleEntry({ zones: ["zone-2"], processGroupIds: ["storage-2"] })];
  assert.match(reasonOf(sample, deleting(["storage-1"]), { ledger }), /^BudgetExhausted.*own act/);
  killSample(sample, "storage-3");
  assert.match(reasonOf(sample, deleting(["storage-1"])), /^BudgetExhausted.*storage-3/);
});

test("[S79] a pod in which the database has nothing costs nothing", () => {
  const sample = sampleDatabase();
  killSample(sample, "storage-3");
  killSample(sample, "storage-1");
  assert.equal(reasonOf(sample, deleting(["storage-1"])), "");
  assert.equal(reasonOf(sample, deleting(["storage-1"], "incompatible")), "");
  assert.match(reasonOf(sample, deleting(["storage-2"], "incompatible")), /^BudgetExhausted/);
});

test("[S80] faults that people inject are their own act, but only on the pods that they saw", () => {
  const sample = sampleDatabase();
  sample.status.cluster?.messages?.push({ name: "status_incomplete" });
  const action = { ...deleting(["storage-1", "storage-2", "log-3"], "buggify"), evidenceMs: 0 };
  assert.equal(reasonOf(sample, action), "");
});

test("[S81] no act leaves less than a majority of the coordinators", () => {
  const sample = sampleDatabase();
  const configuration = sample.status.cluster?.configuration;
  if (configuration) configuration.redundancy_mode = "triple";
  const figures = sample.status.cluster?.fault_tolerance;
  if (figures) {
    figures.max_zone_failures_without_losing_availability = 2;
    figures.max_zone_failures_without_losing_data = 2;
  }
  assert.equal(reasonOf(sample, deleting(["storage-1", "storage-2"])), "");
  assert.equal(reasonOf(sample, deleting(["log-1"])), "");
  const both = deleting(["log-1", "log-2"]);
  assert.match(reasonOf(sample, both), /^BudgetExhausted: only 1 of 3 coordinators/);
  assert.match(reasonOf(sample, both, off("budget")), /only 1 of 3 coordinators/);
  const [first] = sample.status.client?.coordinators?.coordinators ?? [];
  if (first) first.reachable = false;
  assert.match(reasonOf(sample, deleting(["log-2"])), /only 1 of 3 coordinators/);
  assert.equal(reasonOf(sample, deleting(["storage-2"])), "");
});

test("[S81] coordinators that our own acts or other people took down are not counted as left", () => {
  const sample = sampleDatabase();
  const ledger = [sampleEntry({ processGroupIds: ["log-1"], zones: ["zone-1"] })];
  assert.match(reasonOf(sample, deleting(["log-2"]), { ledger, ...off("budget") }), /only 1 of 3/);
  sample.pods.delete("sample-log-3");
  assert.match(reasonOf(sample, deleting(["log-2"]), off("budget")), /only 1 of 3/);
});

test("[S82] objects of a stateful group go only with a certificate", () => {
  const sample = marked("storage-1");
  const action = removing(["storage-1", "certificate"]);
  assert.match(reasonOf(sample, action), /^CertificateMissing: storage-1: it is not excluded/);
  emptySampleProcess(sample, "storage-1");
  assert.equal(reasonOf(sample, action), "");
  const [fresh] = viewOf(sample).statuses;
  assert.ok(fresh);
  assert.match(reasonOf(sample, action, { statuses: [fresh] }), /second fresh status/);
});

test("[S82] one missing certificate refuses the whole act", () => {
  const sample = marked("storage-1");
  emptySampleProcess(sample, "storage-1");
  sampleGroup(sample, "storage-2").removalTimestamp = "2026-01-01T00:00:00Z";
  const action = removing(["storage-1", "certificate"], ["storage-2", "certificate"]);
  assert.match(reasonOf(sample, action), /^CertificateMissing: storage-2/);
});

test("[S162] what was lost before the operator looked may not be noticed yet, so nothing that serves goes", () => {
  const sample = marked("storage-1");
  sampleGroup(sample, "storage-1").exclusionSkipped = true;
  const spec = { version: "7.3.79", processGroupsToRemoveWithoutExclusion: ["storage-1"] };
  const asked = { cluster: { ...viewOf(sample).cluster, spec } };
  const removal = removing(["storage-1", "exclusionSkipped"]);
  const early = /^BudgetExhausted: the operator has just begun to look/;
  for (const watchedSinceMs of [undefined, sampleNowMs - 89_000]) {
    const justStarted = { ...asked, watchedSinceMs };
    assert.match(reasonOf(sample, deleting(["storage-2"]), justStarted), early);
    assert.match(reasonOf(sample, removal, justStarted), early);
    const madeConnectionString = "sample:abc@10.0.1.1:4501";
    assert.equal(reasonOf(sample, removal, { ...justStarted, madeConnectionString }), "");
  }
  assert.equal(reasonOf(sample, removal, { ...asked, watchedSinceMs: sampleNowMs - 90_000 }), "");
  killSample(sample, "storage-2");
  const watchedSinceMs = sampleNowMs - 1_000;
  assert.equal(reasonOf(sample, deleting(["storage-2"], "incompatible"), { watchedSinceMs }), "");
});

test("[S83] a group that is not marked for removal, or is a coordinator, stays", () => {
  const unmarked = sampleDatabase();
  emptySampleProcess(unmarked, "storage-1");
  assert.match(reasonOf(unmarked, removing(["storage-1", "certificate"])), /not marked/);
  const coordinator = marked("log-1");
  sampleGroup(coordinator, "log-1").exclusionSkipped = true;
  const refused = reasonOf(coordinator, removing(["log-1", "exclusionSkipped"]));
  assert.match(refused, /^CertificateMissing: log-1 is a coordinator/);
});

test("[S84] skipping the exclusion must have been asked for, and is charged to the budget", () => {
  const sample = marked("storage-1");
  const action = removing(["storage-1", "exclusionSkipped"]);
  assert.match(reasonOf(sample, action), /^CertificateMissing: .*nobody allowed/);
  sampleGroup(sample, "storage-1").exclusionSkipped = true;
  assert.match(reasonOf(sample, action), /^CertificateMissing: .*reports by now, and spec/);
  const { cluster } = viewOf(sample);
  const processGroupsToRemoveWithoutExclusion = ["storage-1"];
  const asked = {
    cluster: { ...cluster, spec: { ...cluster.spec, processGroupsToRemoveWithoutExclusion } },
  };
  assert.equal(reasonOf(sample, action, asked), "");
  killSample(sample, "storage-2");
  assert.match(reasonOf(sample, action, asked), /^BudgetExhausted/);
  killSample(sample, "storage-1");
  assert.equal(reasonOf(sample, action), "", "nothing named it, and it does not report");
});

test("[S163] who goes without exclusion and went down just before is charged, and is down for all others", () => {
  const sample = marked("storage-1");
  sampleGroup(sample, "storage-1").exclusionSkipped = true;
  killSample(sample, "storage-1");
  const action = removing(["storage-1", "exclusionSkipped"]);
  const since = (ageMs: number) => ({
    missingGroups: new Map([["storage-1", sampleNowMs - ageMs]]),
  });
  assert.equal(reasonOf(sample, action, since(1_000)), "", "within the budget");
  assert.match(
    reasonOf(sample, deleting(["storage-2"]), since(89_000)),
    /^BudgetExhausted.*storage-1/,
  );
  assert.equal(reasonOf(sample, deleting(["storage-2"]), since(90_000)), "");
  killSample(sample, "storage-2");
  assert.match(reasonOf(sample, action, since(89_000)), /^BudgetExhausted/);
  assert.equal(reasonOf(sample, action, since(90_000)), "");
  const group = sampleGroup(sample, "storage-1");
  delete group.faultDomain;
  assert.equal(reasonOf(sample, action, since(1_000)), "", "it never reported");
});

test("[S84] the event tells why each went without exclusion", () => {
  const { groups } = sampleDatabase();
  groups.push({ processGroupID: "test-1", processClass: "test" });
  const spec = { version: "7.3.63", processGroupsToRemoveWithoutExclusion: ["storage-1"] };
  assert.equal(
    skippedText(spec, groups, ["storage-1", "test-1", "storage-2"]),
    "Removed without exclusion: storage-1 (spec.processGroupsToRemoveWithoutExclusion names it), " +
      "test-1 (it is a tester), storage-2 (no process of it reports)",
  );
});

test("[S85] a class alone proves nothing: a group of a class without data needs the certificate too", () => {
  const stateless = marked("stateless-1");
  const action = removing(["stateless-1", "certificate"]);
  assert.match(reasonOf(stateless, action), /^CertificateMissing: stateless-1: it is not excluded/);
  emptySampleProcess(stateless, "stateless-1");
  assert.equal(reasonOf(stateless, action), "");
  sampleProcess(stateless, "stateless-1").roles = [{ role: "storage" }];
  assert.match(reasonOf(stateless, action), /^CertificateMissing: .*still has roles: storage/);
});

test("[S86] each check is one of those that are passed in, and can be missing by itself", () => {
  const two = deleting(["storage-1", "storage-2"]);
  assert.equal(reasonOf(sampleDatabase(), two, off("budget")), "");
  const late = { lastDatabaseWriteMs: sampleNowMs };
  assert.equal(reasonOf(sampleDatabase(), excluding, { ...late, ...off("freshness") }), "");
  const action = removing(["storage-1", "certificate"]);
  assert.equal(reasonOf(marked("storage-1"), action, off("certificate")), "");
  assert.match(reasonOf(sampleDatabase(), two, off("certificate")), /^BudgetExhausted/);
});

test("[S88] a database with one copy loses a fault domain for a moment only when its owner says so", () => {
  const single = (): Sample => {
    const sample = sampleDatabase();
    const { configuration, fault_tolerance: figures } = sample.status.cluster ?? {};
    Object.assign(configuration ?? {}, { redundancy_mode: "single" });
    Object.assign(figures ?? {}, {
      max_zone_failures_without_losing_availability: 0,
      max_zone_failures_without_losing_data: 0,
    });
    return sample;
  };
  const sample = single();
  const { cluster } = viewOf(sample);
  const automationOptions = { podUpdateStrategy: "Delete" } as const;
  const wanting = (redundancy_mode: "single" | "double") => ({
    cluster: {
      ...cluster,
      spec: { ...cluster.spec, automationOptions, databaseConfiguration: { redundancy_mode } },
    },
  });
  const wish = wanting("single");
  assert.match(reasonOf(sample, deleting(["storage-1"])), /^BudgetExhausted/);
  assert.match(
    reasonOf(sample, deleting(["storage-1"]), wanting("double")),
    /^BudgetExhausted/,
    "more copies are on their way",
  );
  assert.equal(reasonOf(sample, deleting(["storage-1"]), wish), "");
  assert.match(reasonOf(sample, deleting(["storage-1", "storage-2"]), wish), /^BudgetExhausted/);
  assert.match(reasonOf(sample, deleting(["log-1"]), wish), /^BudgetExhausted/, "by its address");
  const redundant = sampleDatabase();
  killSample(redundant, "storage-2");
  assert.match(reasonOf(redundant, deleting(["storage-1"]), wish), /^BudgetExhausted/);
  sample.pods.delete("sample-storage-3");
  assert.match(reasonOf(sample, deleting(["storage-1"]), wish), /^BudgetExhausted/);
});
