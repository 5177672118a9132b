// Every command of README.md and the manual: typed here with the real kubectl against the emulation, or named in command-list.ts
// with the reason why not. Rules: spec/deploy.md [DEP18], [DEP19].
import { strict as assert } from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startCommand, type RunningCommand } from "../cli/run-command.ts";
import { leftOut, named, runs, runsInThree, worldArguments } from "./command-list.ts";
import type { Run } from "./command-list.ts";
import { commandsOf, documentedCommands } from "./documented-commands.ts";

const root = join(import.meta.dirname, "..", "..");

test("[DEP19] commands are read from code blocks and from sentences", () => {
  const page = [
    "Run `kubectl get pods -o",
    "wide` first.",
    "```",
    "npm start -- --once   # a remark",
    "not a command",
    "$ ls",
    "```",
    "```sh",
    "# a remark",
    "k1 get pods",
    "```",
    "```yaml",
    "npm: no",
    "```",
  ].join("\n");
  assert.deepEqual(
    commandsOf("page.md", page).map(({ line, text, isInBlock }) => `${line} ${text} ${isInBlock}`),
    [
      "4 npm start -- --once true",
      "6 ls true",
      "10 k1 get pods true",
      "1 kubectl get pods -o wide false",
    ],
  );
});

test("[DEP19] every documented command is run or left out with a reason, and no other is listed", () => {
  const run = [...runs, ...runsInThree].map(([documented]) => documented);
  const listed = [...run, ...Object.keys(leftOut)].filter((text) => text !== "");
  const documented = documentedCommands(root).map(({ text }) => text);
  assert.deepEqual([...new Set(documented)].toSorted(), listed.toSorted());
});

test("[DEP19] a command in a block of code is never left out for being only named", () => {
  const inBlocks = documentedCommands(root).filter(({ isInBlock }) => isInBlock);
  const only = inBlocks.filter(({ text }) => leftOut[text] === named);
  assert.deepEqual(only, []);
});

test("[DEP19] the tests that a reason names exist", () => {
  const files = Object.values(leftOut).flatMap((reason) =>
    [...reason.matchAll(/\b(?:src|test)\/[\w/.-]*\w|\.ci\/run/g)].map(([file]) => file),
  );
  assert.ok(files.length > 10);
  assert.deepEqual(
    files.filter((file) => !existsSync(join(root, file))),
    [],
  );
});

const skip = spawnSync("kubectl", ["version", "--client"]).status === 0 ? false : "no kubectl here";

/** The tests of one world: it is started, each command is typed, it ends. */
function inWorld(
  title: string,
  kubeconfig: string,
  args: readonly string[],
  commands: readonly Run[],
  prelude: string,
): void {
  describe(`${title} (long)`, { skip }, () => {
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
      const sample = readFileSync(join(root, "examples/cluster.yaml"), "utf8");
      writeFileSync(join(folder, "my-cluster.yaml"), sample.replace("sample", "mine"));
      const file = join(folder, kubeconfig);
      dev = startCommand(["dev", ...args, "--speed", "50", "--port", "0", "--kubeconfig", file]);
      await dev.waitForOutput("Ctrl-C stops everything.");
    });

    after(async () => {
      dev.signal("SIGINT");
      await dev.finished;
      rmSync(folder, { recursive: true, force: true });
    });

    for (const [documented, typed = documented] of commands) {
      test(`[DEP18] [DEP19] ${typed}`, async () => {
        const { code, output } = await shell(`${prelude}${typed}`, folder, kubeconfig);
        assert.equal(code, 0, output);
      });
    }
  });
}

inWorld("commands in an emulated Kubernetes", "kubeconfig", worldArguments, runs, "");

const kubectls = [1, 2, 3].map(
  (number) => `k${number}() { kubectl --kubeconfig $FOLDER/several-az${number} "$@"; }\n`,
);

inWorld(
  "commands in three emulated Kubernetes clusters",
  "several",
  ["--example", "three-kubernetes-clusters"],
  runsInThree,
  `${kubectls.join("")}cd examples/three-kubernetes-clusters\n`,
);

function shell(
  command: string,
  folder: string,
  kubeconfig: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn("bash", ["-o", "pipefail", "-c", command], {
    cwd: root,
    timeout: 300_000,
    env: {
      ...process.env,
      FOLDER: folder,
      KUBECONFIG: join(folder, kubeconfig),
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
