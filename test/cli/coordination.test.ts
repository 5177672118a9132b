// `kubectl fdb coordination` as a person calls it, against a running `npm start`. Rules: spec/coordination.md [CO54]-[CO56].
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runCommand, startCommand } from "./run-command.ts";

test("[CO54] [CO56] the sets of a cluster of npm start are shown, and nobody clears what lives", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-coordination-"));
  const kubeconfig = join(folder, "kubeconfig");
  const world = startCommand([...["dev", "--port", "0", "--kubeconfig", kubeconfig]]);
  try {
    await world.waitForOutput("Ctrl-C stops everything.");
    const args = ["sample", "-n", "default", "--kubeconfig", kubeconfig];
    const shown = await runCommand(["coordination", "show", ...args]);
    assert.deepEqual([shown.stderr, shown.code], ["", 0]);
    assert.equal(shown.stdout, "The coordination sets are empty.\n");
    const cleared = await runCommand(["coordination", "clear", ...args, "--prefix", "lost"]);
    assert.equal(cleared.stdout, "Took 0 entries of lost out of the coordination sets.\n");
    const missing = await runCommand(["coordination", "show", "nobody", ...args.slice(1)]);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /there is no FoundationDBCluster nobody in namespace default/);
  } finally {
    world.signal("SIGINT");
    await world.finished;
    rmSync(folder, { recursive: true, force: true });
  }
});
