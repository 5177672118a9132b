// The command line as a whole: exit codes, folders, help, and specs that are refused.
import { strict as assert } from "node:assert";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { runCommand } from "./run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "fdb-operator-usage-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function cluster(name: string, more = ""): string {
  return [
    "apiVersion: apps.foundationdb.org/v1beta2",
    "kind: FoundationDBCluster",
    `metadata: {name: ${name}}`,
    `spec: {version: 7.3.63${more}}`,
    "",
  ].join("\n");
}

const usageMistakes: readonly (readonly string[])[] = [
  ["nonsense"],
  ["validate"],
  ["dev", "--nodes", "none"],
  ["dev", "--zones", "9", "--nodes", "3"],
  ["dev", "--example", "ha", "-f", "x.yaml"],
  ["run", "--status-timeout", "soon"],
  ["explain"],
  ["simulate", "--hours", "0"],
  ["simulate", "--hours", "1", "--seeds", "3"],
  ["simulate", "--without", "3"],
  ["simulate", "--faults", "rain"],
  ["simulate", "--seed", "1", "--without", "3,,7"],
  ["simulate", "--seed", "1", "--steps", "20", "--without", "21"],
];

for (const args of usageMistakes) {
  test(`[CLI20] "${args.join(" ")}" cannot be meant: exit code 2`, async () => {
    const { code, stderr } = await runCommand(args);
    assert.equal(code, 2, stderr);
  });
}

test("[CLI20] what was asked and did not work is 1, help and version are 0", async () => {
  assert.equal((await runCommand(["validate", "-f", join(folder, "none.yaml")])).code, 1);
  assert.equal((await runCommand(["validate", "--help"])).code, 0);
  assert.equal((await runCommand(["--version"])).code, 0);
});

test("[CLI21] a folder stands for its files, but not for its kustomization", async () => {
  const resources = join(folder, "resources");
  mkdirSync(join(resources, "deeper"), { recursive: true });
  writeFileSync(join(resources, "b.yaml"), cluster("second"));
  writeFileSync(join(resources, "a.yml"), cluster("first"));
  writeFileSync(join(resources, "c.json"), JSON.stringify({ apiVersion: "v1", kind: "Secret" }));
  writeFileSync(join(resources, "kustomization.yaml"), "resources: [b.yaml]\n");
  writeFileSync(join(resources, "notes.txt"), "no resource");
  writeFileSync(join(resources, "deeper", "d.yaml"), "no resource");
  const { code, stdout } = await runCommand(["validate", "-f", resources]);
  assert.equal(code, 0);
  assert.deepEqual(
    stdout.split("\n").filter((line) => line.startsWith(folder)),
    [
      `${join(resources, "a.yml")}: FoundationDBCluster first: valid`,
      `${join(resources, "b.yaml")}: FoundationDBCluster second: valid`,
      `${join(resources, "c.json")}: Secret :`,
    ],
  );
  const empty = await runCommand(["validate", "-f", join(resources, "deeper", "..", "..")]);
  assert.match(empty.stderr, /there is no \.yaml, \.yml or \.json file in this folder/);
});

test("[CLI22] help fits into a terminal (long)", async () => {
  const commands = ["run", "dev", "validate", "render", "simulate", "explain", "coordination"];
  for (const args of [[], ...commands.map((command) => [command])]) {
    const { stdout } = await runCommand([...args, "--help"]);
    const long = stdout.split("\n").filter((line) => line.length > 80);
    assert.deepEqual(long, [], args.join(" "));
  }
});

test("[CLI3] dev --once ends at once with the reason when the operator refuses a spec (long)", async () => {
  const file = join(folder, "refused.yaml");
  const parameters = 'processes: {general: {customParameters: ["knob_a=1", "knob_a=2"]}}';
  writeFileSync(file, cluster("refused", `, ${parameters}`));
  const args = ["dev", "--once", "-f", file, "--timeout", "110"];
  const startedMs = performance.now();
  const result = await runCommand([...args, "--kubeconfig", join(folder, "kubeconfig")]);
  assert.equal(result.code, 1);
  assert.match(
    result.stderr,
    /^fdb-operator: not valid: refused: spec\.processes\.general\.customParameters\[1\]: knob_a is given twice \(keep one of the two\)\n$/,
  );
  assert.ok(performance.now() - startedMs < 60_000, "it did not wait for the time limit");
});

test("[CLI21] standard input may come late, through a pipe that does not block", async () => {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  const input = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const main = join(import.meta.dirname, "../../src/cli/main.ts");
  const child = spawn(process.execPath, [main, "validate", "-f", "-"], {
    stdio: [input, "pipe", "pipe"],
  });
  closeSync(input);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  }
  // It has begun to read by then, as a rule.
  await setTimeout(1_500);
  writeSync(writer, cluster("late"));
  closeSync(writer);
  const [code] = (await once(child, "close")) as [number];
  assert.deepEqual([code, output], [0, "-: FoundationDBCluster late: valid\n"]);
});
