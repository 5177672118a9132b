// The door and halls: one hall at a time, and no mode that the processes cannot serve.
import { withoutSafetyCheck } from "../../../test/fixtures/without-check.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DisruptiveAction } from "../action.ts";
import { actRefusal } from "./act-refusal.ts";
import {
  sampleDatabase,
  sampleEntry,
  sampleNowMs,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";
import { secondHallProblem } from "./one-hall.ts";
import type { SafetyView } from "./view.ts";

/** Each zone of the sample is a hall of its own; the first two process groups of a class share one. */
function hallSample(mode = "three_data_hall"): Sample {
  const sample = sampleDatabase();
  for (const { locality } of Object.values(sample.status.cluster?.processes ?? {})) {
    if (locality !== undefined) {
      locality["data_hall"] = locality["zoneid"] === "zone-3" ? "az2" : "az1";
    }
  }
  const configuration = sample.status.cluster?.configuration;
  if (configuration !== undefined) configuration.redundancy_mode = mode;
  return sample;
}

function problem(sample: Sample, ids: readonly string[], more: Partial<SafetyView> = {}) {
  const groups = sample.groups.filter(({ processGroupID }) => ids.includes(processGroupID));
  return secondHallProblem(viewOf(sample, more), groups);
}

test("[HALL21] an act touches one hall, and not while our own work in another is not over", () => {
  const sample = hallSample();
  assert.equal(problem(sample, ["storage-1", "storage-2"]), undefined);
  assert.match(
    problem(sample, ["storage-1", "storage-3"]) ?? "",
    /touch 2 halls \(az1, az2\) at once/,
  );
  const ledger = [{ ...sampleEntry({ type: "deletePods" }), halls: ["az2"] }];
  assert.match(
    problem(sample, ["storage-1"], { ledger }) ?? "",
    /hall az2 comes before hall az1: our own act is not over \(deletePods\)/,
  );
  assert.equal(problem(sample, ["storage-3"], { ledger }), undefined);
  assert.equal(problem(hallSample("triple"), ["storage-1", "storage-3"]), undefined);
});

test("[HALL21] pods that are going, pods without successors and maintenance keep other halls waiting", () => {
  const going = hallSample();
  const pod = going.pods.get("sample-log-3");
  assert.ok(pod !== undefined);
  const metadata = { ...pod.metadata, deletionTimestamp: "2026-01-02T00:00:00Z" };
  going.pods.set("sample-log-3", { ...pod, metadata });
  assert.match(problem(going, ["storage-1"]) ?? "", /the pod of log-3 is not back/);
  const gone = hallSample();
  gone.pods.delete("sample-log-3");
  assert.match(problem(gone, ["storage-1"]) ?? "", /the pod of log-3 is not back/);
  const maintained = hallSample();
  assert.ok(maintained.status.cluster !== undefined);
  maintained.status.cluster.maintenance_zone = "zone-3";
  assert.match(problem(maintained, ["storage-1"]) ?? "", /zone-3 is under maintenance/);
  assert.equal(problem(maintained, ["storage-3"]), undefined);
});

test("[HALL19] the door does not let a mode pass that the processes cannot serve", () => {
  const action: DisruptiveAction = {
    type: "configureDatabase",
    step: "test",
    evidenceMs: sampleNowMs - 1_000,
    needsLock: false,
    arguments: "three_data_hall ssd-2",
    isNew: false,
  };
  const sample = hallSample("triple");
  assert.match(
    actRefusal(viewOf(sample), action)?.message ?? "",
    /three_data_hall needs storage processes in 3 values of data_hall/,
  );
  const blind = viewOf(sample, { checks: withoutSafetyCheck("halls") });
  assert.equal(actRefusal(blind, action), undefined);
  assert.equal(actRefusal(viewOf(sample), { ...action, arguments: "double ssd-2" }), undefined);
  assert.equal(actRefusal(viewOf(hallSample()), action), undefined, "it is in force already");
});
