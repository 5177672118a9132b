// What the one door refuses because of a person: a maintenance that a person announced, and a fence that nobody can bear.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DisruptiveAction } from "../action.ts";
import { nothingKnown } from "../questions.ts";
import { actRefusal } from "./act-refusal.ts";
import type { SafetyView } from "./view.ts";
import {
  killSample,
  sampleDatabase,
  sampleGroup,
  sampleNowMs,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";

const base = { step: "test", evidenceMs: sampleNowMs - 1_000, needsLock: false };

function podsOf(ids: readonly string[]) {
  return ids.map((id) => ({
    basis: { name: `sample-${id}`, uid: `uid-${id}`, resourceVersion: "1" },
    processGroupId: id,
  }));
}

const updating: DisruptiveAction = {
  ...base,
  ...{ type: "deletePods", because: "update", pods: podsOf(["storage-1"]) },
};
const fencing = (...ids: string[]): DisruptiveAction => ({
  ...base,
  ...{ type: "fencePods", pods: podsOf(ids) },
});
const restarting = (isUpgrade: boolean): DisruptiveAction => ({
  ...base,
  type: "killProcesses",
  ...{ addresses: ["10.0.1.1:4501"], processGroupIds: ["log-1"], isUpgrade },
});
const resetting = (zone: string): DisruptiveAction => ({
  ...base,
  ...{ type: "resetMaintenanceZone", zone },
});

function reasonOf(
  sample: Sample,
  action: DisruptiveAction,
  overrides: Partial<SafetyView> = {},
): string {
  const view = viewOf(sample, overrides);
  const fence = action.type === "fencePods" ? action.pods.map((pod) => pod.processGroupId) : [];
  const cluster = { ...view.cluster, spec: { fence, ...view.cluster.spec } };
  const refusal = actRefusal({ ...view, cluster }, action);
  return refusal === undefined ? "" : `${refusal.reason}: ${refusal.message}`;
}

function maintained(zone: string): Sample {
  const sample = sampleDatabase();
  if (sample.status.cluster) sample.status.cluster.maintenance_zone = zone;
  return sample;
}

function listed(ids: readonly string[], ageSeconds = 60): Partial<SafetyView> {
  const since = Math.floor(sampleNowMs / 1000) - ageSeconds;
  const entries = new Map(ids.map((id) => [id, since]));
  const knowledge = { ...nothingKnown, maintenanceList: { entries, observedMs: sampleNowMs } };
  return { knowledge };
}

test("[MNT7] nothing planned happens beside a person's maintenance, or while nobody knows whose it is", () => {
  const zone = sampleGroup(sampleDatabase(), "storage-1").faultDomain ?? "";
  const sample = maintained(zone);
  for (const action of [updating, fencing("storage-1"), restarting(false)]) {
    assert.match(
      reasonOf(sample, action, listed([`person/${zone}`])),
      /^MaintenanceRunning: a person has fault domain .* under maintenance/,
    );
    assert.match(reasonOf(sample, action), /^EvidenceStale: it is not known yet whose/);
    assert.doesNotMatch(reasonOf(sample, action, listed([])), /person|whose/);
    assert.doesNotMatch(reasonOf(sample, action, listed(["person/other"])), /person|whose/);
    const old = listed([`person/${zone}`], 5 * 3_600);
    assert.doesNotMatch(reasonOf(sample, action, old), /person|whose/);
  }
  assert.doesNotMatch(
    reasonOf(sample, restarting(true), listed([`person/${zone}`])),
    /person|whose/,
  );
});

test("[MNT7] [MNT8] a mark counts for four hours, whatever the operator's own lists count for", () => {
  const sample = maintained("zone-1");
  const mark = listed(["person/zone-1"], 3 * 3_600);
  const options = { ...viewOf(sample).options, maintenanceStaleMs: 600_000 };
  assert.match(reasonOf(sample, restarting(false), { ...mark, options }), /^MaintenanceRunning/);
});

test("[MNT6] only the maintenance that was looked at is ended", () => {
  assert.equal(reasonOf(maintained("zone-1"), resetting("zone-1")), "");
  assert.match(
    reasonOf(maintained("zone-2"), resetting("zone-1")),
    /^EvidenceStale: zone-2 is under maintenance by now/,
  );
});

test("[FENCE3] a process that serves is stopped only by a database that is whole and can lose its fault domain", () => {
  assert.equal(reasonOf(sampleDatabase(), fencing("storage-1")), "");
  const reduced = sampleDatabase();
  killSample(reduced, "storage-2");
  assert.match(reasonOf(reduced, fencing("storage-1")), /^BudgetExhausted/);
  assert.equal(reasonOf(reduced, fencing("storage-2")), "", "it does not serve");
  const open = sampleDatabase();
  open.status.cluster?.messages?.push({ name: "status_incomplete" });
  assert.match(reasonOf(open, fencing("storage-1")), /^StatusIncomplete/);
  const two = reasonOf(sampleDatabase(), fencing("storage-1", "storage-2", "storage-3"));
  assert.match(two, /^BudgetExhausted/);
});

test("[FENCE7] a fence that nobody asks for any more is refused at the door", () => {
  const sample = sampleDatabase();
  const refusal = actRefusal(viewOf(sample), fencing("storage-1"));
  assert.match(refusal?.message ?? "", /nobody asks for a fence of storage-1 any more/);
});
