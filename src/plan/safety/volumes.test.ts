// Which claims are data about to be lost, which are lost, and what they forbid.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import type { DisruptiveAction } from "../action.ts";
import { actRefusal } from "./act-refusal.ts";
import { disruptionBudget } from "./budget.ts";
import { hasAbsentProcesses } from "./certificate.ts";
import { ledgerVerdict } from "./ledger-verdict.ts";
import {
  emptySampleProcess,
  sampleDatabase,
  sampleEntry,
  sampleGroup,
  sampleNowMs,
  viewOf,
} from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";
import { claimsOfPods, volumeProblem, withVolumeClaim } from "./volumes.ts";
import type { VolumeProblem } from "./volumes.ts";

const id = "storage-1";
const podName = `sample-${id}`;
const claimName = `${podName}-data`;

function claim(sample: Sample): Stored<PersistentVolumeClaim> {
  const found = sample.pvcs.get(claimName);
  if (found === undefined) throw new Error("there is no claim");
  return found;
}

function pod(sample: Sample) {
  const found = sample.pods.get(podName);
  if (found === undefined) throw new Error("there is no pod");
  return found;
}

type Change = (sample: Sample) => void;

const going: Change = (sample) => {
  claim(sample).metadata.deletionTimestamp = formatTime(sampleNowMs);
};
const remembered: Change = (sample) => {
  sampleGroup(sample, id).volumeClaim = `claim-${id}`;
};
const other: Change = (sample) => {
  sampleGroup(sample, id).volumeClaim = "claim-of-then";
};
const gone: Change = (sample) => void sample.pvcs.delete(claimName);
const podless: Change = (sample) => void sample.pods.delete(podName);
const ended: Change = (sample) => {
  pod(sample).status = { ...pod(sample).status, phase: "Failed" };
};
const young: Change = (sample) => {
  claim(sample).metadata.creationTimestamp = formatTime(sampleNowMs);
  pod(sample).status = { ...pod(sample).status, startTime: formatTime(sampleNowMs - 5_000) };
};
const slowNode: Change = (sample) => {
  claim(sample).metadata.creationTimestamp = formatTime(sampleNowMs - 60_000);
  pod(sample).metadata.creationTimestamp = formatTime(sampleNowMs - 59_000);
  pod(sample).status = { ...pod(sample).status, startTime: formatTime(sampleNowMs - 3_600_000) };
};
const elsewhere: Change = (sample) => {
  pod(sample).spec = { containers: [], volumes: [{ name: "data", emptyDir: {} }] };
};

type Verdict = Pick<VolumeProblem, "kind" | "state"> | undefined;
const cases: [string, Change[], Verdict][] = [
  ["a claim that stays", [], undefined],
  ["the claim that was noted", [remembered], undefined],
  ["a claim that is being deleted", [going], { kind: "atRisk", state: "deleting" }],
  ["one whose pod is gone", [going, podless], { kind: "lost", state: "deleting" }],
  ["one whose pod has ended", [going, ended], { kind: "lost", state: "deleting" }],
  ["no claim under a running pod", [gone], { kind: "atRisk", state: "gone" }],
  ["no claim and no pod, but a note", [remembered, gone, podless], { kind: "lost", state: "gone" }],
  ["no claim, no pod and no note", [gone, podless], undefined],
  ["another claim than the noted one", [other], { kind: "lost", state: "other" }],
  ["a node whose clock is an hour behind", [slowNode], undefined],
  ["a claim that is younger than its pod", [young], { kind: "lost", state: "other" }],
  [
    "a claim without its volume",
    [(sample) => void (claim(sample).status = { phase: "Lost" })],
    { kind: "lost", state: "withoutVolume" },
  ],
  ["a pod that keeps its data elsewhere", [gone, elsewhere], undefined],
  [
    "a process group that never reported",
    [going, (sample) => void (sampleGroup(sample, id).faultDomain = "")],
    undefined,
  ],
  [
    "a process group that leaves",
    [
      going,
      (sample) => {
        const group = sampleGroup(sample, id);
        group.removalTimestamp = formatTime(sampleNowMs);
        group.exclusionTimestamp = formatTime(sampleNowMs);
      },
    ],
    undefined,
  ],
];
for (const [title, changes, expected] of cases) {
  test(`[S100] [S103] [S104] ${title}: ${expected?.kind ?? "no problem"}`, () => {
    const sample = sampleDatabase();
    for (const change of changes) change(sample);
    const found = volumeProblem(viewOf(sample), sampleGroup(sample, id));
    assert.deepEqual(found && { kind: found.kind, state: found.state }, expected);
  });
}

