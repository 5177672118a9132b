// Which claims can be taken over together, and what is said of the others.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../api/cluster.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { adoptVolumes } from "./adopt-volumes.ts";
import {
  gapOf,
  goingRemedy,
  leftOutOf,
  missingCoordinators,
  mixtureOf,
  prefixRemedy,
} from "./adoption.ts";

type Claim = Stored<PersistentVolumeClaim>;

function clusterOf(spec: Partial<ClusterSpec> = {}) {
  return {
    cluster: {
      apiVersion: "apps.foundationdb.org/v1beta2",
      kind: "FoundationDBCluster",
      metadata: { name: "sample", namespace: "default", uid: "own" },
      spec: { version: "7.3.63", ...spec },
    },
  };
}

function claimOf(id: string, metadata: Claim["metadata"] = {}, phase = "Bound"): Claim {
  const processClass = id.replace(/-\d+$/, "").replace(/^.*-/, "");
  const labels = {
    "foundationdb.org/fdb-cluster-name": "sample",
    "foundationdb.org/fdb-process-group-id": id,
    "foundationdb.org/fdb-process-class": processClass,
    ...metadata.labels,
  };
  const name = `sample-${id}-data`;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, ...metadata, labels },
    status: { phase },
  };
}

const owner = (uid: string) => ({
  ownerReferences: [
    {
      apiVersion: "apps.foundationdb.org/v1beta2",
      kind: "FoundationDBCluster",
      name: "sample",
      uid,
    },
  ],
});

