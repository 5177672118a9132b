// Whether the primary datacenter can be moved, on statuses of a real database.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { capturedStatus } from "../../../test/fixtures/captured-status.ts";
import { leadershipOf, readinessProblem, shapeProblem } from "./judgement.ts";

type Cluster = NonNullable<DatabaseStatus["cluster"]>;

/** A real database in two regions, at rest, and with something changed. */
function statusWith(change: (cluster: Cluster) => Cluster = (cluster) => cluster): DatabaseStatus {
  const status = capturedStatus("regions-09-healthy-9coord");
  return { ...status, cluster: change(status.cluster ?? {}) };
}

const ready = (change?: (cluster: Cluster) => Cluster, to = "dc2"): string | undefined =>
  readinessProblem(statusWith(change), to, 5);

test("[FO3] a real database at rest can be moved to its other region, and only there", () => {
  const status = statusWith();
  assert.deepEqual(leadershipOf(status).mains, ["dc1", "dc2"]);
  assert.equal(leadershipOf(status).primary, "dc1");
  assert.equal(shapeProblem(status, "dc2"), undefined);
  assert.equal(ready(), undefined);
  assert.match(shapeProblem(status, "dc3") ?? "", /dc3 is no main .* there are dc1 and dc2/);
});

test("[FO3] a database without two usable regions, one that is down and one that is locked is refused", () => {
  const alone = capturedStatus("03-healthy-double");
  assert.match(shapeProblem(alone, "dc2") ?? "", /no two usable regions \(usable_regions 1, 0 reg/);
  const down = capturedStatus("regions-13-dc1-down-35s");
  const unavailable = {
    ...down,
    client: { database_status: { available: false, healthy: false } },
  };
  assert.match(shapeProblem(unavailable, "dc2") ?? "", /not available/);
  const locked = statusWith((cluster) => ({
    ...cluster,
    database_lock_state: { locked: true, lock_uid: "abc" },
  }));
  assert.match(shapeProblem(locked, "dc2") ?? "", /locked by abc/);
  assert.match(shapeProblem({ ...statusWith(), unreadable: ["x"] }, "dc2") ?? "", /as a whole/);
});

test("[FO3] a region that lost its primary is recovering, not ready", () => {
  assert.match(
    readinessProblem(capturedStatus("regions-13-dc1-down-35s"), "dc2", 5) ?? "",
    /recovering/,
  );
});

test("[FO3] lag above the limit or unknown is refused; one that seems to be ahead is none", () => {
  const lag = (seconds?: number) => (cluster: Cluster) => ({
    ...cluster,
    datacenter_lag: seconds === undefined ? {} : { seconds },
  });
  assert.equal(ready(lag(4.9)), undefined);
  assert.equal(ready(lag(-3)), undefined);
  assert.match(ready(lag(5.1)) ?? "", /dc2 is 5.1 s behind, and at most 5 s are allowed/);
  assert.match(ready(lag()) ?? "", /nobody knows how far dc2 is behind/);
  assert.match(ready(lag(Number.NaN)) ?? "", /nobody knows how far dc2 is behind/);
});

test("[FO3] data that is not whole in both regions is refused", () => {
  assert.match(ready((cluster) => ({ ...cluster, full_replication: false })) ?? "", /all data/);
  const populating = (cluster: Cluster): Cluster => ({
    ...cluster,
    data: {
      ...cluster.data,
      team_trackers: [
        { primary: true, state: { healthy: true, name: "healthy" } },
        { primary: false, state: { healthy: true, name: "healthy_populating_region" } },
      ],
    },
  });
  assert.match(ready(populating) ?? "", /other region is not healthy: healthy_populating_region/);
  assert.match(ready((cluster) => ({ ...cluster, data: {} })) ?? "", /both regions is not known/);
});

test("[FO3] fault tolerance that is unknown or below zero is refused", () => {
  assert.match(ready((cluster) => ({ ...cluster, fault_tolerance: {} })) ?? "", /not known/);
  const below = {
    max_zone_failures_without_losing_availability: -1,
    max_zone_failures_without_losing_data: 0,
  };
  assert.match(ready((cluster) => ({ ...cluster, fault_tolerance: below })) ?? "", /below zero/);
});

test("[FO3] a datacenter without storage, logs or satellite logs is refused", () => {
  const without = (center: string, type: string) => (cluster: Cluster) => ({
    ...cluster,
    processes: Object.fromEntries(
      Object.entries(cluster.processes ?? {}).map(([id, process]) => [
        id,
        process.locality?.["dcid"] === center && process.class_type === type
          ? { ...process, excluded: true }
          : process,
      ]),
    ),
  });
  assert.match(ready(without("dc2", "storage")) ?? "", /dc2 has no storage processes/);
  assert.match(ready(without("dc2", "log")) ?? "", /dc2 has no log processes/);
  assert.match(ready(without("dc4", "log")) ?? "", /satellites of dc2 \(dc4\) have no log/);
  assert.equal(ready(without("dc3", "log")), undefined);
});
