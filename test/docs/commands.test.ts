// Every command of README.md and the manual: run here with the real kubectl against the emulation, or named with the reason why
// not. A command that is added to a page must be added here. Rules: spec/deploy.md [DEP18], [DEP19].
import { strict as assert } from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startCommand, type RunningCommand } from "../cli/run-command.ts";
import { commandsOf, documentedCommands } from "./documented-commands.ts";

const root = join(import.meta.dirname, "..", "..");
const file = "examples/cluster.yaml";

/** In this order: what the page says, and what is typed where that is not the same. */
const runs: readonly (readonly [documented: string, typed?: string])[] = [
  ["npx fdb-operator validate -f FILE", `npx fdb-operator validate -f ${file}`],
  ["npx fdb-operator render -f FILE", `npx fdb-operator render -f ${file}`],
  ["fdb-operator validate -f FILE", `fdb-operator validate -f ${file}`],
  ["kubectl apply --server-side --force-conflicts -f deploy/crds"],
  ["kubectl apply --server-side -k deploy/kustomize/namespaced"],
  ["kubectl create namespace databases"],
  // The chart brings the account that the pods of the sample use.
  ["", "kubectl create serviceaccount fdb-database --namespace databases"],
  ["kubectl apply --namespace databases -f examples/cluster.yaml"],
  [
    "kubectl wait --namespace databases --for=condition=Available --timeout=10m foundationdbcluster/sample",
  ],
  ["kubectl fdb explain sample -n databases"],
  ["kubectl fdb explain sample"],
  ["kubectl fdb explain CLUSTER", "kubectl fdb explain sample"],
  [
    "kubectl fdb explain NAME [-n NAMESPACE] [--context NAME] [--kubeconfig FILE] [-o text|json]",
    "kubectl fdb explain sample -n default --kubeconfig $KUBECONFIG -o json",
  ],
  ["kubectl fdb logs CLUSTER", "kubectl fdb logs sample"],
  ["kubectl fdb completion bash"],
  ["fdb-operator explain CLUSTER", "fdb-operator explain sample"],
  ["fdb-operator explain sample"],
  ["npx fdb-operator explain sample"],
  [
    "kubectl logs -f POD -c foundationdb",
    "kubectl logs $(kubectl get pod -l foundationdb.org/fdb-cluster-name=sample -o name | head -1) -c foundationdb",
  ],
  ["kubectl describe foundationdbcluster CLUSTER", "kubectl describe foundationdbcluster sample"],
  [
    "kubectl wait --for=condition=Reconciled fdb/NAME",
    "kubectl wait --for=condition=Reconciled fdb/sample",
  ],
  [
    "kubectl get fdb sample -o jsonpath='{range .status.blockedBy[*]}{.reason}: {.message}{\"\\n\"}{end}'",
  ],
  [
    "kubectl get fdb sample -o jsonpath='{range .status.conditions[*]}{.type}={.status} {.message}{\"\\n\"}{end}'",
  ],
  [
    'kubectl get fdb sample -o jsonpath=\'{range .status.processGroups[*]}{.hall}{"\\t"}{.processGroupID}{"\\n"}{end}\' | sort',
  ],
  [
    `kubectl patch fdb sample --type merge -p '{"spec":{"databaseConfiguration":{"redundancy_mode":"three_data_hall_fallback"}}}'`,
    `kubectl patch fdb sample --dry-run=server --type merge -p '{"spec":{"databaseConfiguration":{"redundancy_mode":"three_data_hall_fallback"}}}'`,
  ],
  [
    `kubectl patch fdb sample --subresource status --type merge -p '{"status":{"connectionString":"sample:abc@10.1.0.1:4501"}}'`,
    `kubectl patch fdb sample --subresource status --dry-run=server --type merge -p '{"status":{"connectionString":"sample:abc@10.1.0.1:4501"}}'`,
  ],
  ["kubectl annotate foundationdbcluster sample foundationdb.org/deletion-protection=true"],
  ["kubectl annotate foundationdbcluster sample foundationdb.org/deletion-protection-"],
  ["kubectl plugin list"],
  // The demonstrations go on until they are told to stop; with --once they end when everything is reconciled.
  ...[
    "npm start -- --nodes 9 --zones 3",
    "npm start -- --example three-data-hall --nodes 6",
    "npm start -- -f examples/bin-packing.yaml --nodes 8",
    "npm start -- -f examples/replacement-buckets.yaml --nodes 14",
  ].map((text) => [text, `${text} --once --speed 100 --kubeconfig $KUBECONFIG-once`] as const),
  ["npm start -- --once --seed 7", "npm start -- --once --seed 7 --kubeconfig $KUBECONFIG-once"],
];

