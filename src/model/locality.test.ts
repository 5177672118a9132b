// Matching the processes of a status with process groups.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus, StatusProcess } from "./database-status.ts";
import {
  processesByGroup,
  processesOf,
  processesOfServer,
  zoneOfProcessGroup,
} from "./locality.ts";

function statusOf(processes: Record<string, StatusProcess>): DatabaseStatus {
  return { cluster: { processes } };
}

const status = statusOf({
  c: { address: "3", locality: { instance_id: "log-1", process_id: "log-1-1", dcid: "dc1" } },
  b: { address: "2", locality: { instance_id: "log-1", process_id: "log-1-2", dcid: "dc1" } },
  a: { address: "1", locality: { instance_id: "storage-1", dcid: "dc2" } },
  d: { address: "4" },
});

test("[M26] processes are found by process id or instance id, in the own datacenter", () => {
  assert.deepEqual(
    [...processesByGroup(status, undefined).keys()],
    ["storage-1", "log-1-2", "log-1-1"],
  );
  assert.deepEqual([...processesByGroup(status, "dc2").keys()], ["storage-1"]);
});

test("[M27] the servers of a group report under its id or numbered", () => {
  const byGroup = processesByGroup(status, "");
  const addresses = (id: string, number: number): (string | undefined)[] =>
    processesOfServer(byGroup, id, number).map((process) => process.address);
  assert.deepEqual(addresses("storage-1", 1), ["1"]);
  assert.deepEqual(addresses("storage-1", 2), []);
  assert.deepEqual(addresses("log-1", 1), ["3"]);
  assert.deepEqual(addresses("log-1", 2), ["2"]);
});

test("[M28] the youngest process with a zone tells the zone", () => {
  const byGroup = processesByGroup(
    statusOf({
      a: { uptime_seconds: 900, locality: { instance_id: "log-1", zoneid: "old" } },
      b: { uptime_seconds: 5, locality: { instance_id: "log-1", zoneid: "new" } },
      c: { uptime_seconds: 1, locality: { instance_id: "log-1" } },
    }),
    undefined,
  );
  assert.equal(zoneOfProcessGroup(byGroup, "log-1"), "new");
  assert.equal(zoneOfProcessGroup(byGroup, "log-2"), undefined);
});

test("[M29] processes come in the order of their keys", () => {
  assert.deepEqual(
    processesOf(status).map((process) => process.address),
    ["1", "2", "3", "4"],
  );
  assert.deepEqual(processesOf({}), []);
});

test("[HALL33] a process at an own address is own, also while its datacenter changes", () => {
  const process = (address: string, dcid: string) => ({
    address,
    locality: { instance_id: "storage-1", dcid },
  });
  const both: DatabaseStatus = {
    cluster: {
      processes: { a: process("10.0.0.1:4501", "old"), b: process("10.0.0.2:4501", "x") },
    },
  };
  const own = processesByGroup(both, "new", new Set(["10.0.0.1"]));
  assert.deepEqual(
    own.get("storage-1")?.map(({ address }) => address),
    ["10.0.0.1:4501"],
  );
  assert.equal(processesByGroup(both, "new").size, 0);
  assert.equal(processesByGroup(both, "").get("storage-1")?.length, 2, "nothing to filter by");
});
