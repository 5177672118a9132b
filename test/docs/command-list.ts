// Every command of README.md and the manual, in the order in which a test types them, and those that no test types, each with
// the reason. A command that is added to a page gets its line here. Rules: spec/deploy.md [DEP19].

/** What a page says, and what is typed where that is not the same: names of the sample, a folder for files, a run that ends. */
export type Run = readonly [documented: string, typed?: string];

const pod = "$(kubectl get pod -l foundationdb.org/fdb-cluster-name=sample -o name | head -1)";
const inPod = (command: string): Run => [command, `kubectl fdb exec -c sample -- ${command}`];
const dryRun = (command: string): Run => [
  command,
  command.replace(/ (patch|apply) (fdb \S+)?/, (found) => `${found} --dry-run=server `),
];
const oneSeed = (command: string): Run => [command, `${command} --seeds 1`];
const intoFolder = (command: string): Run => [command, `cd $FOLDER && ${command}`];

/** One that goes on until it is told to stop: it has to print an address. */
const untilItServes = (command: string, typed = command): Run => [
  command,
  `${typed} > $FOLDER/page.txt & for i in $(seq 100); do grep -q http $FOLDER/page.txt && break; sleep 0.2; done; kill %1; grep http $FOLDER/page.txt`,
];
const ofSample = (command: string): Run => [
  command,
  command.replace("NAME", "sample").replace("NAMESPACE", "default"),
];

/** Needs no Kubernetes but its own; ends when everything is reconciled. */
const once = (command: string, typed = command): Run => [
  command,
  `${typed}${typed.includes(" -- ") ? "" : " --"} --once --speed 100 --kubeconfig $FOLDER/once`,
];

/** `npm start` with these arguments is the world that they are typed in; the page about restores names it. */
export const worldArguments = ["cluster", "backup", "restore"].flatMap((name) => [
  ...["-f", `examples/${name}.yaml`],
]);

const gettingStarted: readonly Run[] = [
  ["kubectl get fdb,pods"],
  ["kubectl get fdb,pods -o wide"],
  ["npx kubectl-fdb status sample"],
  ["npx kubectl-fdb tree sample"],
  [`kubectl delete ${pod} --wait=false`],
  ["kubectl get pods"],
  ['kubectl patch fdb sample --type merge -p \'{"spec":{"processCounts":{"storage":5}}}\''],
  ["kubectl wait --for=condition=Reconciled --timeout=5m fdb/sample"],
  oneSeed("kubectl fdb preview sample --upgrade 7.3.79"),
  ['kubectl patch fdb sample --type merge -p \'{"spec":{"version":"7.3.79"}}\''],
  ["npx kubectl-fdb plan sample"],
  ["", "kubectl wait --for=condition=Reconciled --timeout=5m fdb/sample"],
  ['kubectl patch fdb sample --type merge -p \'{"spec":{"version":"7.1.57"}}\''],
  ["npx kubectl-fdb explain sample"],
  ["", 'kubectl patch fdb sample --type merge -p \'{"spec":{"version":"7.3.79"}}\''],
  ['npx kubectl-fdb exec -c sample -- fdbcli --exec "status minimal"'],
  ["npx kubectl-fdb top sample"],
  [
    "kubectl exec -it POD -c foundationdb -- bash",
    `echo ls | kubectl exec -i ${pod} -c foundationdb -- bash`,
  ],
  ["kubectl apply -f examples/backup.yaml"],
  ["kubectl wait --for=condition=Restorable --timeout=5m fdbbackup/nightly"],
  ["npx kubectl-fdb explain backup/nightly"],
  ["kubectl delete pod -l foundationdb.org/fdb-process-class=storage --wait=false"],
  ["", "kubectl wait --for=condition=Reconciled --timeout=5m fdb/sample"],
];

const installing: readonly Run[] = [
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
  ["kubectl describe foundationdbcluster CLUSTER", "kubectl describe foundationdbcluster sample"],
  ["kubectl plugin list"],
];

