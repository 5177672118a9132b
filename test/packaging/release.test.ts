// What a release consists of: workflows, the bundle for the Operator Lifecycle Manager, one version, notes. Actionlint judges the
// workflows where `npm run packaging` has built it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { releaseNotes, tagProblem } from "../../scripts/release-notes.ts";
import { customResourceDefinitions } from "../../src/api/crd.ts";
import { leaseRules, namespacedRules, nodeRules } from "../../src/operate/permissions.ts";
import { actionlintPath, lint } from "../actionlint.ts";

const root = path.resolve(import.meta.dirname, "../..");
const workflows = globSync(".github/workflows/*.yml", { cwd: root }).sort();
const textOf = (file: string): string => readFileSync(path.join(root, file), "utf8");

interface Job {
  permissions?: Record<string, string>;
  "timeout-minutes"?: number;
  steps: { uses?: string; run?: string }[];
}

interface Workflow {
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

for (const file of workflows) {
  const workflow = parse(textOf(file)) as Workflow;
  const jobs = Object.entries(workflow.jobs);

  void test(`[DEP28] ${file}: no right by default, and every job has a time limit`, () => {
    assert.deepEqual(workflow.permissions, { contents: "read" });
    for (const [name, job] of jobs) assert.ok(job["timeout-minutes"] !== undefined, name);
  });

  void test(`[DEP28] ${file}: actions are named by commit, with their version beside it`, () => {
    const lines = textOf(file)
      .split("\n")
      .filter((line) => line.includes("uses:"));
    assert.ok(lines.length > 0);
    for (const line of lines) {
      assert.match(line, /uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  void test(`[DEP28] ${file}: runs scripts that exist`, () => {
    const commands = jobs.flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));
    const scripts = commands.flatMap((run) =>
      [...run.matchAll(/npm run (?:--silent )?(\S+)/g)].map(([, name = ""]) => name),
    );
    for (const script of scripts) assert.ok(script in manifest.scripts, script);
    for (const run of commands) {
      for (const [, name = ""] of run.matchAll(/bash (\S+)/g)) {
        assert.ok(existsSync(path.join(root, name)), name);
      }
    }
  });
}

const isBuilt = existsSync(actionlintPath(process.env));
void test(
  "[DEP28] actionlint finds nothing, and does find a mistake",
  { skip: isBuilt ? false : "actionlint is not built here: npm run packaging builds it" },
  () => {
    assert.equal(
      lint(
        process.env,
        workflows.map((file) => path.join(root, file)),
      ),
      "",
    );
    const wrong = path.join(import.meta.dirname, "wrong-workflow.yml");
    assert.match(lint(process.env, [wrong]), /undefined variable|property .* is not defined/);
  },
);

interface ServiceVersion {
  metadata: { name: string };
  spec: {
    version: string;
    customresourcedefinitions: { owned: { name: string; kind: string }[] };
    install: {
      spec: {
        clusterPermissions: { serviceAccountName: string; rules: unknown }[];
        permissions: { serviceAccountName: string; rules: unknown }[];
        deployments: { name: string; spec: unknown }[];
      };
    };
  };
}

void test("[DEP26] the bundle has the rules, the Deployment and the CRDs of the chart", () => {
  const folder = "deploy/olm/manifests";
  const { spec, metadata } = parse(
    textOf(`${folder}/foundationdb-operator.clusterserviceversion.yaml`),
  ) as ServiceVersion;
  assert.deepEqual(
    [metadata.name, spec.version],
    [`foundationdb-operator.v${manifest.version}`, manifest.version],
  );
  const { clusterPermissions, permissions, deployments } = spec.install.spec;
  const account = "fdb-operator";
  assert.deepEqual(clusterPermissions[0], {
    serviceAccountName: account,
    rules: [...namespacedRules, ...nodeRules],
  });
  assert.deepEqual(permissions, [{ serviceAccountName: account, rules: leaseRules }]);
  const rendered = textOf("deploy/kustomize/cluster-wide/operator.yaml")
    .split(/^---$/m)
    .map((text) => parse(text) as { kind: string; metadata: { name: string }; spec: unknown })
    .find(({ kind }) => kind === "Deployment");
  assert.deepEqual(deployments, [{ name: rendered?.metadata.name, spec: rendered?.spec }]);
  assert.match(JSON.stringify(rendered?.spec), new RegExp(`"serviceAccountName":"${account}"`));
  assert.deepEqual(
    spec.customresourcedefinitions.owned.map(({ name }) => name),
    customResourceDefinitions.map((definition) => definition.metadata.name),
  );
  for (const definition of customResourceDefinitions) {
    const stored: unknown = parse(textOf(`${folder}/${definition.spec.names.plural}.yaml`));
    assert.deepEqual(stored, JSON.parse(JSON.stringify(definition)));
  }
});

void test("[DEP27] a release wants the tag of its version and a chapter of the changelog", () => {
  const changes = "# Changelog\n\n## 1.2.0\n\n- new\n\n## 1.1.0\n\n- old\n";
  assert.equal(tagProblem("v1.2.0", "1.2.0", changes), undefined);
  assert.equal(tagProblem(undefined, "1.1.0", changes), undefined);
  assert.match(tagProblem("v1.3.0", "1.2.0", changes) ?? "", /v1\.3\.0 is not v1\.2\.0/);
  assert.match(tagProblem("v1.3.0", "1.3.0", changes) ?? "", /says nothing about 1\.3\.0/);
  assert.equal(releaseNotes(changes, "1.2.0"), "- new\n");
  assert.equal(tagProblem(undefined, manifest.version, textOf("CHANGELOG.md")), undefined);
});

const isPackaging = process.env["KUBECTL_FDB"] !== undefined;
void test(
  "[DEP29] a release is built from here alone, and its checksums are right",
  { skip: isPackaging ? false : "npm run packaging runs it" },
  () => {
    const script = ["scripts/release.ts", "--own", "--tag", `v${manifest.version}`];
    const built = spawnSync(process.execPath, script, { cwd: root, encoding: "utf8" });
    assert.equal(built.status, 0, built.stderr);
    const folder = path.join(root, "dist/release");
    const files = readdirSync(folder).sort();
    for (const name of [
      ...["NOTES.md", "SHA256SUMS", "fdb.yaml", "sbom.cyclonedx.json"],
      `foundationdb-operator-${manifest.version}.tgz`,
      `foundationdb-operator-olm-${manifest.version}.tar.gz`,
      `fdb-operator-${manifest.version}.tgz`,
    ]) {
      assert.ok(files.includes(name), name);
    }
    assert.ok(files.some((name) => /^kubectl-fdb-.*\.tar\.gz$/.test(name)));
    const sums = files
      .filter((name) => name !== "SHA256SUMS")
      .map((name) => {
        const hash = createHash("sha256").update(readFileSync(path.join(folder, name)));
        return `${hash.digest("hex")}  ${name}\n`;
      });
    assert.equal(readFileSync(path.join(folder, "SHA256SUMS"), "utf8"), sums.join(""));
    const materials = JSON.parse(
      readFileSync(path.join(folder, "sbom.cyclonedx.json"), "utf8"),
    ) as {
      components: { name: string }[];
    };
    assert.ok(materials.components.some(({ name }) => name === "koffi"));
    const wrong = ["scripts/release.ts", "--own", "--tag", "v99.0.0"];
    const refused = spawnSync(process.execPath, wrong, { cwd: root, encoding: "utf8" });
    assert.deepEqual([refused.status, /v99\.0\.0 is not/.test(refused.stderr)], [1, true]);
  },
);
