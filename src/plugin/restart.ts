// `kubectl fdb restart`: ends fdbserver in pods; the monitor beside it starts it again. Rules: spec/plugin.md [PL63].
import { sleep } from "../env/clock.ts";
import { CommandError } from "../env/command-error.ts";
import { isKubeError } from "../kube/error.ts";
import type { WriteFlags } from "./flags.ts";
import { runIn } from "./pod-commands.ts";
import { confirm } from "./prompt.ts";
import { readSelection } from "./read-selection.ts";
import { podNamesOf } from "./selection.ts";
import type { SelectionFlags } from "./selection.ts";
import type { Session } from "./session.ts";

export interface RestartFlags extends SelectionFlags, WriteFlags {
  sleep: number;
}

export async function runRestart(
  session: Session,
  flags: RestartFlags,
  names: readonly string[],
): Promise<void> {
  const { out, clock, namespace } = session;
  const problems: string[] = [];
  for (const { cluster, ids } of await readSelection(session, flags, names)) {
    const pods = podNamesOf(cluster, ids);
    const { available, fullReplication } = cluster.status?.health ?? {};
    if (available !== true || fullReplication !== true) {
      out.note(
        "The database is not available or lacks copies of data at the moment: a restart may make that worse.\n",
      );
    }
    const place = `${namespace}/${cluster.metadata.name}`;
    await confirm(session, `Restart ${pods.join(", ")} in cluster ${place}`, flags);
    for (const [index, pod] of pods.entries()) {
      if (flags.dryRun === true) {
        out.write(`${pod}: would be restarted\n`);
        continue;
      }
      if (index > 0) await sleep(clock, flags.sleep);
      try {
        const { exitCode, stderr } = await runIn(session, pod, ["pkill", "fdbserver"]);
        if (exitCode === 0) out.write(`${pod}: restarts\n`);
        else problems.push(`${pod}: ${exitCode === 1 ? "no fdbserver runs in it" : stderr.trim()}`);
      } catch (error) {
        // The other pods do not depend on this one.
        if (!isKubeError(error) || error.reason === "Forbidden") throw error;
        problems.push(`${pod}: ${error.message}`);
      }
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join("; "));
}