const looking: readonly Run[] = [
  ["kubectl fdb status -A"],
  [
    "kubectl fdb top orders --sort lag --class storage",
    "kubectl fdb top sample --sort lag --class storage",
  ],
  ["kubectl fdb tree orders", "kubectl fdb tree sample"],
  ["kubectl fdb explain sample"],
  ["kubectl fdb explain CLUSTER", "kubectl fdb explain sample"],
  ["fdb-operator explain CLUSTER", "fdb-operator explain sample"],
  [
    "kubectl fdb explain NAME [-n NAMESPACE] [--context NAME] [--kubeconfig FILE] [-o text|json]",
    "kubectl fdb explain sample -n default --kubeconfig $KUBECONFIG -o json",
  ],
  ["kubectl fdb logs CLUSTER", "kubectl fdb logs sample"],
  [
    "kubectl wait --for=condition=Reconciled fdb/NAME",
    "kubectl wait --for=condition=Reconciled fdb/sample",
  ],
  [
    "kubectl get fdb sample -o jsonpath='{range .status.processGroups[*]}{.processGroupID} {.faultDomain}{\"\\n\"}{end}'",
  ],
  ["kubectl get fdb sample -o jsonpath='{.status.blockedBy[*].message}'"],
  [
    "kubectl get foundationdbcluster sample -o jsonpath='{.metadata.annotations.foundationdb\\.org/operator-question}'",
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
  ["kubectl get pods -L foundationdb.org/distribution-key -o wide"],
  ["kubectl fdb exec -c sample -- fdbcli --exec 'status details' | grep -A1 'Fault Tolerance'"],
  ["kubectl fdb completion bash"],
  [
    "kubectl fdb completion kubectl > ~/.local/bin/kubectl_complete-fdb && chmod +x ~/.local/bin/kubectl_complete-fdb",
    "kubectl fdb completion kubectl > $FOLDER/kubectl_complete-fdb && chmod +x $FOLDER/kubectl_complete-fdb",
  ],
  inPod("fdbcli --exec 'status details'"),
  inPod("fdbcli --exec 'status json'"),
  inPod('fdbcli --exec "status json"'),
  inPod("fdbcli --exec exclude"),
  [
    "kubectl exec POD -c foundationdb -- fdbcli ...",
    `kubectl exec ${pod} -c foundationdb -- fdbcli --exec "status minimal"`,
  ],
];

const previewsAndReports: readonly Run[] = [
  oneSeed("kubectl fdb preview sample --set spec.processCounts.storage=5"),
  oneSeed("kubectl fdb preview sample --lose-node node-3"),
  [
    "kubectl fdb preview sample -f changed.yaml",
    "sed 's/version: 7.3.63/version: 7.3.79/' examples/cluster.yaml > $FOLDER/changed.yaml && kubectl fdb preview sample -f $FOLDER/changed.yaml --seeds 1",
  ],
  intoFolder("kubectl fdb report sample"),
  intoFolder("kubectl fdb report sample -n databases -f sample.tar.gz"),
  intoFolder("kubectl fdb report sample --log-lines 0 --timeout 1m"),
  [
    "kubectl fdb preview --from BUNDLE.tar.gz",
    "kubectl fdb preview --from $FOLDER/sample.tar.gz --seeds 1 --set spec.processCounts.storage=6",
  ],
];

const dashboards: readonly Run[] = [
  untilItServes("kubectl fdb dashboard"),
  untilItServes("kubectl fdb dashboard -A"),
  untilItServes(
    "kubectl fdb dashboard --from fdb-report-default-sample-20261117T120000Z.tar.gz",
    "kubectl fdb dashboard --from $FOLDER/sample.tar.gz",
  ),
];

const runbooks: readonly Run[] = [
  ...[
    "kubectl fdb explain NAME -n NAMESPACE",
    "kubectl fdb status NAME -n NAMESPACE",
    "kubectl fdb tree NAME -n NAMESPACE",
    "kubectl fdb logs NAME -n NAMESPACE",
    "kubectl fdb top NAME -n NAMESPACE",
    "kubectl fdb top NAME -n NAMESPACE --sort free",
    "kubectl fdb top NAME -n NAMESPACE --sort queue",
    "kubectl fdb top NAME -n NAMESPACE --sort lag",
  ].map(ofSample),
  ["kubectl fdb explain backup/NAME -n NAMESPACE", "kubectl fdb explain backup/nightly -n default"],
  ["kubectl fdb backup list"],
  ["kubectl get pods -l app.kubernetes.io/name=fdb-operator -A"],
  [
    "kubectl fdb cordon NODE -c NAME -n NAMESPACE",
    "kubectl fdb cordon node-1 -c sample -n default --dry-run",
  ],
  [
    "kubectl fdb remove process-groups ID -c NAME -n NAMESPACE",
    "kubectl fdb remove process-groups $(kubectl get fdb sample -o jsonpath='{.status.processGroups[0].processGroupID}') -c sample -n default --dry-run",
  ],
  [
    "kubectl fdb report NAME -n NAMESPACE",
    "cd $FOLDER && kubectl fdb report sample -n default -f own.tar.gz",
  ],
];

const changing: readonly Run[] = [
  [
    "kubectl annotate pod sample-storage-12345 foundationdb.org/fence=true",
    `kubectl annotate ${pod} foundationdb.org/fence=true --dry-run=server`,
  ],
  [
    "kubectl annotate pod sample-storage-12345 foundationdb.org/fence-",
    `kubectl annotate ${pod} foundationdb.org/fence- --dry-run=server`,
  ],
  [
    "kubectl exec -it sample-storage-12345 -c foundationdb -- bash",
    `echo ls | kubectl exec -i ${pod} -c foundationdb -- bash`,
  ],
  ["kubectl fdb maintenance status sample"],
  ["kubectl fdb quarantine list"],
  [
    "kubectl get foundationdbcluster NAME -o jsonpath='{.status.quarantine}'",
    "kubectl get foundationdbcluster sample -o jsonpath='{.status.quarantine}'",
  ],
  [
    "kubectl delete pvc -l foundationdb.org/quarantined-from=NAME",
    "kubectl delete pvc -l foundationdb.org/quarantined-from=sample",
  ],
  dryRun(
    `kubectl patch fdb sample --type merge -p '{"spec":{"databaseConfiguration":{"redundancy_mode":"three_data_hall_fallback"}}}'`,
  ),
  dryRun(
    `kubectl patch fdb sample --subresource status --type merge -p '{"status":{"connectionString":"sample:abc@10.1.0.1:4501"}}'`,
  ),
  ["kubectl annotate foundationdbcluster sample foundationdb.org/deletion-protection=true"],
  ["kubectl annotate foundationdbcluster sample foundationdb.org/deletion-protection-"],
  ["kubectl annotate foundationdbcluster sample --overwrite foundationdb.org/urgent-generation=7"],
  [
    "fdbcli --exec 'include ADDRESS'",
    "kubectl fdb exec -c sample -- fdbcli --exec 'include 10.1.2.3:4501'",
  ],
  [
    'fdbcli --exec "kill; kill ADDRESS; sleep 5"',
    `kubectl fdb exec -c sample -- fdbcli --exec "kill; kill $(kubectl get ${pod} -o jsonpath='{.status.podIP}'):4501; sleep 5"`,
  ],
  inPod('fdbcli --exec "kill; kill all; sleep 5"'),
  [
    "kubectl exec POD -c foundationdb -- pkill fdbserver",
    `kubectl exec ${pod} -c foundationdb -- pkill fdbserver`,
  ],
  ["", "kubectl wait --for=condition=Reconciled --timeout=5m fdb/sample"],
];

const backups: readonly Run[] = [
  ["kubectl get fdbbackup"],
  ["kubectl wait --for=condition=Restorable fdbbackup/nightly"],
  ["kubectl fdb explain backup/nightly"],
  ["kubectl fdb explain backup/NAME", "kubectl fdb explain backup/nightly"],
  intoFolder("kubectl fdb backup describe nightly -o yaml > nightly-restore.yaml"),
  ["kubectl get fdbrestore"],
  [
    "kubectl wait --for=condition=Completed fdbrestore/yesterday --timeout=2h",
    "kubectl wait --for=condition=Completed fdbrestore/into-copy --timeout=2m",
  ],
  ["kubectl fdb explain restore/yesterday", "kubectl fdb explain restore/into-copy"],
  ["kubectl fdb explain restore/NAME", "kubectl fdb explain restore/into-copy"],
  ["kubectl annotate fdbbackup nightly foundationdb.org/delete-last-backup=nightly"],
];

const offline: readonly Run[] = [
  ...["npx fdb-operator validate -f FILE", "npx fdb-operator render -f FILE"],
  "fdb-operator validate -f FILE",
].map((text) => [text, text.replace("FILE", "examples/cluster.yaml")]);

const demonstrations: readonly Run[] = [
  once("npm start -- -f my-cluster.yaml", "npm start -- -f $FOLDER/my-cluster.yaml"),
  once("npm start -- --nodes 9 --zones 3"),
  once("npm start -- --example three-data-hall --nodes 6"),
  once("npm start -- -f examples/bin-packing.yaml --nodes 8"),
  once("npm start -- -f examples/replacement-buckets.yaml --nodes 14"),
  once("npm start -- -f examples/drains.yaml --nodes 6"),
  once("npm start -- -f examples/network-policy.yaml"),
  once("npm start -- -f examples/advice.yaml"),
  ["npm start -- --once --seed 7", "npm start -- --once --seed 7 --kubeconfig $FOLDER/once"],
];

/** In one emulated Kubernetes, in this order. */
export const runs: readonly Run[] = [
  ...[...offline, ...gettingStarted, ...backups, ...installing, ...looking],
  ...[...changing, ...runbooks, ...previewsAndReports, ...dashboards, ...demonstrations],
];

const seed = "SEED=$(k1 get fdb sample -o jsonpath='{.status.connectionString}')";
const joining = (zone: string, kubectl: string): Run => {
  const command = `sed "s|\\$SEED|$SEED|" ${zone}.yaml | ${kubectl} apply -f -`;
  return [command, `${seed}; ${command} --dry-run=server`];
};

/**
 * In the folder of their example and the three Kubernetes clusters that `npm start -- --example three-kubernetes-clusters` has
 * made of it. `k1`, `k2` and `k3` are there.
 */
export const runsInThree: readonly Run[] = [
  dryRun("k1 apply -f az1.yaml"),
  ["k1 wait fdb/sample --for=condition=Reconciled --timeout=10m"],
  [seed, `${seed}; test -n "$SEED"`],
  joining("az2", "k2"),
  joining("az3", "k3"),
  ["k2 wait fdb/sample --for=condition=Reconciled --timeout=10m"],
  ["k3 wait fdb/sample --for=condition=Reconciled --timeout=10m"],
  [
    "for k in k1 k2 k3; do $k patch fdb sample --type merge --patch-file three-data-hall.patch.yaml; done",
  ],
  ["k1 get fdb sample -o wide"],
  [
    "k1 get fdb sample -o jsonpath='{range .status.blockedBy[*]}{.reason}: {.message}{\"\\n\"}{end}'",
  ],
  [
    "kubectl fdb explain sample --context az1",
    "kubectl fdb explain sample --kubeconfig $FOLDER/several-az1",
  ],
];

/** Of commands that a sentence names and nobody is told to type so. */
export const named = "names a command in a sentence, without what it is about";
const otherTest = (where: string) => `run by ${where}`;
const needsHelm = "needs helm, which npm run packaging builds: test/packaging/chart.test.ts";
const global = "needs several operators in global mode: test/cli/coordination.test.ts";
const world = "starts a world that lasts: with --once in test/cli/dev.test.ts";
const givenKubectl =
  "needs contexts of three clusters: the test has k1, k2 and k3 with kubeconfigs";
const ofTheTools =
  "is a step of the operator's own, in a pod of its own: test/world/backup.test.ts";

/** No test types these. */
export const leftOut: Readonly<Record<string, string>> = {
  "kubectl drain node-3 --ignore-daemonsets --delete-emptydir-data --timeout=2h":
    "test/kubectl/drain.test.ts drains nodes with these options",
  "kubectl uncordon node-3": "test/kubectl/drain.test.ts",
  "kubectl cordon node-3": "test/kubectl/drain.test.ts",
  "kubectl get poddisruptionbudget NAME -o yaml":
    "a remedy with a place for a name: test/world/drain-kept.test.ts makes the budget that it is for",
  "kubectl cordon NODE": "a remedy with a place for a name; typed as kubectl cordon node-3",
  "kubectl drain": "test/kubectl/drain.test.ts drains nodes",
  "kubectl fdb cordon": "is the name of a command; typed as kubectl fdb cordon node-1",
  "kubectl annotate node node-3 foundationdb.org/drain=true": "test/world/drain-wishes.test.ts",
  "npx kubectl-fdb preview sample --upgrade 7.3.79":
    "computes for seconds, and is typed as kubectl fdb preview sample --upgrade 7.3.79",
  "npm start": "is the world in which this test types all others",
  "npm start -- -f examples/cluster.yaml -f examples/backup.yaml -f examples/restore.yaml":
    "is the world in which this test types all others",
  "npm start -- --example ha": world,
  "npm start -- --example backup": world,
  "npm start -- --example three-data-hall": world,
  "npm start -- --example three-datacenter": world,
  "npm start -- --example three-kubernetes-clusters": world,
  "npm start -- --runtime process":
    "needs FoundationDB on the machine: npm run contract:fdb where there is one",
  'k1() { kubectl --context az1 "$@"; }': givenKubectl,
  'k2() { kubectl --context az2 "$@"; }': givenKubectl,
  'k3() { kubectl --context az3 "$@"; }': givenKubectl,
  "docker build -t REGISTRY/foundationdb-operator:0.1.0 . && docker push REGISTRY/foundationdb-operator:0.1.0":
    "needs docker and a registry; test/packaging/image.test.ts reads the Dockerfile",
  "helm install fdb-operator deploy/chart --namespace databases --set image.repository=REGISTRY/foundationdb-operator":
    needsHelm,
  "helm show crds deploy/chart | kubectl apply --server-side --force-conflicts -f -": needsHelm,
  "kubectl fdb failover main --to dc2 --other-context dc2 --other-context satellite":
    "needs a database in two regions: test/world/failover.test.ts",
  "kubectl fdb failover": named,
  "kubectl fdb remove process-groups": named,
  "kubectl fdb status": named,
  "kubectl fdb get configuration --fail-over --update": named,
  "kubectl fdb volumes rebind sample --dry-run":
    "needs volumes that outlived their claims: test/world/rebind.test.ts",
  "kubectl fdb volumes rebind sample":
    "needs volumes that outlived their claims: test/world/rebind.test.ts",
  "kubectl fdb quarantine restore -c CLUSTER PROCESS-GROUP":
    "needs a volume in quarantine: test/world/quarantine.test.ts",
  "kubectl delete fdb sample --cascade=orphan":
    "leaves a world without its cluster: test/world/adoption.test.ts",
  "helm uninstall": named,
  "kubectl fdb maintenance start": named,
  "kubectl fdb maintenance end": named,
  "kubectl fdb maintenance start node-3 -c sample --for 30m": otherTest(
    "test/world/maintenance.test.ts",
  ),
  "kubectl fdb maintenance end -c sample": otherTest("test/world/maintenance.test.ts"),
  "kubectl fdb tree": named,
  "kubectl wait --for=condition=Reconciled": named,
  "kubectl fdb dashboard --from BUNDLE.tar.gz": named,
  "kubectl logs deploy/fdb-operator":
    "needs the operator as a Deployment: npm run end-to-end, which reads its log itself",
  "kubectl fdb coordination clear dc1 --prefix dc2": global,
  "kubectl fdb coordination clear CLUSTER --prefix PREFIX": global,
  "kubectl fdb coordination show dc1": global,
  "kubectl fdb explain dc1": global,
  "kubectl fdb report CLUSTER [-f FILE] [--log-lines N] [--timeout DURATION] [--status FILE]":
    "is the summary of the commands below it",
  "kubectl krew install --manifest=fdb.yaml --archive=kubectl-fdb-0.1.0-linux-x64.tar.gz":
    "needs krew; test/packaging/executable.test.ts reads the manifest",
  "codesign --sign - kubectl-fdb": "needs a Mac",
  "npm run executable":
    "builds for minutes: npm run packaging and test/packaging/executable.test.ts",
  "npm install --global foundationdb-operator-0.1.0.tgz":
    "changes the machine; test/packaging/npm-package.test.ts installs the package into a folder",
  "npm pack": otherTest("test/packaging/npm-package.test.ts"),
  "npm test": "is this suite",
  "npm run test:long": "is this suite",
  "npm run bench": "takes ten minutes of measuring",
  "npm run bench -- --fair 2000x50": "takes many minutes of measuring",
  "npm run bench:real -- --clusters 10 --groups 20":
    "needs a real API server and takes twenty minutes",
  "npm run prove": "takes many minutes; test/prove tests its parts",
  "npm run prove -- --only real-clients": "needs FoundationDB",
  "npm run prove -- --list": otherTest("test/prove/prove-command.test.ts"),
  "kubectl exec POD -c foundationdb -- ls -l /var/fdb/data":
    "looks for coordinators after a loss: test/contract-fdb/life-survival-cases.ts names them",
  "kubectl fdb update connection-string -c sample sample:abc@IP:4501,IP:4501,IP:4501":
    "needs a database that was lost: test/contract-fdb/life-survival-cases.ts",
  "npm run prove -- --output docs/proof.md":
    "takes many minutes and writes into this folder; test/prove tests its parts",
  "npm run checklist": otherTest(".ci/run"),
  "npm run contract:fdb": otherTest(".ci/run"),
  "npm run docs": otherTest(".ci/run"),
  "npm run generate": "writes into this folder; npm run check compares",
  "npm run end-to-end -- several": "needs the real control plane: npm run end-to-end in .ci/run",
  "npm run alarms": "needs a real Prometheus, which it builds",
  "npm run previews": "takes half an hour; test/preview does a few of its cases",
  "kubectl gofdb": "is the plugin of the Go operator under another name",
  "fdbcli ended with code ... and said what is not understood": "is a message, no command",
  "fdbbackup start": ofTheTools,
  "fdbbackup describe": ofTheTools,
  "fdbbackup describe --deep": ofTheTools,
  "fdbbackup pause": ofTheTools,
  "fdbbackup status": ofTheTools,
  "fdbbackup resume": ofTheTools,
  "fdbrestore start": ofTheTools,
  "fdb-operator run": otherTest("test/cli/run.test.ts"),
  "fdb-operator backup": named,
  "fdb-operator coordination": named,
  "fdb-operator explain": named,
  "fdb-operator validate": named,
  "npx kubectl-fdb": named,
  "kubectl completion bash": named,
  "kubectl create secret tls": named,
  "kubectl delete --cascade=foreground": named,
  "kubectl describe deployment": named,
  "kubectl describe pvc": named,
  "kubectl describe pod": named,
  "kubectl patch --subresource resize": named,
  "kubectl fdb": named,
  "kubectl fdb coordination clear": named,
  "kubectl fdb coordination show": named,
  "kubectl fdb explain": named,
  "kubectl fdb preview": named,
  "kubectl fdb report": named,
  "kubectl logs": named,
  "kubectl fdb coordination": named,
  "kubectl fdb deprecation": named,
  "kubectl get pvc": named,
  "helm upgrade": named,
  "kubectl logs --previous": named,
  "kubectl port-forward": named,
};
