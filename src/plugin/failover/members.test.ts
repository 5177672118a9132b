// The resources of one database: who is not seen, and what of them is in the way.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { apiVersion } from "../../api/cluster.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import type { Session } from "../session.ts";
import { resourceProblem, unseenProblem } from "./members.ts";
import type { Member } from "./members.ts";

const region = (id: string, priority: number) => ({ datacenters: [{ id, priority }] });

function member(dataCenter: string, change: Partial<ClusterSpec> = {}, isGoing = false): Member {
  const regions = [region("dc1", 1), region("dc2", 0)];
  return {
    session: {} as Session,
    context: undefined,
    cluster: {
      apiVersion,
      kind: "FoundationDBCluster",
      metadata: {
        namespace: "default",
        name: dataCenter,
        ...(isGoing ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
      },
      spec: {
        version: "7.3.63",
        dataCenter,
        databaseConfiguration: { usable_regions: 2, regions },
        ...change,
      },
      status: { processGroups: [{ processGroupID: `${dataCenter}-1`, processClass: "log" }] },
    },
  };
}

const both = [member("dc1"), member("dc2")];

test("[FO2] every process and every datacenter has its resource", () => {
  const process = (id: string, dcid: string) => ({ locality: { instance_id: id, dcid } });
  const configuration = { regions: [region("dc1", 1), region("dc2", 0)] };
  const processes = { a: process("dc1-1", "dc1"), b: process("dc2-1", "dc2") };
  assert.equal(unseenProblem(both, { cluster: { configuration, processes } }), undefined);
  const stranger = { ...processes, c: process("dc9-1", "dc9"), d: { address: "10.0.0.9:4501" } };
  assert.match(
    unseenProblem(both, { cluster: { configuration, processes: stranger } }) ?? "",
    /^10.0.0.9:4501 and dc9-1 belong to no resource that was seen/,
  );
  // All processes of a datacenter may be down.
  const alone = { cluster: { configuration, processes: { a: process("dc1-1", "dc1") } } };
  assert.match(unseenProblem([member("dc1")], alone) ?? "", /no resource of datacenter dc2 was/);
});

test("[FO3] resources that go, that differ, or for which nobody acts are refused", () => {
  assert.equal(resourceProblem(both, "dc2"), undefined);
  assert.match(
    resourceProblem([member("dc1"), member("dc2", {}, true)], "dc2") ?? "",
    /default\/dc2 is being deleted/,
  );
  const regions = [region("dc1", 7), region("dc2", 3)];
  const other = member("dc2", { databaseConfiguration: { usable_regions: 2, regions } });
  assert.match(resourceProblem([member("dc1"), other], "dc2") ?? "", /differ in more than who/);
  const engine = { usable_regions: 2, regions: [region("dc1", 1), region("dc2", 0)] };
  const unlike = member("dc2", {
    databaseConfiguration: { ...engine, storage_engine: "ssd-redwood-1" },
  });
  assert.match(
    resourceProblem([member("dc1"), unlike], "dc2") ?? "",
    /storage_engine is ssd-2 in default\/dc1 and ssd-redwood-1 in default\/dc2/,
  );
  // The same engine by another name, and a setting that only one of them names.
  const like = member("dc2", {
    databaseConfiguration: { ...engine, storage_engine: "ssd", perpetual_storage_wiggle: 1 },
  });
  assert.equal(resourceProblem([member("dc1"), like], "dc2"), undefined);
  const idle = [
    member("dc1", { skip: true }),
    member("dc2", { automationOptions: { configureDatabase: false } }),
  ];
  assert.match(resourceProblem(idle, "dc2") ?? "", /no operator would act/);
});

test("[FO5] one that is swapped already and one that is not are no difference", () => {
  const regions = [region("dc1", 0), region("dc2", 1)];
  const done = member("dc2", { databaseConfiguration: { usable_regions: 2, regions } });
  assert.equal(resourceProblem([member("dc1"), done], "dc2"), undefined);
  assert.equal(resourceProblem([member("dc1"), done], "dc1"), undefined);
});
