// `npm start` in its own process: up, once, kept running for kubectl, stopped, and each mistake answered with one line.
import { strict as assert } from "node:assert";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { httpsTransport } from "../../src/kube/https.ts";
import { readKubeconfig } from "../../src/kube/kubeconfig.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { runCommand, startCommand } from "./run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "fdb-operator-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const smallCluster = `apiVersion: apps.foundationdb.org/v1beta2
kind: FoundationDBCluster
metadata: { name: small }
spec:
  version: 7.3.63
  databaseConfiguration: { redundancy_mode: single }
  processCounts: { stateless: 1, log: 1, storage: 1 }
  processes:
    general:
      podTemplate:
        spec:
          containers:
            - { name: foundationdb, resources: { requests: { cpu: CPU, memory: 128Mi } } }
`;

for (const [name, mode] of [
  ["three-data-hall", "three_data_hall"],
  ["three-datacenter", "three_datacenter"],
] as const) {
  test(`[HALL29] --example ${name} comes up on nine nodes (long)`, async () => {
    const kubeconfig = join(folder, name);
    const result = await runCommand([
      ...["dev", "--once", "--example", name, "--speed", "60", "--kubeconfig", kubeconfig],
    ]);
    assert.equal(result.stderr, "");
    assert.equal(result.code, 0);
    assert.match(result.stdout, /: 9 nodes in 3 zones/);
    assert.ok(result.stdout.includes(`configure new ${mode} ssd-2`));
    assert.match(result.stdout, /Reconciled after \d\d:\d\d of virtual time\.\n$/);
  });
}

test("[MU10] --example three-kubernetes-clusters brings up three clusters in three phases (long)", async () => {
  const kubeconfig = join(folder, "several");
  const command = startCommand([
    ...["dev", "--example", "three-kubernetes-clusters", "--nodes", "6", "--speed", "60"],
    ...["--port", "0", "--kubeconfig", kubeconfig],
  ]);
  await command.waitForOutput("Ctrl-C stops everything.");
  for (const name of ["az1", "az2", "az3"]) {
    const transport = httpsTransport(readKubeconfig(`${kubeconfig}-${name}`));
    const client = new KubeClient(transport, { userAgent: "test" });
    const cluster = await client.get(foundationDbClusters, {
      namespace: "default",
      name: "sample",
    });
    assert.equal(cluster.spec.processGroupIDPrefix, name);
    assert.equal(cluster.status?.databaseConfiguration?.redundancy_mode, "three_data_hall");
    transport.close();
  }
  command.signal("SIGINT");
  const result = await command.finished;
  assert.equal(result.stderr, "");
  assert.equal(result.code, 0);
  for (const name of ["az1", "az2", "az3"]) {
    assert.match(result.stdout, new RegExp(`Emulated Kubernetes ${name} on .*: 6 nodes in 1 zone`));
    assert.ok(result.stdout.includes(`kubeconfig of ${name}: ${kubeconfig}-${name}\n`));
    assert.ok(result.stdout.includes(`  ${name} default/sample  create pod sample-storage-`));
    assert.equal(existsSync(`${kubeconfig}-${name}`), false);
  }
  assert.match(result.stdout, /Phase 1: .*\n[^]*Phase 2: .*\n[^]*Phase 3: /);
});

test("[CLI3] [CLI23] [CLI27] --example backup shows a backup, a loss, a restore to a time and a drill (long)", async () => {
  const result = await runCommand([
    ...["dev", "--once", "--example", "backup", "--speed", "60"],
    ...["--kubeconfig", join(folder, "backup")],
  ]);
  assert.equal(result.stderr, "");
  assert.equal(result.code, 0);
  const lines = [
    /A continuous backup of it to an object store\.\n/,
    /default\/nightly {2}backup RunningDifferentially {2}restorable to .*behind\n/,
    /At \S+Z the orders were deleted by mistake: 0 of 1000 orders are left\.\n/,
    /default\/into-copy {2}restore completed, into copy/,
    /In copy, as it was before the mistake: 1000 of 1000 orders are there\.\n/,
    /The drill has passed: Version \d+ was restored: 1000 keys with \d+ bytes; .*\n$/,
  ];
  const places = lines.map((line) => result.stdout.search(line));
  assert.deepEqual(
    places,
    places.toSorted((left, right) => left - right),
  );
  assert.ok(!places.includes(-1), String(places));
});

test("[CLI3] dev --once ends at once when a backup is refused, and names only that (long)", async () => {
  const example = readFileSync("examples/backup.yaml", "utf8");
  const wrong = example.replace("  lagAlarm: 10m", "  lagAlarm: 5s");
  const files = ["-f", "examples/cluster.yaml", "-f", write("refused-backup.yaml", wrong)];
  const result = await runCommand([
    ...["dev", "--once", ...files, "--kubeconfig", join(folder, "refused")],
  ]);
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^fdb-operator: not valid: backup nightly: spec\.lagAlarm: .*\n$/);
});

test("[MU12] --example ha rolls a knob out to three clusters and tells what it cost (long)", async () => {
  const result = await runCommand([
    ...["dev", "--once", "--example", "ha", "--speed", "40"],
    ...["--kubeconfig", join(folder, "ha")],
  ]);
  assert.equal(result.stderr, "");
  assert.equal(result.code, 0);
  assert.match(
    result.stdout,
    /A knob for all three clusters\.\n[^]*That took 1 kill command and [12] recover(y|ies) of the database \(generation \d+ to \d+\)\.\n$/,
  );
});

test("[CLI3] dev --once ends with 0 when the cluster is reconciled, with plain lines when piped", async () => {
  const file = write("small.yaml", smallCluster.replace("CPU", "100m"));
  const kubeconfig = join(folder, "once");
  const result = await runCommand([
    "dev",
    "--once",
    "-f",
    file,
    "--speed",
    "100",
    "--kubeconfig",
    kubeconfig,
  ]);
  assert.equal(result.stderr, "");
  assert.equal(result.code, 0);
  assert.match(result.stdout, /Reconciled after 0\d:\d\d of virtual time\.\n$/);
  assert.ok(result.stdout.includes("default/small  create pod small-storage-"));
  // oxlint-disable-next-line no-control-regex -- no colour may be in it
  assert.doesNotMatch(result.stdout, /\u001b/);
  assert.equal(existsSync(kubeconfig), false);
});

test("[CLI3] dev --once ends with 1 and the reason when the cluster cannot come up in time (long)", async () => {
  const file = write("huge.yaml", smallCluster.replace("CPU", "500"));
  const args = ["dev", "--once", "-f", file, "--speed", "100", "--timeout", "8"];
  const result = await runCommand([...args, "--kubeconfig", join(folder, "late")]);
  assert.equal(result.code, 1);
  assert.match(
    result.stderr,
    /^fdb-operator: not reconciled within 8 s: small: .*Insufficient cpu.*\n$/,
  );
});

test("[CLI5] [CLI9] [CLI13] dev serves a kubeconfig that works, names four things to try, tells of changes, and stops on SIGINT (long)", async () => {
  const kubeconfig = join(folder, "kubeconfig");
  const file = write("kept.yaml", smallCluster.replace("CPU", "100m"));
  const args = ["dev", "-f", file, "--speed", "100", "--port", "0", "--kubeconfig", kubeconfig];
  const command = startCommand(args);
  await command.waitForOutput("Ctrl-C stops everything.");
  assert.equal(statSync(kubeconfig).mode & 0o777, 0o600);
  assert.match(readFileSync(kubeconfig, "utf8"), /server: https:\/\/127\.0\.0\.1:\d+/);
  const transport = httpsTransport(readKubeconfig(kubeconfig));
  const client = new KubeClient(transport, { userAgent: "test" });
  const cluster = await client.get(foundationDbClusters, { namespace: "default", name: "small" });
  assert.equal(cluster.status?.health?.available, true);
  const key = { namespace: "default", name: "small" };
  const change = { spec: { processCounts: { stateless: 2 } } };
  await client.patch(foundationDbClusters, key, change, { type: "merge" });
  await command.waitForOutput("Reconciled generation 2 of small after ");
  transport.close();
  command.signal("SIGINT");
  const result = await command.finished;
  assert.equal(result.code, 0);
  assert.equal(result.stderr, "");
  assert.match(result.stdout, /^Emulated Kubernetes on .*\nkubeconfig: .*\n/);
  assert.match(
    result.stdout,
    /\n {2}1\. kubectl get fdb,pods -o wide\n {2}2\. .*\n {2}3\. .*\n {2}4\. npx fdb-operator explain small .*\n/,
  );
  assert.equal(existsSync(kubeconfig), false);
});

test("[CLI4] a taken port gives one line that says what to do", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const result = await runCommand(["dev", "--once", "--port", String(port)]);
  server.close();
  assert.equal(result.code, 1);
  assert.equal(
    result.stderr,
    `fdb-operator: port ${port} on 127.0.0.1 is taken: stop the program that uses it, or choose another with --port N (0 picks a free one)\n`,
  );
});

test("[CLI10] dev --log writes a structured log with cluster and step on every line of the operator (long)", async () => {
  const file = write("logged.yaml", smallCluster.replace("CPU", "100m"));
  const log = join(folder, "log");
  const args = ["dev", "--once", "-f", file, "--speed", "100", "--log", log];
  const result = await runCommand([...args, "--kubeconfig", join(folder, "unused")]);
  assert.equal(result.code, 0);
  const lines = readFileSync(log, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const actions = lines.filter(({ message }) => message === "action performed");
  assert.ok(actions.length > 5);
  assert.ok(lines.some(({ message, reason }) => message === "waiting" && reason !== undefined));
  for (const { level, cluster, step } of actions) {
    assert.deepEqual([level, cluster, typeof step], ["info", "default/small", "string"]);
  }
});

/** Ten lists of ten references each to the list before: 10^8 values in 400 bytes. */
function aliasBomb(): string {
  const lines = ["apiVersion: v1", "kind: Secret", "l0: &l0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 8; level += 1) {
    const items = Array.from({ length: 10 }, () => `*l${level - 1}`).join(", ");
    lines.push(`l${level}: &l${level} [${items}]`);
  }
  return lines.join("\n");
}

const mistakes: [name: string, args: string[], expected: RegExp][] = [
  ["an unknown flag", ["dev", "--nodse", "3"], /unknown option '--nodse'.*--nodes.*--help/],
  ["a bad number", ["dev", "--nodes", "many"], /'--nodes <count>'.*whole number from 1 to 500/],
  [
    "an unknown example",
    ["dev", "--example", "moon"],
    /Allowed choices are backup, three-data-hall,/,
  ],
  [
    "an example and a file",
    ["dev", "--example", "three-data-hall", "-f", "x.yaml"],
    /--example and -f exclude each other/,
  ],
  ["more zones than nodes", ["dev", "--nodes", "2"], /--zones 3 needs at least as many nodes/],
  ["an unwritable log", ["dev", "--log", join(folder, "none", "log")], /cannot write the log/],
  ["a speed out of reach", ["dev", "--speed", "1e9"], /'--speed <factor>'.*from 0\.01 to 1000/],
  [
    "a kubeconfig that exists",
    ["dev", "--once", "--kubeconfig", write("mine", "precious")],
    /cannot write the kubeconfig .*mine: the file exists: remove it or name another/,
  ],
  ["an unknown command", ["start"], /unknown command 'start'/],
  ["a missing file", ["dev", "-f", "none.yaml"], /cannot read none\.yaml: there is no such file/],
  [
    "a file that is no YAML",
    ["dev", "-f", write("broken.yaml", "a: [1\nb: 2")],
    /broken\.yaml:\d+: [^:]*\n$/,
  ],
  [
    "an alias without an anchor",
    ["dev", "-f", write("alias.yaml", "apiVersion: v1\nkind: Secret\nmetadata: *none")],
    /alias\.yaml, document 1: Unresolved alias/,
  ],
  [
    "a file that multiplies itself",
    ["validate", "-f", write("bomb.yaml", aliasBomb())],
    /bomb\.yaml, document 1: Excessive alias count/,
  ],
  [
    "a file without a cluster",
    ["dev", "-f", write("other.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}")],
    /there is no FoundationDBCluster in it/,
  ],
  [
    "a text that is no resource",
    ["dev", "-f", write("text.yaml", "hello")],
    /document 1: not a Kubernetes resource/,
  ],
  [
    "a refused resource",
    [
      "dev",
      "--once",
      "-f",
      write("bad.yaml", smallCluster.replace("CPU", "1").replace("7.3.63", "seven")),
    ],
    /FoundationDBCluster small is refused: .*spec\.version/,
  ],
  ["validate without a file", ["validate"], /required option '-f, --file <file>'/],
];

test("[CLI5] a kubeconfig that was there before is neither overwritten nor removed (long)", async () => {
  const file = write("own", "precious");
  await runCommand(["dev", "--once", "--kubeconfig", file]);
  assert.equal(readFileSync(file, "utf8"), "precious");
});

for (const [name, args, expected] of mistakes) {
  test(`[CLI4] ${name} gives one line on standard error and a non-zero exit code (long)`, async () => {
    const result = await runCommand(args);
    assert.match(result.stderr, expected);
    assert.equal(result.stderr.trimEnd().split("\n").length, 1, result.stderr);
    assert.match(result.stderr, /^fdb-operator: /);
    assert.notEqual(result.code, 0);
  });
}
