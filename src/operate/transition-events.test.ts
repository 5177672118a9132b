// Tests of the events that tell of changes.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterStatus, Condition } from "../api/cluster.ts";
import { formatTime } from "../kube/time.ts";
import { waitReasons } from "../plan/reasons/registry.ts";
import type { WaitReason } from "../plan/reasons/registry.ts";
import type { Wait } from "./dated-plan.ts";
import { concernAt, concernOf } from "../plan/reasons/concern.ts";
import { statusEvents, waitEvents } from "./transition-events.ts";

const lookAfterMs = 60_000;
const startMs = 1_700_000_000_000;

const nothingTold = { begun: new Set<string>(), due: new Set<string>() };

function wait(reason: WaitReason, sinceMs = startMs, message = `waits: ${reason}`): Wait {
  return { step: "addPods", reason, message, sinceMs, retryAtMs: sinceMs + 1000, remedy: "" };
}

test("[E20] a wait that only a person can end is told when it starts, and once", () => {
  const first = waitEvents([wait("ConfigureDisabled")], nothingTold, undefined, startMs);
  assert.deepEqual(first.events, [
    { type: "Warning", reason: "ConfigureDisabled", message: "waits: ConfigureDisabled" },
  ]);
  const changed = wait("ConfigureDisabled", startMs, "other words");
  const second = waitEvents([changed], first.told, undefined, startMs + 5000);
  assert.deepEqual(second.events, []);
  const ended = waitEvents([], second.told, undefined, startMs + 6000);
  const anew = wait("ConfigureDisabled", startMs + 7000);
  assert.equal(waitEvents([anew], ended.told, undefined, startMs + 7000).events.length, 1);
});

test("[E20] a wait that may pass by itself is told when it lasts", () => {
  const waits = [wait("PodUnschedulable"), wait("PodUnschedulable")];
  const early = waitEvents(waits, nothingTold, undefined, startMs + lookAfterMs - 1);
  assert.deepEqual(early.events, []);
  const late = waitEvents(waits, early.told, undefined, startMs + lookAfterMs);
  assert.deepEqual(
    late.events.map(({ reason }) => reason),
    ["PodUnschedulable"],
  );
  assert.deepEqual(waitEvents(waits, late.told, undefined, startMs + 2 * lookAfterMs).events, []);
});

test("[E20] what ordinary work brings with it is told when it lasts longer than such work does", () => {
  const waits = [wait("CoordinatorsUnfit"), wait("UpgradePending"), wait("ProcessesMissing")];
  const minuteMs = 60_000;
  assert.deepEqual(waitEvents(waits, nothingTold, undefined, startMs + 2 * minuteMs).events, []);
  const late = waitEvents(waits, nothingTold, undefined, startMs + 10 * minuteMs).events;
  assert.deepEqual(
    late.map(({ reason }) => reason),
    ["CoordinatorsUnfit", "UpgradePending", "ProcessesMissing"],
  );
});

test("[E20] a wait is judged by its reason and its age", () => {
  const minuteMs = 60_000;
  const table: [WaitReason | "InvalidSpec", number, string][] = [
    ["InvalidSpec", 0, "person"],
    ["HallsMissing", 0, "person"],
    ["PodImageUnavailable", 0.9, "passing"],
    ["PodImageUnavailable", 1, "look"],
    ["CoordinatorsUnfit", 9, "passing"],
    ["CoordinatorsUnfit", 10, "look"],
    ["PodPending", 59, "passing"],
    ["PodPending", 60, "look"],
  ];
  for (const [reason, minutes, expected] of table) {
    assert.equal(concernAt(reason, minutes * minuteMs), expected, `${reason} ${minutes}`);
  }
});

test("[E21] a usual wait is never told", () => {
  const passing = waitReasons.filter((reason) => concernOf(reason) === "passing");
  assert.ok(passing.includes("PodPending") && passing.includes("CommandRunning"));
  const waits = passing.map((reason) => wait(reason));
  assert.deepEqual(waitEvents(waits, nothingTold, undefined, startMs + 1e9).events, []);
});

test("[E22] an operator that starts does not repeat what its predecessor told", () => {
  const stored: ClusterStatus = {
    blockedBy: [
      { step: "addPods", reason: "VolumePending", message: "", since: formatTime(startMs) },
    ],
  };
  const waits = [wait("VolumePending"), wait("PodCrashLooping")];
  const { events } = waitEvents(waits, undefined, stored, startMs + 2 * lookAfterMs);
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ["PodCrashLooping"],
  );
});

function statusWith(...conditions: Pick<Condition, "type" | "status" | "reason">[]): ClusterStatus {
  return {
    conditions: conditions.map((condition) => ({
      ...condition,
      message: `because ${condition.reason}`,
      lastTransitionTime: formatTime(startMs),
    })),
  };
}

