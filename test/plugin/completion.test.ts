// Completion: what may stand at the cursor, from the real commands and from a simulated world; and the scripts for shells.
import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { pluginProgram } from "../../src/cli/plugin-program.ts";
import { completionText, wantedAt } from "../../src/plugin/completion/complete.ts";
import { completions } from "../../src/plugin/completion/completion.ts";
import { completionScript, shells } from "../../src/plugin/completion/scripts.ts";
import { wordsToComplete } from "../../src/plugin/completion/words.ts";
import type { OpenSession } from "../../src/plugin/session.ts";
import { TestWorld, tiny } from "../world/world-harness.ts";
import { openIn } from "./plugin-harness.ts";

const nobody: OpenSession = () => Promise.reject(new Error("no server"));

function offered(line: string): string[] {
  const wanted = wantedAt(pluginProgram(nobody), line.split(" "));
  const lines = completionText(wanted, []).split("\n");
  return lines.map((each) => each.split("\t")[0] ?? "").filter((each) => each !== "");
}

test("[VW19] commands, flags and choices come from the commands themselves", () => {
  assert.deepEqual(offered("st"), ["status", ":4"]);
  assert.deepEqual(offered("backup "), ["describe", "help", "list", ":4"]);
  assert.deepEqual(offered("top sample --so"), ["--sort", ":4"]);
  assert.deepEqual(offered("top --sort "), [
    "cpu",
    "memory",
    "disk",
    "free",
    "queue",
    "lag",
    "name",
    ":4",
  ]);
  assert.deepEqual(offered("top --sort=l"), ["--sort=lag", ":4"]);
  assert.deepEqual(offered("-n shop top --output y"), ["yaml", ":4"]);
  assert.deepEqual(offered("completion z"), ["zsh", ":4"]);
  assert.deepEqual(offered("status --kubeconfig "), [":0"]);
  // An answer to an unknown command would be made up.
  assert.deepEqual(offered("nonsense "), [":4"]);
  assert.ok(offered("").length > 8);
  for (const flag of ["--namespace", "--context", "--help"]) {
    assert.ok(offered("logs --").includes(flag), flag);
  }
});

const places: readonly (readonly [line: string, live: string | undefined])[] = [
  ["top ", "clusters"],
  ["status sa", "clusters"],
  ["explain ", "subjects"],
  ["backup describe ", "backups"],
  ["top sample -n ", "namespaces"],
  ["logs sample --process-group ", "processGroups"],
  ["top sample ", undefined],
  ["top --sort ", undefined],
];

test("[VW20] arguments and flags say which names they take", () => {
  for (const [line, live] of places) {
    assert.equal(wantedAt(pluginProgram(nobody), line.split(" ")).live, live, line);
  }
});

test("[VW20] names come from the server, and nothing at all where it does not answer", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    await world.createNamespace("shop");
    await world.createCluster({ ...tiny, skip: true }, { name: "orders", namespace: "shop" });
    const ask = async (
      line: string,
      open: OpenSession = openIn(world.world),
    ): Promise<string[]> => {
      const words = line.split(" ");
      const asked = completions(pluginProgram(open), open, words, world.clock);
      return (await world.during(asked, 10_000, line)).trimEnd().split("\n");
    };
    assert.deepEqual(await ask("top "), ["sample", ":4"]);
    assert.deepEqual(await ask("top -n shop "), ["orders", ":4"]);
    assert.deepEqual(await ask("tree x"), [":4"]);
    assert.ok((await ask("status -n s")).includes("shop"));
    const groups = await ask("logs sample --process-group storage");
    assert.match(groups[0] ?? "", /^storage-\d+$/);
    assert.deepEqual(await ask("top ", nobody), [":4"]);
    const startedMs = world.clock.nowMs();
    assert.deepEqual(await ask("top ", () => new Promise(() => {})), [":4"]);
    assert.equal(world.clock.nowMs() - startedMs, 2_000);
  });
});

test("[VW18] the program completes by its name or by a hidden word", () => {
  assert.deepEqual(wordsToComplete(["/usr/bin/kubectl_complete-fdb"], ["top", ""]), ["top", ""]);
  assert.deepEqual(wordsToComplete(["node", "/a/kubectl-fdb"], ["__complete", "t"]), ["t"]);
  assert.equal(wordsToComplete(["node", "/a/kubectl-fdb.ts"], ["top"]), undefined);
});

test("[VW18] the scripts are understood by their shells, where these are installed", () => {
  for (const shell of shells) {
    const program = shell === "kubectl" ? "sh" : shell;
    const checked = spawnSync(program, shell === "fish" ? ["--no-execute"] : ["-n"], {
      input: completionScript(shell),
      encoding: "utf8",
    });
    if (checked.error !== undefined) continue;
    assert.deepEqual([checked.status, checked.stderr], [0, ""], shell);
  }
  const bash = spawnSync(
    "bash",
    [
      "-c",
      `${completionScript("bash")}
kubectl-fdb() { printf 'status\\tshow all\\nsample\\n:4\\n'; }
COMP_WORDS=(kubectl-fdb s); COMP_CWORD=1; __kubectl_fdb; echo "\${COMPREPLY[*]}"`,
    ],
    { encoding: "utf8" },
  );
  assert.equal(bash.stdout, "status sample\n", bash.stderr);
});