const named = "names a command in a sentence, without what it is about";
const backup = "needs a backup: test/world/backup.test.ts does what it is for";
const restore = "needs a backup: test/world/restore.test.ts does what it is for";
const previewed = "asks for the status in a pod: test/cli/preview.test.ts does it from a picture";
const otherTest = (where: string) => `run by ${where}`;
const needsHelm = "needs helm, which npm run packaging builds: test/packaging/chart.test.ts";
const global = "needs several operators in global mode: test/cli/coordination.test.ts";
const report = otherTest("test/plugin/report.test.ts");
const executable = "builds for minutes: npm run packaging and test/packaging/executable.test.ts";
const demo = "the same world as --once in test/cli/dev.test.ts, which ends by itself";

const leftOut: Readonly<Record<string, string>> = {
  "docker build -t REGISTRY/foundationdb-operator:0.1.0 . && docker push REGISTRY/foundationdb-operator:0.1.0":
    "needs docker and a registry; test/packaging/image.test.ts reads the Dockerfile",
  "fdb-operator backup": named,
  "fdb-operator coordination": named,
  "fdb-operator explain": named,
  "fdb-operator run": otherTest("test/cli/run.test.ts"),
  "fdb-operator validate": named,
  "helm install fdb-operator deploy/chart --namespace databases --set image.repository=REGISTRY/foundationdb-operator":
    needsHelm,
  "helm show crds deploy/chart | kubectl apply --server-side --force-conflicts -f -": needsHelm,
  "helm uninstall": named,
  "kubectl annotate fdbbackup nightly foundationdb.org/delete-last-backup=nightly": backup,
  "kubectl completion bash": named,
  "kubectl create secret tls": named,
  "kubectl delete --cascade=foreground": named,
  "kubectl describe": named,
  "kubectl describe deployment": named,
  "kubectl describe pvc": named,
  "kubectl fdb": named,
  "kubectl fdb completion kubectl > ~/.local/bin/kubectl_complete-fdb && chmod +x ~/.local/bin/kubectl_complete-fdb":
    otherTest("test/plugin/completion.test.ts"),
  "kubectl fdb coordination clear": named,
  "kubectl fdb coordination clear CLUSTER --prefix PREFIX": global,
  "kubectl fdb coordination clear dc1 --prefix dc2": global,
  "kubectl fdb coordination show": named,
  "kubectl fdb coordination show dc1": global,
  "kubectl fdb explain": named,
  "kubectl fdb backup describe nightly -o yaml > nightly-restore.yaml": otherTest(
    "test/cli/backup-describe.test.ts",
  ),
  "kubectl fdb explain backup/NAME": backup,
  "kubectl fdb explain backup/nightly": backup,
  "kubectl fdb explain dc1": global,
  "kubectl fdb explain restore/NAME": restore,
  "kubectl fdb explain restore/yesterday": restore,
  "kubectl fdb preview": named,
  "kubectl fdb preview sample --lose-node node-3": previewed,
  "kubectl fdb preview sample --set spec.processCounts.storage=5": previewed,
  "kubectl fdb preview sample --upgrade 7.3.79": previewed,
  "kubectl fdb preview sample -f changed.yaml": previewed,
  "npm run previews": "takes half an hour; test/preview does a few of its cases",
  "kubectl get fdbbackup": backup,
  "kubectl get fdbrestore": restore,
  "kubectl get pods": named,
  "kubectl gofdb": "is the plugin of the Go operator under another name",
  "kubectl logs --previous": named,
  "kubectl logs deploy/fdb-operator":
    "needs the operator as a Deployment: npm run end-to-end, which reads its log itself",
  "kubectl wait --for=condition=Completed fdbrestore/yesterday --timeout=2h": restore,
  "kubectl wait --for=condition=Restorable fdbbackup/nightly": backup,
  "npm install --global foundationdb-operator-0.1.0.tgz":
    "changes the machine; test/packaging/npm-package.test.ts installs the package into a folder",
  "npm pack": otherTest("test/packaging/npm-package.test.ts"),
  "npm run bench": "takes ten minutes of measuring",
  "npm run checklist": otherTest(".ci/run"),
  "npm run contract:fdb": otherTest(".ci/run"),
  "npm run end-to-end -- several": "needs the real control plane: npm run end-to-end in .ci/run",
  "npm start": demo,
  "npm start -- -f examples/cluster.yaml -f examples/backup.yaml -f examples/restore.yaml": demo,
  "npm start -- --example ha": otherTest("test/cli/dev.test.ts"),
  "npm start -- --example three-data-hall": otherTest("test/cli/dev.test.ts"),
  "npm start -- --example three-datacenter": otherTest("test/cli/dev.test.ts"),
  "npm start -- --example three-kubernetes-clusters": otherTest("test/cli/dev.test.ts"),
  "npm start -- --runtime process":
    "needs FoundationDB on the machine: npm run contract:fdb where there is one",
  "npm start -- --example backup": otherTest("test/cli/dev.test.ts"),
  "npm start -- -f my-cluster.yaml": demo,
  "npm test": "is this suite",
  "kubectl krew install --manifest=fdb.yaml --archive=kubectl-fdb-0.1.0-linux-x64.tar.gz":
    "needs krew; test/packaging/executable.test.ts reads the manifest",
  "npm run executable": executable,
  "kubectl fdb preview --from BUNDLE.tar.gz": named,
  "kubectl fdb report": report,
  "kubectl fdb report CLUSTER [-f FILE] [--log-lines N] [--timeout DURATION] [--status FILE]":
    report,
  "kubectl fdb report sample": report,
  "kubectl fdb report sample --log-lines 0 --timeout 1m": report,
  "kubectl fdb report sample -n databases -f sample.tar.gz": report,
  "kubectl exec -it POD -c foundationdb -- bash": "needs a terminal",
  "kubectl exec POD -c foundationdb -- fdbcli ...": named,
  "kubectl port-forward": named,
};

