// With a client of which version a database is asked. Proves [ADO7] of spec/adoption.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sampleDatabase, viewOf } from "../../../test/fixtures/sample-view.ts";
import type { ClusterStatus } from "../../api/cluster.ts";
import { versionToAsk } from "./version-to-ask.ts";

interface Case {
  wanted?: string;
  status?: Partial<ClusterStatus>;
  /** By process group. */
  images: Readonly<Record<string, string>>;
  phase?: string;
  isGoing?: boolean;
}

function asked({ wanted = "7.4.6", status = {}, images, phase, isGoing }: Case): string {
  const sample = sampleDatabase();
  for (const [id, image] of Object.entries(images)) {
    const pod = sample.pods.get(`sample-${id}`);
    assert.ok(pod !== undefined);
    const deletion = isGoing === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
    sample.pods.set(`sample-${id}`, {
      ...pod,
      metadata: { ...pod.metadata, ...deletion },
      spec: { ...pod.spec, containers: [{ name: "foundationdb", image }] },
      status: { ...pod.status, phase: phase ?? "Running" },
    });
  }
  const view = viewOf(sample);
  const { cluster } = view;
  const adopt = { volumes: { matchLabels: { a: "b" } } };
  const told = { ...cluster.status, runningVersion: wanted, configured: false, ...status };
  const spec = { ...cluster.spec, version: wanted, adopt };
  return versionToAsk({ ...view, cluster: { ...cluster, spec, status: told } });
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
