// The commands that need no cluster: validate, render, crds.
import { strict as assert } from "node:assert";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/kube/object.ts";
import { runCommand } from "./run-command.ts";

const root = join(import.meta.dirname, "..", "..");
const sample = join(root, "examples", "cluster.yaml");

function objectsOf(text: string): KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

const threeMistakes = `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata: { name: bad }
spec:
  version: 7.3.63
  imageType: combined
  minimumUptimeSecondsForBounce: 0
  databaseConfiguration: { redundancy_mode: quadruple }
`;

test("[CLI6] three wrong fields are refused with three field paths", async () => {
  const result = await runCommand(["validate", "-f", "-"], threeMistakes);
  assert.equal(result.code, 1);
  const fields = [...result.stdout.matchAll(/^ {2}error: (\S+): /gm)].map((match) => match[1]);
  assert.deepEqual(fields.toSorted(), [
    "spec.databaseConfiguration.redundancy_mode",
    "spec.imageType",
    "spec.minimumUptimeSecondsForBounce",
  ]);
});

test("[CLI6] findings are printed as JSON on request", async () => {
  const result = await runCommand(["validate", "-o", "json", "-f", "-"], threeMistakes);
  const [report] = JSON.parse(result.stdout) as { name: string; findings: unknown[] }[];
  assert.equal(report?.name, "bad");
  assert.equal(report?.findings.length, 3);
});

test("[CLI6] a valid resource gives exit code 0, and a kind that is not checked is named", async () => {
  const secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: other }\n";
  const good = await runCommand(["validate", "-f", sample]);
  assert.deepEqual([good.code, good.stderr], [0, ""]);
  assert.match(good.stdout, /FoundationDBCluster sample: valid\n$/);
  const other = await runCommand(["validate", "-f", "-"], secret);
  assert.equal(other.code, 0);
  assert.match(other.stdout, /Secret other:\n.*not checked/);
});

const resources = join(root, "..", "shared", "fixtures", "resources");
test(
  "[CLI6] resources as users of the Go operator write them are valid",
  { skip: existsSync(resources) ? false : "the fixtures folder is not beside the project" },
  async () => {
    const files = readdirSync(resources).flatMap((file) => ["-f", join(resources, file)]);
    const result = await runCommand(["validate", ...files]);
    assert.equal(result.code, 0, result.stdout);
  },
);

test("[CLI7] render prints the objects of a cluster and the same seed prints the same text", async () => {
  const first = await runCommand(["render", "-f", sample]);
  const again = await runCommand(["render", "-f", sample]);
  const other = await runCommand(["render", "-f", sample, "--seed", "2"]);
  assert.equal(first.code, 0);
  assert.equal(first.stdout, again.stdout);
  assert.notEqual(first.stdout, other.stdout);
  const counts: Record<string, number> = {};
  for (const { kind } of objectsOf(first.stdout)) counts[kind] = (counts[kind] ?? 0) + 1;
  assert.deepEqual(counts, { ConfigMap: 1, Service: 1, PersistentVolumeClaim: 7, Pod: 16 });
});

test("[CLI7] render includes the pods whose services need an address first", async () => {
  const text = `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata: { name: routed }
spec: { version: 7.3.63, routing: { publicIPSource: service } }
`;
  const result = await runCommand(["render", "-o", "json", "-f", "-"], text);
  const { items } = JSON.parse(result.stdout) as { items: KubeObject[] };
  assert.equal(items.filter(({ kind }) => kind === "Pod").length, 16);
  assert.equal(items.filter(({ kind }) => kind === "Service").length, 17);
});

test("[CLI7] render refuses an invalid cluster", async () => {
  const result = await runCommand(["render", "-f", "-"], threeMistakes);
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^fdb-operator: -: spec\.\S+: .* and 2 more \(run validate\)\n$/);
});

test("[CLI8] crds prints the three definitions", async () => {
  const result = await runCommand(["crds"]);
  assert.deepEqual(
    objectsOf(result.stdout).map(({ metadata }) => metadata.name),
    [
      "foundationdbclusters.apps.foundationdb.org",
      "foundationdbbackups.apps.foundationdb.org",
      "foundationdbrestores.apps.foundationdb.org",
    ],
  );
});

test("[HALL34] halls that only nodes could name are rendered as placeholders (long)", async () => {
  const file = join(root, "examples", "three-data-hall.yaml");
  const result = await runCommand(["render", "-f", file]);
  assert.equal(result.code, 0);
  const pods = objectsOf(result.stdout).filter(({ kind }) => kind === "Pod");
  assert.equal(pods.length, 27);
  for (const hall of ["hall-1", "hall-2", "hall-3"]) {
    const found = pods.filter((pod) => JSON.stringify(pod).includes(`"values":["${hall}"]`));
    assert.equal(found.length, 9, hall);
  }
});
