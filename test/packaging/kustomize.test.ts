// The kustomize bases: complete, and taken by the kustomize of kubectl where there is one.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";

const root = path.resolve(import.meta.dirname, "../../deploy/kustomize");
const bases = ["namespaced", "cluster-wide"];
const hasKubectl = spawnSync("kubectl", ["kustomize", "--help"]).status === 0;

for (const base of bases.map((each) => `${each}-drills`)) {
  void test(`[DEP20] base ${base} is the role of drills and its binding`, () => {
    const folder = path.join(root, base);
    const file = readFileSync(path.join(folder, "kustomization.yaml"), "utf8");
    const { resources } = parse(file) as { resources: string[] };
    const kinds = resources.flatMap((resource) =>
      parseAllDocuments(readFileSync(path.join(folder, resource), "utf8")).map((document) =>
        String(document.get("kind")),
      ),
    );
    const prefix = base.startsWith("cluster") ? "Cluster" : "";
    assert.deepEqual(kinds, [`${prefix}Role`, `${prefix}RoleBinding`]);
  });
}

for (const base of bases) {
  void test(`[DEP12] base ${base} names only what exists`, () => {
    const file = path.join(root, base, "kustomization.yaml");
    const { resources } = parse(readFileSync(file, "utf8")) as { resources: string[] };
    for (const resource of resources) assert.ok(existsSync(path.join(root, base, resource)));
  });

  void test(
    `[DEP12] kubectl kustomize takes base ${base}`,
    { skip: hasKubectl ? false : "no kubectl here" },
    () => {
      const answer = spawnSync("kubectl", ["kustomize", path.join(root, base)], {
        encoding: "utf8",
        maxBuffer: 1 << 26,
      });
      assert.equal(answer.status, 0, answer.stderr);
      const kinds = parseAllDocuments(answer.stdout).map((document) =>
        String(document.get("kind")),
      );
      const count = (kind: string): number => kinds.filter((each) => each === kind).length;
      assert.equal(count("CustomResourceDefinition"), 3);
      assert.equal(count("Namespace"), 1);
      assert.equal(count("Deployment"), 1);
      assert.equal(count("ClusterRole"), base === "cluster-wide" ? 3 : 2);
    },
  );
}