test("[DEP19] commands are read from code blocks and from sentences", () => {
  const page = [
    "Run `kubectl get pods -o",
    "wide` first.",
    "```",
    "npm start -- --once   # a remark",
    "not a command",
    "```",
    "```yaml",
    "npm: no",
    "```",
  ].join("\n");
  assert.deepEqual(
    commandsOf("page.md", page).map(({ line, text }) => `${line} ${text}`),
    ["4 npm start -- --once", "1 kubectl get pods -o wide"],
  );
});

test("[DEP19] every documented command is run or left out with a reason, and no other is listed", () => {
  const listed = [...runs.map(([documented]) => documented), ...Object.keys(leftOut)]
    .filter((text) => text !== "")
    .toSorted();
  const documented = documentedCommands(root).map(({ text }) => text);
  assert.deepEqual([...new Set(documented)].toSorted(), listed);
});

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

describe(
  "commands in an emulated cluster",
  { skip: hasKubectl ? false : "no kubectl here" },
  () => {
    let folder: string;
    let dev: RunningCommand;

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "fdb-operator-docs-"));
      for (const [name, source] of [
        ["fdb-operator", "main.ts"],
        ["kubectl-fdb", "kubectl-fdb.ts"],
      ] as const) {
        const program = join(root, "src", "cli", source);
        const text = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`;
        writeFileSync(join(folder, name), text, { mode: 0o755 });
      }
      const kubeconfig = join(folder, "kubeconfig");
      dev = startCommand(["dev", "--speed", "50", "--port", "0", "--kubeconfig", kubeconfig]);
      await dev.waitForOutput("KUBECONFIG=");
    });

    after(async () => {
      dev.signal("SIGINT");
      await dev.finished;
      rmSync(folder, { recursive: true, force: true });
    });

    for (const [documented, typed = documented] of runs) {
      test(`[DEP18] [DEP19] ${typed}`, async () => {
        const { code, output } = await shell(typed, folder);
        assert.equal(code, 0, output);
      });
    }
  },
);

function shell(command: string, folder: string): Promise<{ code: number | null; output: string }> {
  const child = spawn("bash", ["-o", "pipefail", "-c", command], {
    cwd: root,
    timeout: 120_000,
    env: {
      ...process.env,
      KUBECONFIG: join(folder, "kubeconfig"),
      PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}`,
    },
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output: output.slice(-4000) }));
  });
}
