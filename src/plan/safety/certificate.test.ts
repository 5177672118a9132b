// The proof that a process group may go: what it needs, and what is not enough.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { hasAbsentProcesses, removalProblem } from "./certificate.ts";
import {
  emptySampleProcess,
  excludeSample,
  killSample,
  sampleDatabase,
  sampleGroup,
  sampleNowMs,
  sampleProcess,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";
import type { SafetyView } from "./view.ts";

const id = "storage-1";

function problemOf(sample: Sample, overrides: Partial<SafetyView> = {}): string | undefined {
  return removalProblem(viewOf(sample, overrides), sampleGroup(sample, id));
}

function emptied(): Sample {
  const sample = sampleDatabase();
  emptySampleProcess(sample, id);
  return sample;
}

test("[S60] an excluded process without roles in two fresh statuses is certified", () => {
  assert.equal(problemOf(emptied()), undefined);
  assert.equal(hasAbsentProcesses(viewOf(emptied()), sampleGroup(emptied(), id)), false);
});

test("[S60] one that is not excluded, or still has a role, is not", () => {
  assert.match(problemOf(sampleDatabase()) ?? "", /not excluded/);
  const moving = emptied();
  sampleProcess(moving, id).roles = [{ role: "storage" }];
  assert.match(problemOf(moving) ?? "", /still has roles: storage/);
  const unknown = emptied();
  delete sampleProcess(unknown, id).roles;
  assert.match(problemOf(unknown) ?? "", /roles are unknown/);
});

test("[S60] data.state proves nothing", () => {
  const sample = sampleDatabase();
  const { data } = sample.status.cluster ?? {};
  if (data) data.state = { name: "healthy", healthy: true, min_replicas_remaining: 2 };
  assert.notEqual(problemOf(sample), undefined);
});

/** How often a part of the status is read while the proofs of some process groups are made. */
function readsFor(count: number): number {
  const sample = emptied();
  let reads = 0;
  const { cluster, ...rest } = sample.status;
  const status = {
    ...rest,
    get cluster() {
      reads += 1;
      return cluster;
    },
  };
  const view = viewOf({ ...sample, status });
  for (let index = 0; index < count; index += 1) {
    const group = { ...sampleGroup(sample, id), addresses: [] };
    assert.equal(removalProblem(view, group), undefined);
  }
  return reads;
}

test("[S160] many process groups that leave at once do not make a status be judged many times", () => {
  const perGroup = (readsFor(201) - readsFor(1)) / 200;
  // Whether it has recovered, which its coordinators are: small parts, not all of its processes.
  assert.ok(perGroup <= 6, `${perGroup} reads for each process group`);
});

test("[S61] one status is not enough, nor an old one, nor one from before our last act", () => {
  const sample = emptied();
  const { status } = sample;
  const [fresh, older] = viewOf(sample).statuses;
  assert.ok(fresh && older);
  const old = { status, observedMs: sampleNowMs - 60_001 };
  for (const statuses of [[fresh], [fresh, old], []]) {
    assert.match(problemOf(sample, { statuses }) ?? "", /second fresh status/);
  }
  const lastDatabaseWriteMs = sampleNowMs - 2_000;
  assert.match(problemOf(sample, { lastDatabaseWriteMs }) ?? "", /second fresh status/);
  const before = viewOf(sampleDatabase()).statuses[1];
  assert.ok(before);
  assert.match(problemOf(sample, { statuses: [fresh, before] }) ?? "", /not excluded/);
});

test("[S62] it runs out: the newest status must be fresh, complete and fully recovered", () => {
  const sample = emptied();
  const nowMs = sampleNowMs + 120_000;
  assert.match(problemOf(sample, { nowMs }) ?? "", /seconds old/);
  const lost = emptied();
  const recovery = lost.status.cluster?.recovery_state;
  if (recovery) recovery.name = "all_logs_recruited";
  assert.match(problemOf(lost) ?? "", /not fully recovered/);
  const partial = emptied();
  partial.status.cluster?.messages?.push({ name: "status_incomplete" });
  assert.match(problemOf(partial) ?? "", /incomplete/);
});

test("[S63] a process that restarted between the two statuses is not the one that was proved empty", () => {
  const sample = emptied();
  const older = structuredClone(sample.status);
  sampleProcess(sample, id).uptime_seconds = 10;
  const statuses = [
    { status: sample.status, observedMs: sampleNowMs - 1_000 },
    { status: older, observedMs: sampleNowMs - 3_000 },
  ];
  assert.match(problemOf(sample, { statuses }) ?? "", /just restarted/);
});

test("[S63] a process that appears or vanishes between the two statuses proves nothing", () => {
  const sample = emptied();
  const older = structuredClone(sample.status);
  delete older.cluster?.processes?.[id];
  const statuses = [
    { status: sample.status, observedMs: sampleNowMs - 1_000 },
    { status: older, observedMs: sampleNowMs - 3_000 },
  ];
  assert.match(problemOf(sample, { statuses }) ?? "", /came or went/);
});

test("[S63] processes of an earlier pod prove nothing about the pod that is there now", () => {
  const sample = emptied();
  sampleProcess(sample, id).uptime_seconds = 10_000;
  assert.match(problemOf(sample) ?? "", /younger than the processes/);
});

test("[S63] all processes that report under the id count, not only one", () => {
  const sample = emptied();
  const other = { ...sampleProcess(sample, id), address: "10.0.9.9:4501", excluded: false };
  const { processes } = sample.status.cluster ?? {};
  if (processes) processes["another"] = other;
  assert.match(problemOf(sample) ?? "", /not excluded/);
});

function dead(): Sample {
  const sample = sampleDatabase();
  killSample(sample, id);
  sample.pods.delete(`sample-${id}`);
  return sample;
}

const locality = `locality_instance_id:${id}`;

function verified(targets: readonly string[], ageMs = 10_000): Partial<SafetyView> {
  const entry = { targets, completedMs: sampleNowMs - ageMs };
  return { knowledge: { verified: new Map([[id, entry]]) } };
}

test("[S64] a process that does not report needs its exclusion, its confirmation and all copies", () => {
  const sample = dead();
  assert.equal(hasAbsentProcesses(viewOf(sample), sampleGroup(sample, id)), true);
  assert.match(problemOf(sample) ?? "", /not all of its addresses are excluded/);
  excludeSample(sample, { locality });
  assert.match(problemOf(sample) ?? "", /has not confirmed/);
  assert.equal(problemOf(sample, verified([locality])), undefined);
  assert.match(problemOf(sample, verified([locality], 300_001)) ?? "", /has not confirmed/);
  assert.match(problemOf(sample, verified(["10.0.0.1"])) ?? "", /has not confirmed/);
  const state = sample.status.cluster?.data?.team_trackers?.[0]?.state;
  if (state) state.min_replicas_remaining = 1;
  assert.match(problemOf(sample, verified([locality])) ?? "", /1 of 2 copies/);
});

test("[S64] with exclusions by address every known address counts", () => {
  const sample = dead();
  sampleGroup(sample, id).addresses = ["10.0.0.1", "10.0.0.99"];
  excludeSample(sample, { address: "10.0.0.1" });
  assert.match(problemOf(sample, verified(["10.0.0.1"])) ?? "", /not all of its addresses/);
  excludeSample(sample, { address: "10.0.0.99" });
  assert.match(problemOf(sample, verified(["10.0.0.1"])) ?? "", /has not confirmed/);
  assert.equal(problemOf(sample, verified(["10.0.0.1", "10.0.0.99"])), undefined);
});

test("[S65] without any address only a pod that found no place for an hour may go", () => {
  const sample = dead();
  const group = sampleGroup(sample, id);
  delete group.addresses;
  assert.match(problemOf(sample) ?? "", /no known address/);
  const since = (ageSeconds: number): number => sampleNowMs / 1000 - ageSeconds;
  group.processGroupConditions = [{ type: "PodPending", timestamp: since(3_600) }];
  assert.match(problemOf(sample) ?? "", /no known address/);
  group.processGroupConditions = [{ type: "PodPending", timestamp: since(3_601) }];
  assert.equal(problemOf(sample), undefined);
});

test("[S66] a coordinator is not certified, by whatever name it is known", () => {
  const sample = sampleDatabase();
  emptySampleProcess(sample, "log-1");
  const view = viewOf(sample);
  assert.match(removalProblem(view, sampleGroup(sample, "log-1")) ?? "", /coordinator/);
  killSample(sample, "log-1");
  assert.match(removalProblem(view, sampleGroup(sample, "log-1")) ?? "", /coordinator/);
  const [first] = sample.status.client?.coordinators?.coordinators ?? [];
  if (first) first.address = "sample-log-1.sample.default.svc.cluster.local:4501";
  delete sample.status.cluster?.connection_string;
  sampleGroup(sample, "log-1").addresses = [];
  sample.pods.delete("sample-log-1");
  assert.match(removalProblem(view, sampleGroup(sample, "log-1")) ?? "", /coordinator/);
});
