// Where the connection string is taken from, in which order.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterSpec, ClusterStatus } from "../../api/cluster.ts";
import { clusterFileKey } from "../../build/config-map.ts";
import { knownConnectionString } from "./known-connection-string.ts";

const [stored, published, seed] = [1, 2, 3].map((number) => `sample:abc@10.0.0.${number}:4501`);
const adopt: ClusterSpec["adopt"] = { volumes: { matchLabels: { team: "a" } } };

interface Known {
  status?: Partial<ClusterStatus>;
  published?: string;
  spec?: Partial<ClusterSpec>;
}

const cases: [string, Known, string | undefined][] = [
  [
    "P92",
    { status: { connectionString: stored }, published, spec: { seedConnectionString: seed } },
    stored,
  ],
  [
    "P92",
    { status: { connectionString: "" }, published, spec: { seedConnectionString: seed } },
    published,
  ],
  ["P92", { published: "", spec: { seedConnectionString: seed } }, seed],
  ["P92", { published: `# a comment\n${published}\n` }, published],
  ["P92", {}, ""],
  [
    "ADO4",
    {
      status: { connectionString: stored },
      published,
      spec: { adopt, seedConnectionString: seed },
    },
    seed,
  ],
  [
    "ADO4",
    {
      status: { connectionString: stored, configured: true },
      spec: { adopt, seedConnectionString: seed },
    },
    stored,
  ],
  ["ADO4", { published, spec: { adopt } }, published],
];

for (const [rule, known, expected] of cases) {
  test(`[${rule}] of ${JSON.stringify(known)} the known connection string is ${expected}`, () => {
    const spec = { version: "7.3.63", ...known.spec };
    const cluster = { metadata: { name: "sample" }, spec, status: known.status } as never;
    const configMap =
      known.published === undefined
        ? undefined
        : ({ metadata: {}, data: { [clusterFileKey]: known.published } } as never);
    assert.equal(knownConnectionString({ cluster, configMap }), expected);
  });
}