test("[E23] the loss and the return of the database are told, its creation is not", () => {
  const none = statusWith({ type: "Available", status: "False", reason: "NotConfigured" });
  const up = statusWith({ type: "Available", status: "True", reason: "DatabaseAvailable" });
  const down = statusWith({ type: "Available", status: "Unknown", reason: "StatusMissing" });
  assert.deepEqual(statusEvents(undefined, none, startMs), []);
  assert.deepEqual(statusEvents(none, up, startMs), []);
  assert.deepEqual(statusEvents(up, up, startMs), []);
  assert.deepEqual(statusEvents(up, down, startMs), [
    { type: "Warning", reason: "StatusMissing", message: "because StatusMissing" },
  ]);
  assert.deepEqual(statusEvents(down, up, startMs), [
    { type: "Normal", reason: "DatabaseAvailable", message: "because DatabaseAvailable" },
  ]);
});

test("[E23] a lock of the database is told when it is set and when it is gone", () => {
  const free = statusWith({ type: "Degraded", status: "False", reason: "Healthy" });
  const locked = statusWith({ type: "Degraded", status: "True", reason: "DatabaseLocked" });
  assert.deepEqual(statusEvents(free, locked, startMs), [
    { type: "Warning", reason: "DatabaseLocked", message: "because DatabaseLocked" },
  ]);
  assert.deepEqual(statusEvents(locked, locked, startMs), []);
  assert.deepEqual(
    statusEvents(locked, free, startMs).map(({ type, reason }) => [type, reason]),
    [["Normal", "DatabaseUnlocked"]],
  );
});

test("[E24] the end of a quick change is told by the condition alone, that of a long one and the first also by an event", () => {
  const at = (reconciled: number, lastTransitionTime: string): ClusterStatus => ({
    generations: { reconciled },
    conditions: [
      {
        type: "Reconciled",
        status: "False",
        reason: "Reconciling",
        message: "",
        lastTransitionTime,
      },
    ],
  });
  const told = (before: ClusterStatus | undefined): string[] =>
    statusEvents(before, at(2, ""), startMs).map(({ message }) => message);
  assert.deepEqual(told(at(1, formatTime(startMs - 59_000))), []);
  assert.deepEqual(told(at(1, formatTime(startMs - 60_000))), ["Reconciled generation 2"]);
  assert.deepEqual(told(undefined), ["Reconciled generation 2"]);
  assert.deepEqual(told(at(2, formatTime(startMs - 60_000))), []);
});

test("[P109] an event of a wait is told when the wait begins, and not while it lasts", () => {
  const event = { type: "Normal", reason: "NeedsBounce", message: "not yet" } as const;
  const waits = [{ ...wait("RestartHeld"), event }, wait("PodPending")];
  const first = waitEvents(waits, nothingTold, undefined, startMs);
  assert.deepEqual(first.begun, [event]);
  assert.deepEqual(waitEvents(waits, first.told, undefined, startMs + 1000).begun, []);
  const between = waitEvents([], first.told, undefined, startMs + 2000);
  assert.deepEqual(waitEvents(waits, between.told, undefined, startMs + 3000).begun, [event]);
});

test("[P109] an operator that starts does not tell the beginning of a wait that its predecessor stored", () => {
  const event = { type: "Normal", reason: "NeedsBounce", message: "not yet" } as const;
  const waits = [{ ...wait("RestartHeld"), event }];
  const stored = (reason: string): ClusterStatus => ({
    blockedBy: [{ step: "addPods", reason, message: "", since: formatTime(startMs) }],
  });
  assert.deepEqual(waitEvents(waits, undefined, stored("RestartHeld"), startMs).begun, []);
  assert.deepEqual(waitEvents(waits, undefined, stored("PodPending"), startMs).begun, [event]);
});

test("[CERT6] that certificates expire soon, and that they have expired, is an event each", () => {
  const status = (reason: string): ClusterStatus => ({
    conditions: [
      {
        ...{ type: "CertificateExpiring", status: "True", reason, message: `${reason}!` },
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  });
  const told = (before: ClusterStatus | undefined, after: ClusterStatus): string[] =>
    statusEvents(before, after, startMs).map(({ type, message }) => `${type} ${message}`);
  const [soon, over] = [status("CertificateExpiring"), status("CertificateExpired")];
  assert.deepEqual(told({}, soon), ["Warning CertificateExpiring!"]);
  assert.deepEqual(told(soon, soon), []);
  assert.deepEqual(told(soon, over), ["Warning CertificateExpired!"]);
  assert.deepEqual(told(over, {}), []);
});
