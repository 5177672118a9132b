// With a client of which version a database is asked. Proves [ADO7] and [ADO17] of spec/adoption.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sampleDatabase, viewOf } from "../../../test/fixtures/sample-view.ts";
import type { ClusterStatus } from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";
import { mainContainerName, sidecarContainerName } from "../../build/normalise.ts";
import type { DatabaseObservation } from "../snapshot.ts";
import { isWithinReach, versionToAsk } from "./version-to-ask.ts";

interface Case {
  wanted?: string;
  status?: Partial<ClusterStatus>;
  /** By process group. */
  images: Readonly<Record<string, string>>;
  phase?: string;
  isGoing?: boolean;
  /** In the configuration that the monitors run with. */
  configured?: string;
  /** Makes the pods split ones. */
  sidecar?: string;
  last?: [version: string, latest: DatabaseObservation];
}

const seen = (isReached: boolean, clientVersion: string): DatabaseObservation => ({
  kind: "seen",
  status: { client: { coordinators: { quorum_reachable: isReached } } },
  observedMs: 1,
  clientVersion,
});
const missing = (reason: "Asking" | "Unreachable"): DatabaseObservation => ({
  ...{ kind: "missing", reason, message: "", sinceMs: 1 },
});

function viewFor({ wanted = "7.4.6", status = {}, images, ...one }: Case) {
  const sample = sampleDatabase();
  for (const [id, image] of Object.entries(images)) {
    const pod = sample.pods.get(`sample-${id}`);
    assert.ok(pod !== undefined);
    const deletion = one.isGoing === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
    const annotations = {
      ...pod.metadata.annotations,
      [annotationKeys.imageType]: one.sidecar === undefined ? "unified" : "split",
      ...(one.configured === undefined
        ? {}
        : { [annotationKeys.launcherConfiguration]: `{"version":"${one.configured}"}` }),
    };
    const containers = [
      { name: mainContainerName, image },
      { name: sidecarContainerName, image: one.sidecar ?? image },
    ];
    sample.pods.set(`sample-${id}`, {
      ...pod,
      metadata: { ...pod.metadata, annotations, ...deletion },
      spec: { ...pod.spec, containers },
      status: { ...pod.status, phase: one.phase ?? "Running" },
    });
  }
  const view = viewOf(sample);
  const { cluster } = view;
  const adopt = { volumes: { matchLabels: { a: "b" } } };
  const told = { ...cluster.status, runningVersion: wanted, configured: false, ...status };
  const spec = { ...cluster.spec, version: wanted, adopt };
  return { ...view, cluster: { ...cluster, spec, status: told } };
}

function asked(one: Case): string {
  const [version, latest] = one.last ?? [];
  const last = version !== undefined && latest !== undefined ? { version, latest } : undefined;
  return versionToAsk(viewFor(one), last);
}

const old = { "storage-1": "monitor:7.3.63", "log-1": "monitor:7.3.63" };
const rows: readonly [what: string, one: Case, version: string][] = [
  ["servers of an older protocol than is wished for by now", { images: old }, "7.3.63"],
  ["servers of a newer one", { wanted: "7.1.57", images: old }, "7.3.63"],
  ["some that were made anew already", { images: { ...old, "log-1": "m:7.4.6" } }, "7.3.63"],
  ["all made anew", { images: { "log-1": "m:7.4.6" } }, "7.4.6"],
  ["another version of the same protocol", { images: { "log-1": "m:7.4.1" } }, "7.4.6"],
  ["pods that have not started", { images: old, phase: "Pending" }, "7.4.6"],
  ["pods that are going", { images: old, isGoing: true }, "7.4.6"],
  ["images that do not tell their version", { images: { "log-1": "m:stable" } }, "7.4.6"],
  [
    "a database that has been seen",
    { images: old, status: { configured: true, runningVersion: "7.1.57" } },
    "7.1.57",
  ],
];

for (const [what, one, version] of rows) {
  test(`[ADO7] the version to ask with: ${what}`, () => {
    assert.equal(asked(one), version);
  });
}

const between = { wanted: "7.4.6", images: { "log-1": "m:7.3.63" }, configured: "7.4.6" };
const split = { images: { "log-1": "m:7.3.63" }, sidecar: "sidecar:7.4.6-1" };
const doubtful: readonly [what: string, one: Case, version: string][] = [
  ["the older one first", between, "7.3.63"],
  ["the other one after silence", { ...between, last: ["7.3.63", seen(false, "7.3.63")] }, "7.4.6"],
  [
    "the other one after no answer",
    { ...between, last: ["7.3.63", missing("Unreachable")] },
    "7.4.6",
  ],
  ["the same while it is being asked", { ...between, last: ["7.4.6", missing("Asking")] }, "7.4.6"],
  [
    "the same once coordinators answer",
    { ...between, last: ["7.4.6", seen(true, "7.4.6")] },
    "7.4.6",
  ],
  ["the first again", { ...between, last: ["7.4.6", seen(false, "7.4.6")] }, "7.3.63"],
  [
    "the first after one that nobody runs",
    { ...between, last: ["7.1.57", seen(false, "7.1.57")] },
    "7.3.63",
  ],
  [
    "two that are not wanted",
    { ...between, wanted: "7.1.57", last: ["7.3.63", seen(false, "7.3.63")] },
    "7.4.6",
  ],
  ["split pods", { ...split, last: ["7.3.63", seen(false, "7.3.63")] }, "7.4.6"],
];

for (const [what, one, version] of doubtful) {
  test(`[ADO17] pods that may run servers of two versions: ${what}`, () => {
    assert.equal(asked(one), version);
  });
}

for (const [what, one, clientVersion, isReached] of [
  ["an upgrade between its versions, by the old one", between, "7.3.63", false],
  ["an upgrade between its versions, by the new one", between, "7.4.6", false],
  ["a split pod between its versions", split, "7.3.63", false],
  [
    "a pod with a configuration of its own protocol",
    { ...between, configured: "7.3.27" },
    "7.3.63",
    true,
  ],
] as const) {
  test(`[ADO17] whether silence says something of ${what}`, () => {
    const view = viewFor(one);
    const pod = view.pods.get("sample-log-1");
    assert.ok(pod !== undefined);
    assert.equal(isWithinReach(view, seen(false, clientVersion), pod), isReached);
    assert.equal(isWithinReach(view, seen(true, clientVersion), pod), true);
  });
}