const strange: readonly (readonly [string, Claim, RegExp | undefined])[] = [
  ["one of nobody", claimOf("storage-1"), undefined],
  ["one of this resource", claimOf("storage-1", owner("own")), undefined],
  [
    "of another resource",
    claimOf("storage-1", owner("old")),
    /belongs to another resource, sample with uid old/,
  ],
  [
    "with another name",
    claimOf("storage-1", { name: "copy" }),
    /of process group storage-1 is called sample-storage-1-data/,
  ],
  [
    "of another cluster",
    claimOf("storage-1", { labels: { "foundationdb.org/fdb-cluster-name": "b" } }),
    /its label foundationdb\.org\/fdb-cluster-name is b, not sample/,
  ],
  ["of a class without data", claimOf("stateless-1"), /processes of class stateless keep no data/],
  ["of no class", claimOf("nothing-1"), /processes of class nothing keep no data/],
  ["with a prefix", claimOf("west-storage-1"), /has the prefix "west", not ""/],
  ["without a volume", claimOf("storage-1", {}, "Lost"), /it has no volume/],
  [
    "that is being deleted",
    claimOf("storage-1", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    /it is being deleted/,
  ],
];
for (const [title, claim, expected] of strange) {
  test(`[ADO2] a claim ${title}: ${expected === undefined ? "taken over" : "refused"}`, () => {
    const found = mixtureOf(clusterOf(), [claimOf("log-7"), claim]);
    if (expected === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", expected);
  });
}

test("[ADO2] two claims of one process group, and how many more are wrong", () => {
  const twins = [claimOf("storage-1"), claimOf("storage-1"), claimOf("log-1", {}, "Lost")];
  assert.match(
    mixtureOf(clusterOf(), twins) ?? "",
    /^Of 3 volume claims .*: sample-storage-1-data: sample-storage-1-data is of the same process group; and 1 claim more$/,
  );
});

test("[ADO2] the prefix of the resource is the one of its claims", () => {
  const view = clusterOf({ processGroupIDPrefix: "west" });
  const named = { name: "sample-storage-1-data" };
  assert.equal(mixtureOf(view, [claimOf("west-storage-1", named)]), undefined);
  assert.match(mixtureOf(view, [claimOf("storage-1")]) ?? "", /has the prefix "", not "west"/);
});

test("[ADO2] claims of both prefixes are those of a resource that was changing it, where it owns them", () => {
  const view = clusterOf({ processGroupIDPrefix: "west" });
  const west = claimOf("west-log-1", { name: "sample-log-1-data", ...owner("own") });
  const former = claimOf("storage-1", owner("own"));
  assert.equal(mixtureOf(view, [west, former]), undefined);
  const refused = /has the prefix "", not "west"/;
  assert.match(mixtureOf(view, [west, claimOf("storage-1")]) ?? "", refused, "of nobody");
  assert.match(
    mixtureOf(view, [former, claimOf("log-1", owner("own"))]) ?? "",
    refused,
    "too early",
  );
  const copied = claimOf("west-log-1", { name: "sample-log-1-data" });
  assert.match(mixtureOf(view, [copied, former]) ?? "", refused, "not made for it");
});

test("[ADO2] where only the prefix of the spec is another one, the remedy names the right one", () => {
  const named = { name: "sample-storage-1-data" };
  const [plain, west] = [claimOf("storage-1"), claimOf("west-storage-1", named)];
  const remedy = (prefix: string, ...claims: (typeof plain)[]): string =>
    prefixRemedy(clusterOf({ processGroupIDPrefix: prefix }), claims) ?? "";
  assert.match(remedy("north", plain, claimOf("log-7")), /^Take spec\.processGroupIDPrefix away: /);
  assert.match(remedy("north", west), /^Set spec\.processGroupIDPrefix to "west": /);
  const spoilt = claimOf("nothing-1");
  assert.match(remedy("north", spoilt, plain, claimOf("log-7")), /^Take /, "one thing first");
  assert.equal(remedy("north", plain, claimOf("log-7", {}, "Lost")), "", "something else is wrong");
  assert.equal(remedy("north", claimOf("storage-2"), west), "", "two prefixes");
  assert.equal(remedy("west", plain, claimOf("log-7"), west), "", "one is right");
  assert.equal(remedy("north"), "");
});

test("[ADO3] only classes that keep data are missed, and more than enough is enough", () => {
  const claims = [claimOf("storage-1"), claimOf("storage-2"), claimOf("log-1")];
  const counts = { storage: 2, log: 1, stateless: 9 };
  assert.equal(gapOf(clusterOf(), claims, counts), undefined);
  assert.equal(gapOf(clusterOf(), claims, { ...counts, storage: 1 }), undefined);
  assert.match(gapOf(clusterOf(), claims, { ...counts, log: 3 }) ?? "", /log: 2 of 3 are missing/);
});

test("[ADO4] a majority of the coordinators is among the claims; addresses tell nothing", () => {
  const claims = [claimOf("storage-1"), claimOf("log-1")];
  const missing = (...hosts: string[]) =>
    missingCoordinators(
      clusterOf(),
      claims,
      `a:b@${hosts.map((host) => `${host}:4501`).join(",")}`,
    );
  const at = (pod: string): string => `${pod}.sample.default.svc.cluster.local`;
  const [one, two, other] = [at("sample-storage-1"), at("sample-log-1"), at("sample-log-9")];
  assert.equal(missing(one, two, other), undefined);
  assert.match(
    missing(one, other, at("sample-log-8")) ?? "",
    /Missing: sample-log-9.*sample-log-8/,
  );
  assert.match(missing(one, other) ?? "", /no majority/, "half is no majority");
  assert.equal(missing("10.1.0.1", "10.1.0.2", "10.1.0.3"), undefined);
});

test("[ADO4] names at another place are coordinators of another instance, or the volumes are copies", () => {
  const claims = [claimOf("west-storage-1"), claimOf("west-log-1")];
  const at = (pod: string, place: string): string => `${pod}.${place}.svc.cluster.local:4501`;
  const own = at("sample-storage-1", "sample.default");
  const east = ["east-log-1", "east-log-2"].map((pod) => at(pod, "east.default"));
  const missing = (spec: Partial<ClusterSpec>, ...hosts: string[]) =>
    missingCoordinators(clusterOf(spec), claims, `a:b@${hosts.join(",")}`);
  const oneOfSeveral = { processGroupIDPrefix: "west" };
  assert.match(missing({}, own, ...east) ?? "", /Missing: east-log-1.* and east-log-2/);
  assert.equal(missing(oneOfSeveral, own, ...east), undefined);
  const lost = [at("sample-log-8", "sample.default"), at("sample-log-9", "sample.default")];
  assert.match(missing(oneOfSeveral, ...lost, ...east) ?? "", /Missing: sample-log-8/);
  const copied = ["sample-storage-1", "sample-log-1"].map((pod) => at(pod, "sample.production"));
  for (const spec of [{}, oneOfSeveral]) {
    assert.match(missing(spec, own, ...copied) ?? "", /Missing: .*sample\.production/);
  }
});

test("[ADO2] a claim that is left out and would be started all the same is told", () => {
  const [named, stray] = [claimOf("storage-1"), claimOf("storage-2")];
  const leftOut = (...claims: Claim[]) =>
    leftOutOf(
      { ...clusterOf(), pvcs: new Map(claims.map((each) => [each.metadata.name ?? "", each])) },
      [named],
    );
  assert.equal(leftOut(named), undefined);
  assert.match(leftOut(named, stray) ?? "", /does not name sample-storage-2-data/);
  assert.equal(leftOut(named, claimOf("storage-2", owner("own"))), undefined, "made by us");
  const pvcs = new Map([named, stray].map((each) => [each.metadata.name ?? "", each]));
  const snapshot = { ...clusterOf(), adoptable: [named], pvcs };
  const { waits = [] } = adoptVolumes(snapshot as unknown as Snapshot, {} as Draft);
  assert.match(waits[0]?.remedy ?? "", /^Make the selector of spec\.adopt wider/);
});

test("[ADO2] the remedy for a claim that is being deleted names its pod and its volume", () => {
  const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  const remedy = (...claims: Claim[]): string => goingRemedy(clusterOf(), claims) ?? "";
  assert.match(
    remedy(claimOf("log-7"), claimOf("storage-1", going)),
    /pod sample-storage-1 is gone/,
  );
  assert.equal(
    remedy(claimOf("nothing-1"), claimOf("storage-1", going)),
    "",
    "another one is told",
  );
  assert.equal(remedy(claimOf("log-7")), "");
});

test("[ADO2] so it does while the prefix changes, though a sound claim from before comes first", () => {
  const own = owner("own");
  const going = { ...own, deletionTimestamp: "2026-01-01T00:00:00Z" };
  const view = clusterOf({ processGroupIDPrefix: "west" });
  const west = claimOf("west-log-1", { ...own, name: "sample-log-1-data" });
  const claims = [claimOf("storage-1", own), west, claimOf("storage-2", going)];
  assert.match(mixtureOf(view, claims) ?? "", /sample-storage-2-data: it is being deleted/);
  assert.match(goingRemedy(view, claims) ?? "", /pod sample-storage-2 is gone/);
});

test("[ADO2] nothing is started while the claims cannot be read", () => {
  const snapshot = { ...clusterOf(), adoptable: [], claimsProblem: "the watch is interrupted" };
  const result = adoptVolumes(snapshot as unknown as Snapshot, {} as Draft);
  assert.equal(result.stop, true);
  assert.match(result.waits?.[0]?.message ?? "", /cannot be read .*: the watch is interrupted/);
});
