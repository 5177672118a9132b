// Which change a file means that has more in it than the cluster, or cannot be read. Rule: spec/preview.md [PV13].
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { stringify } from "yaml";
import { apiVersion } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { CommandError } from "../env/command-error.ts";
import { changeOf } from "./preview-change.ts";

const folder = mkdtempSync(join(tmpdir(), "change-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const clusterOf = (name: string, version = "7.3.63"): FoundationDBCluster => ({
  ...{ apiVersion, kind: "FoundationDBCluster", metadata: { name, namespace: "default" } },
  spec: { version },
});

function fileOf(...texts: readonly string[]): string {
  const file = join(folder, "changed.yaml");
  writeFileSync(file, texts.join("\n---\n"));
  return file;
}

const changed = stringify(clusterOf("sample", "7.3.79"));

test("[PV13] what else is in a file is named, and not previewed", async () => {
  const file = fileOf(changed, stringify(clusterOf("other")));
  const { change, warnings } = await changeOf(clusterOf("sample"), { file });
  assert.equal(change.type, "apply");
  const told = "only this cluster is previewed; the text also has FoundationDBCluster other";
  assert.ok(warnings.includes(told), warnings.join());
  const alone = await changeOf(clusterOf("sample"), { file: fileOf(changed) });
  assert.ok(!alone.warnings.join().includes("only this cluster"));
});

const refusals: readonly [string, readonly string[], RegExp][] = [
  [
    "the cluster twice",
    [changed, stringify(clusterOf("sample"))],
    /has FoundationDBCluster default\/sample twice, in documents 1 and 2: leave the one that is meant/,
  ],
  [
    "another cluster",
    [stringify(clusterOf("other"))],
    /has no FoundationDBCluster default\/sample/,
  ],
  [
    "a text that is nested too deeply",
    [`spec: ${"[".repeat(20_000)}${"]".repeat(20_000)}`],
    /changed\.yaml:\d+: this is nested too deeply to be read/,
  ],
];

for (const [title, texts, problem] of refusals) {
  test(`[PV13] a file that is refused: ${title}`, async () => {
    await assert.rejects(changeOf(clusterOf("sample"), { file: fileOf(...texts) }), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, problem);
      return true;
    });
  });
}
