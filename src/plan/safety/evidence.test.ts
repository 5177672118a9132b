// Which statuses are evidence, shown on a made-up database and on statuses of a real one.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { capturedStatus } from "../../../test/fixtures/captured-status.ts";
import { evidenceRefusal, statusGap, statusProblem } from "./evidence.ts";
import { sampleDatabase, sampleNowMs, viewOf } from "../../../test/fixtures/sample-view.ts";
import { knownDeadAddresses } from "./view.ts";

const limits = { lastWriteMs: 0, nowMs: sampleNowMs, maximumAgeMs: 60_000 };

function seen(status: DatabaseStatus, ageMs = 1_000) {
  return { kind: "seen" as const, status, observedMs: sampleNowMs - ageMs };
}

test("[S10] a database that does not answer proves nothing", () => {
  const silence = {
    kind: "missing" as const,
    reason: "Unreachable" as const,
    message: "timed out",
    sinceMs: 0,
  };
  const refusal = evidenceRefusal(silence, limits);
  assert.equal(refusal?.reason, "DatabaseUnreachable");
  assert.match(refusal?.message ?? "", /timed out/);
});

test("[S11] a status asked for before our last act ended proves nothing", () => {
  const { status } = sampleDatabase();
  for (const lastWriteMs of [sampleNowMs - 1_000, sampleNowMs - 500]) {
    assert.equal(
      evidenceRefusal(seen(status), { ...limits, lastWriteMs })?.reason,
      "EvidenceStale",
    );
  }
  const before = { ...limits, lastWriteMs: sampleNowMs - 1_001 };
  assert.equal(evidenceRefusal(seen(status), before), undefined);
});

test("[S12] a status of more than a minute proves nothing", () => {
  const { status } = sampleDatabase();
  assert.equal(evidenceRefusal(seen(status, 60_001), limits)?.reason, "EvidenceStale");
  assert.equal(evidenceRefusal(seen(status, 60_000), limits), undefined);
});

const incomplete: [string, (status: DatabaseStatus) => void, RegExp][] = [
  [
    "[S13] an unavailable database",
    ({ client }) => {
      if (client?.database_status) client.database_status.available = false;
    },
    /not available/,
  ],
  ["[S13] no word about availability", (status) => delete status.client?.database_status, /not av/],
  ...["reading_coordinated_state", "recruiting_transaction_servers", "recovery_transaction"].map(
    (name): (typeof incomplete)[number] => [
      `[S14] the recovery state ${name}`,
      ({ cluster }) => {
        if (cluster?.recovery_state) cluster.recovery_state.name = name;
      },
      /recovering/,
    ],
  ),
  ["[S14] no recovery state", ({ cluster }) => delete cluster?.recovery_state, /recovering/],
  ["[S15] no list of processes", ({ cluster }) => delete cluster?.processes, /no processes/],
  [
    "[S15] no roles",
    ({ cluster }) => {
      for (const process of Object.values(cluster?.processes ?? {})) process.roles = [];
    },
    /no roles/,
  ],
  ...[
    "status_incomplete",
    "status_incomplete_timeout",
    "unreachable_master_worker",
    "unreachable_dataDistributor_worker",
    "unreachable_processes",
    "unreadable_configuration",
  ].map((name): (typeof incomplete)[number] => [
    `[S16] the message ${name}`,
    ({ cluster }) => cluster?.messages?.push({ name }),
    /incomplete|cannot be reached/,
  ]),
];

for (const [title, change, expected] of incomplete) {
  test(`${title} makes a status incomplete`, () => {
    const { status } = sampleDatabase();
    assert.equal(evidenceRefusal(seen(status), limits), undefined);
    change(status);
    const refusal = evidenceRefusal(seen(status), limits);
    assert.equal(refusal?.reason, "StatusIncomplete");
    assert.match(refusal?.message ?? "", expected);
    assert.equal(statusProblem(seen(status), limits), refusal?.message);
  });
}

test("[S14] a real database that lost a hall or a region is evidence", () => {
  for (const name of ["tdh-11-hall3-down-75s", "tdc-06-dc3-down-80s", "regions-13-dc1-down-35s"]) {
    assert.equal(statusGap(capturedStatus(name)), undefined, name);
  }
});

test("[S14] real statuses of healthy databases are evidence, those of broken ones are not", () => {
  for (const name of ["03-healthy-double", "30-storage-2-down", "tls-01-healthy", "40-locked"]) {
    assert.equal(statusGap(capturedStatus(name)), undefined, name);
  }
  const broken = [
    "01-no-database",
    "05-stuck-after-configure-three_datacenter",
    "34-two-of-three-coordinators-down",
    "36-healthy-again",
    "39-all-storages-down",
  ];
  for (const name of broken) assert.notEqual(statusGap(capturedStatus(name)), undefined, name);
});

function withUnreachable(address: string, reasons: string[]) {
  const sample = sampleDatabase();
  sample.status.cluster?.messages?.push(
    { name: "unreachable_processes", unreachable_processes: [{ address }] },
    { name: "status_incomplete", reasons: reasons.map((description) => ({ description })) },
  );
  return sample;
}

const processReason = "Cannot retrieve all process status information.";

test("[S17] a process that is known to be dead makes no status incomplete", () => {
  const sample = withUnreachable("10.0.0.2:4501", [processReason]);
  sample.pods.delete("sample-storage-2");
  assert.equal(statusGap(sample.status, knownDeadAddresses(viewOf(sample))), undefined);
});

test("[S17] other reasons, and processes that have just started, still do", () => {
  const other = withUnreachable("10.0.0.2:4501", [processReason, "Unknown cache statistics."]);
  other.pods.delete("sample-storage-2");
  assert.match(statusGap(other.status, knownDeadAddresses(viewOf(other))) ?? "", /incomplete/);
  const newcomer = withUnreachable("10.0.0.2:4501", [processReason]);
  newcomer.pods.delete("sample-storage-2");
  delete newcomer.status.cluster?.processes?.["log-1"]?.locality;
  assert.match(statusGap(newcomer.status, knownDeadAddresses(viewOf(newcomer))) ?? "", /incompl/);
});

test("[S18] a process whose pod runs, or of which nobody here knows, is not known to be dead", () => {
  const running = withUnreachable("10.0.0.2:4501", [processReason]);
  assert.match(
    statusGap(running.status, knownDeadAddresses(viewOf(running))) ?? "",
    /cannot be reached: 10\.0\.0\.2:4501/,
  );
  const foreign = withUnreachable("10.9.9.9:4501", [processReason]);
  const alone = viewOf(foreign);
  assert.equal(statusGap(foreign.status, knownDeadAddresses(alone)), undefined);
  const spec = { version: "7.3.79", lockOptions: { disableLocks: false } };
  const shared = { ...alone, cluster: { ...alone.cluster, spec } };
  assert.match(statusGap(foreign.status, knownDeadAddresses(shared)) ?? "", /10\.9\.9\.9/);
});