test("[S100] before there is a database nothing is at risk", () => {
  const sample = sampleDatabase();
  going(sample);
  const view = viewOf(sample);
  const { status, ...cluster } = view.cluster;
  const unborn = { ...view, cluster: { ...cluster, status: { ...status, configured: false } } };
  assert.equal(volumeProblem(unborn, sampleGroup(sample, id)), undefined);
});

function deletionOf(because: (DisruptiveAction & { type: "deletePods" })["because"]) {
  const basis = { name: podName, uid: `uid-${id}`, resourceVersion: "1" };
  return {
    type: "deletePods" as const,
    step: "test",
    because,
    pods: [{ basis, processGroupId: id }],
    evidenceMs: sampleNowMs - 1_000,
    needsLock: false,
  };
}

const reasons: [Parameters<typeof deletionOf>[0], Change[]][] = [
  ["update", []],
  ["buggify", []],
  ["incompatible", []],
  ["terminal", [ended]],
  ["unstarted", [(sample) => void (pod(sample).status = { phase: "Pending" })]],
];
for (const [because, changes] of reasons) {
  test(`[S100] a pod whose claim is being deleted is not deleted, whatever for: ${because}`, () => {
    const sample = sampleDatabase();
    sample.status.cluster!.processes =
      because === "unstarted" ? {} : sample.status.cluster!.processes!;
    for (const change of changes) change(sample);
    const before = actRefusal(viewOf(sample), deletionOf(because));
    assert.notEqual(before?.reason, "VolumeAtRisk");
    going(sample);
    const after = actRefusal(viewOf(sample), deletionOf(because));
    assert.equal(after?.reason, "VolumeAtRisk", after?.message);
    assert.match(after?.message ?? "", /sample-storage-1-data is being deleted/);
  });
}

test("[S109] a pod in which the database keeps data without a claim is not deleted for an update", () => {
  const sample = sampleDatabase();
  sampleGroup(sample, id).processClass = "unset";
  const refused = actRefusal(viewOf(sample), deletionOf("update"));
  assert.equal(refused?.reason, "VolumeAtRisk", refused?.message);
  assert.match(refused?.message ?? "", /the data of storage-1 lies in its pod alone/);
  assert.notEqual(actRefusal(viewOf(sample), deletionOf("terminal"))?.reason, "VolumeAtRisk");
});

test("[S102] the zone of a volume at risk is down until the data is elsewhere", () => {
  const sample = sampleDatabase();
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 1);
  going(sample);
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 0);
  emptySampleProcess(sample, id);
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 1);
});

test("[S102] a restart in place leaves volumes where they are", () => {
  const sample = sampleDatabase();
  for (const each of sample.pvcs.values())
    each.metadata.deletionTimestamp = formatTime(sampleNowMs);
  const restart = {
    type: "killProcesses" as const,
    step: "test",
    addresses: ["10.0.0.1:4501"],
    processGroupIds: [id],
    isUpgrade: false,
    evidenceMs: sampleNowMs - 1_000,
    needsLock: false,
  };
  assert.equal(actRefusal(viewOf(sample), restart), undefined);
});

test("[S104] a lost copy keeps its zone down though its process is empty, and needs a waiting exclusion", () => {
  const sample = sampleDatabase();
  emptySampleProcess(sample, id);
  assert.equal(hasAbsentProcesses(viewOf(sample), sampleGroup(sample, id)), false);
  other(sample);
  assert.equal(disruptionBudget(viewOf(sample)).zonesAllowed, 0);
  assert.equal(hasAbsentProcesses(viewOf(sample), sampleGroup(sample, id)), true);
});

test("[S44] [S104] a process that comes back on another volume does not end the deletion of its pod", () => {
  const sample = sampleDatabase();
  sample.status.cluster!.processes![id]!.uptime_seconds = 5;
  const entry = sampleEntry({ processGroupIds: [id], podUids: ["uid-of-then"] });
  const verdict = () => ledgerVerdict(entry, viewOf(sample), viewOf(sample).statuses[0]);
  assert.equal(verdict(), "ended");
  other(sample);
  assert.equal(verdict(), "open");
});

test("[S103] the claim of a process that reports is noted once, and never one that came later", () => {
  const sample = sampleDatabase();
  const group = sampleGroup(sample, id);
  const noted = withVolumeClaim(viewOf(sample), group);
  assert.equal(noted.volumeClaim, `claim-${id}`);
  claim(sample).metadata.uid = "another";
  assert.equal(withVolumeClaim(viewOf(sample), noted), noted);
  young(sample);
  assert.equal(withVolumeClaim(viewOf(sample), group), group);
});

test("[S107] the claims to be asked for are those with data, each once", () => {
  const sample = sampleDatabase();
  const pods = ["storage-1", "storage-1", "log-2", "stateless-1"].map((processGroupId) => ({
    processGroupId,
  }));
  assert.deepEqual(claimsOfPods(viewOf(sample), { pods }), ["sample-log-2-data", claimName]);
});
