// Full fault tolerance and the small checks that several steps share.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { capturedStatus } from "../../../test/fixtures/captured-status.ts";
import {
  availabilityProblem,
  generationsProblem,
  performanceProblem,
  recoveryProblem,
} from "./common-checks.ts";
import { faultToleranceProblem } from "./fault-tolerance.ts";
import { sampleDatabase } from "../../../test/fixtures/sample-view.ts";

function problemAfter(change: (status: DatabaseStatus) => void): string {
  const { status } = sampleDatabase();
  assert.equal(faultToleranceProblem(status, "double"), undefined);
  change(status);
  return faultToleranceProblem(status, "double") ?? "";
}

test("[S20] every team has as many copies as the mode asks for, whatever the healthy flags say", () => {
  const trackers = (copies: number | undefined) => (status: DatabaseStatus) => {
    const state = copies === undefined ? {} : { min_replicas_remaining: copies };
    if (status.cluster?.data) status.cluster.data.team_trackers = [{ primary: true, state }];
  };
  assert.match(problemAfter(trackers(1)), /only 1 of 2 copies/);
  assert.match(problemAfter(trackers(undefined)), /unknown/);
  assert.match(
    problemAfter((status) => delete status.cluster?.data),
    /does not tell/,
  );
  assert.equal(faultToleranceProblem(capturedStatus("25-data-movement"), "double"), undefined);
  assert.match(
    faultToleranceProblem(capturedStatus("37-storage-2-down-healing"), "double") ?? "",
    /1 of 2/,
  );
});

test("[S20] the mode that the database runs with counts before the wanted one", () => {
  const { status } = sampleDatabase();
  assert.equal(faultToleranceProblem(status, "triple"), undefined);
  if (status.cluster?.configuration) status.cluster.configuration.redundancy_mode = "triple";
  assert.match(faultToleranceProblem(status, "double") ?? "", /2 of 3/);
});

test("[S21] every log set is whole, the remote and the satellite ones too", () => {
  const logs = (set: object) => (status: DatabaseStatus) => {
    if (status.cluster) status.cluster.logs = [set];
  };
  assert.match(problemAfter(logs({ log_replication_factor: 2, log_fault_tolerance: 0 })), /log/);
  const satellite = { satellite_log_replication_factor: 2, satellite_log_fault_tolerance: 0 };
  assert.match(problemAfter(logs(satellite)), /log is missing/);
  const remote = { remote_log_replication_factor: 2, remote_log_fault_tolerance: 0 };
  assert.match(problemAfter(logs(remote)), /log is missing/);
  assert.match(
    problemAfter((status) => delete status.cluster?.logs),
    /lists no logs/,
  );
});

test("[S22] every coordinator answers", () => {
  const problem = problemAfter(({ client }) => {
    const [first] = client?.coordinators?.coordinators ?? [];
    if (first) first.reachable = false;
  });
  assert.match(problem, /10\.0\.1\.1:4501 cannot be reached/);
  assert.match(
    problemAfter(({ client }) => delete client?.coordinators),
    /majority/,
  );
  assert.match(
    problemAfter(({ client }) => delete client?.database_status),
    /not available/,
  );
});

test("[S23] the small checks name what stands against a disturbance", () => {
  const { status } = sampleDatabase();
  assert.equal(availabilityProblem(status), undefined);
  assert.equal(generationsProblem(status), undefined);
  assert.equal(recoveryProblem(status, 120, "7.3.79"), undefined);
  assert.equal(performanceProblem(status), undefined);
  const { cluster } = status;
  if (cluster?.recovery_state) {
    cluster.recovery_state.active_generations = 11;
    cluster.recovery_state.seconds_since_last_recovered = 119;
  }
  assert.match(generationsProblem(status) ?? "", /more than 10/);
  assert.match(recoveryProblem(status, 120, "7.3.79") ?? "", /less than 120/);
  assert.equal(recoveryProblem(status, 120, "7.1.21"), undefined);
  if (cluster) cluster.qos = { worst_queue_bytes_log_server: 2 ** 30 };
  assert.match(performanceProblem(status) ?? "", /queue/);
  if (cluster) cluster.qos = { worst_data_lag_storage_server: { seconds: 61 } };
  assert.match(performanceProblem(status) ?? "", /lags/);
  delete status.client;
  assert.match(availabilityProblem(status) ?? "", /not available/);
});
