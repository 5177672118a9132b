// Tests of when a status is written.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterStatus } from "../api/cluster.ts";
import { holdMs, statusDue } from "./status-writes.ts";

const group = { processGroupID: "log-1", processClass: "log", addresses: ["10.0.0.1"] };
const stored: ClusterStatus = {
  connectionString: "a:b@c:1",
  configured: true,
  runningVersion: "7.3.79",
  generations: { reconciled: 1 },
  health: { available: true, healthy: true },
  processGroups: [group],
  conditions: [
    {
      type: "Available",
      status: "True",
      reason: "DatabaseAvailable",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ],
  blockedBy: [
    { step: "addPods", reason: "PodPending", message: "m", retryAt: "2026-01-01T00:00:00Z" },
  ],
};

const [condition] = stored.conditions ?? [];
const [wait] = stored.blockedBy ?? [];

test("[OP31] an equal status is not written", () => {
  assert.equal(statusDue(stored, structuredClone(stored)), "unchanged");
});

test("[OP34] when a wait is looked at again is no news", () => {
  const blockedBy = [
    { ...wait, step: "addPods", reason: "PodPending", message: "m", retryAt: "x" },
  ];
  assert.equal(statusDue(stored, { ...stored, blockedBy }), "unchanged");
});

const urgent: [string, Partial<ClusterStatus>][] = [
  ["a connection string", { connectionString: "a:b@d:1" }],
  ["the first configuration", { configured: false }],
  ["another running version", { runningVersion: "7.3.80" }],
  ["a reconciled generation", { generations: { reconciled: 2 } }],
  ["a configuration that is about to change", { databaseConfigurationHash: "another" }],
  ["another kind of listener", { requiredAddresses: { tls: true } }],
  ["a new process group", { processGroups: [group, { ...group, processGroupID: "x-1" }] }],
  ["a removal", { processGroups: [{ ...group, removalTimestamp: "2026-01-01T00:00:00Z" }] }],
  ["the hall of a process group", { processGroups: [{ ...group, hall: "zone-1" }] }],
  ["a skipped exclusion", { processGroups: [{ ...group, exclusionSkipped: true }] }],
];

for (const [title, change] of urgent) {
  test(`[OP32] ${title} is written at once`, () => {
    assert.equal(statusDue(stored, { ...stored, ...change }), "now");
  });
}

test("[OP32] a verdict that turns is written at once, and so is the first status", () => {
  assert.ok(condition !== undefined);
  const conditions = [{ ...condition, status: "False" as const }];
  assert.equal(statusDue(stored, { ...stored, conditions }), "now");
  assert.equal(statusDue(undefined, stored), "now");
});

const news: [string, Partial<ClusterStatus>][] = [
  [
    "a condition of a process group",
    {
      processGroups: [{ ...group, processGroupConditions: [{ type: "PodPending", timestamp: 1 }] }],
    },
  ],
  ["an address", { processGroups: [{ ...group, addresses: ["10.0.0.2"] }] }],
  ["a wait", { blockedBy: [] }],
  ["the database's health", { health: { available: true, healthy: false } }],
];

for (const [title, change] of news) {
  test(`[OP33] ${title} can wait`, () => {
    assert.equal(statusDue(stored, { ...stored, ...change }), "later");
  });
}

const concerning: [string, Partial<ClusterStatus>][] = [
  [
    "a wait that somebody should look at",
    { blockedBy: [{ step: "s", reason: "PodUnschedulable", message: "m" }] },
  ],
  [
    "a cluster that is degraded",
    {
      conditions: [
        ...(stored.conditions ?? []),
        {
          type: "Degraded",
          status: "True",
          reason: "MissingPod",
          message: "",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  ],
];

for (const [title, change] of concerning) {
  test(`[OP33] ${title} waits less`, () => {
    assert.equal(statusDue(stored, { ...stored, ...change }), "soon");
    assert.ok(holdMs("soon", 10_000) < holdMs("later", 10_000));
  });
}

test("[E8] a wait that lasts is renewed after five minutes, and then each time when it is twice as old", () => {
  const at = (retryAt: string, since?: string): ClusterStatus => ({
    ...stored,
    blockedBy: [
      {
        ...{ step: "addPods", reason: "PodPending", message: "m", retryAt },
        ...(since === undefined ? {} : { since }),
      },
    ],
  });
  assert.equal(statusDue(stored, at("2026-01-01T00:04:59Z")), "unchanged");
  assert.equal(statusDue(stored, at("2026-01-01T00:05:00Z")), "later");
  const old = (retryAt: string): ClusterStatus => at(retryAt, "2026-01-01T00:00:00Z");
  const twoHours = old("2026-01-01T02:00:00Z");
  assert.equal(statusDue(twoHours, old("2026-01-01T03:59:59Z")), "unchanged");
  assert.equal(statusDue(twoHours, old("2026-01-01T04:00:00Z")), "later");
});
