// When an excluded process may be called empty, on captured statuses.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { stillHolding } from "./drained.ts";

const folder = join(import.meta.dirname, "../../../test/data/fdb/status");

function captured(name: string): DatabaseStatus {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as DatabaseStatus;
}

function processOf(status: DatabaseStatus, address: string): StatusProcess {
  const found = Object.values(status.cluster?.processes ?? {}).find(
    (process) => process.address === address,
  );
  assert.ok(found);
  return found;
}

const storage = "127.0.0.1:4501";
const locality = "locality_instance_id:storage-1";

test("[DB33] a process is empty when neither the list nor its roles say otherwise", () => {
  const status = captured("21-excluded-address-storage-1");
  assert.equal(stillHolding([storage], [], status), undefined);
  assert.equal(stillHolding([storage], [storage], status), storage);
  assert.equal(stillHolding([locality], [storage], status), storage);
  assert.equal(stillHolding([storage], ["127.0.0.1:4502"], status), undefined);
});

test("[DB33] a role that holds state counts although the list is empty", () => {
  const status = captured("20-excluding-address-storage-1");
  assert.equal(stillHolding([storage], [], status), storage);
  assert.equal(stillHolding([locality], [], status), storage);
  assert.notEqual(stillHolding(["127.0.0.1"], [], status), undefined);
  assert.equal(stillHolding(["127.0.0.2"], [], status), undefined);
});

test("[DB33] a log server that is excluded by locality only counts, also an old one that is gone", () => {
  const status = captured("21-excluded-address-storage-1");
  const log = "locality_instance_id:log-3";
  assert.equal(stillHolding([log], [], status), "127.0.0.1:4513");
  const process = processOf(status, "127.0.0.1:4513");
  process.roles = [];
  assert.equal(stillHolding([log], [], status), "127.0.0.1:4513", "it is in the log system");
  for (const [id, each] of Object.entries(status.cluster?.processes ?? {})) {
    if (each === process) delete status.cluster?.processes?.[id];
  }
  assert.equal(stillHolding([log], [], status), "127.0.0.1:4513", "nobody knows whose it was");
});

test("[DB33] an incomplete status proves nothing", () => {
  const status = captured("21-excluded-address-storage-1");
  assert.match(stillHolding([storage], [], {}) ?? "", /no processes/);
  status.cluster?.messages?.push({ name: "status_incomplete" });
  assert.match(stillHolding([storage], [], status) ?? "", /incomplete/);
});

test("[DB33] a process without a locality may be the one that is meant", () => {
  const status = captured("20-excluding-address-storage-1");
  const other = processOf(status, "127.0.0.1:4502");
  delete other.locality;
  processOf(status, storage).roles = [];
  assert.equal(stillHolding([locality], [], status), "127.0.0.1:4502");
  assert.equal(stillHolding([storage], [], status), undefined);
});

test("[DB33] addresses with a TLS suffix are the same processes", () => {
  const status = captured("tls-02-excluding-storage-1");
  const [address] = (status.cluster?.configuration?.excluded_servers ?? []).map(
    (server) => server.address ?? "",
  );
  assert.ok(address);
  assert.equal(stillHolding([address], [address], status), address);
});
