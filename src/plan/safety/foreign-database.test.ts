// Whether the database that answers is the one of this resource.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { foreignProblem, ownObservation } from "./foreign-database.ts";
import { sampleDatabase, sampleNowMs, viewOf } from "../../../test/fixtures/sample-view.ts";
import type { Sample } from "../../../test/fixtures/sample-view.ts";

/** As it would look to us with the connection string of another resource. */
function otherDatabase({ status }: Sample): DatabaseStatus {
  const text = JSON.stringify(status).replaceAll("10.0.", "10.9.");
  return JSON.parse(text) as DatabaseStatus;
}

interface Case {
  title: string;
  isForeign: boolean;
  change?: (sample: Sample, other: DatabaseStatus) => void;
  nowMs?: number;
}

const cases: Case[] = [
  { title: "none of our processes is in it", isForeign: true },
  {
    title: "one of our processes is in it",
    isForeign: false,
    change: ({ status }, other) => {
      const [[key = "", own] = []] = Object.entries(status.cluster?.processes ?? {});
      if (other.cluster?.processes && own) other.cluster.processes[key] = own;
    },
  },
  {
    title: "one of our pods is a coordinator",
    isForeign: false,
    change: (_, { client }) =>
      client?.coordinators?.coordinators?.push({ address: "10.0.1.1:4501", reachable: false }),
  },
  {
    title: "one of our names is a coordinator",
    isForeign: false,
    change: (_, { client }) =>
      client?.coordinators?.coordinators?.push({
        address: "sample-log-1.sample.default.svc.cluster.local:4501",
        reachable: false,
      }),
  },
  {
    title: "our processes speak another protocol",
    isForeign: false,
    change: (_, { cluster }) => {
      if (cluster) cluster.incompatible_connections = ["10.0.0.1:4501"];
    },
  },
  {
    title: "it does not serve",
    isForeign: false,
    change: (_, { client }) => {
      if (client?.database_status) client.database_status.available = false;
    },
  },
  {
    title: "none of our pods runs",
    isForeign: false,
    change: ({ pods }) => pods.clear(),
  },
  {
    title: "none of ours ever reported",
    isForeign: false,
    change: ({ groups }) => groups.forEach((group) => delete group.faultDomain),
  },
];
for (const { title, isForeign, change } of cases) {
  test(`[S150] ${title}: ${isForeign ? "another database" : "ours, as far as is known"}`, () => {
    const sample = sampleDatabase();
    const other = otherDatabase(sample);
    change?.(sample, other);
    const view = viewOf(sample);
    assert.equal(foreignProblem(view, other) !== undefined, isForeign);
    const seen = ownObservation(view, { kind: "seen", status: other, observedMs: sampleNowMs });
    assert.equal(seen.kind, isForeign ? "missing" : "seen");
  });
}

test("[S150] a pod that has just started may not have found its database yet", () => {
  const sample = sampleDatabase();
  const other = otherDatabase(sample);
  for (const { status } of sample.pods.values()) {
    if (status) status.startTime = new Date(sampleNowMs - 30_000).toISOString();
  }
  const { pods: _pods, ...view } = viewOf(sample);
  assert.equal(foreignProblem({ ...view, pods: sample.pods }, other), undefined);
});
