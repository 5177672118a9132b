// `kubectl fdb get exclusion-status`: watches excluded processes until their data is moved away. Rules: spec/plugin.md [PL65].
import { sleep } from "../env/clock.ts";
import { CommandError } from "../env/command-error.ts";
import { leavingOf, progressOf } from "./exclusions.ts";
import type { Progress } from "./exclusions.ts";
import type { OutputForm } from "./flags.ts";
import { askStatus } from "./pod-commands.ts";
import { print } from "./print.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

export interface ExclusionFlags {
  output: OutputForm;
  ignoreFullyExcluded: boolean;
  interval: number;
  once?: boolean;
}

export async function runExclusionStatus(
  session: Session,
  flags: ExclusionFlags,
  name: string,
): Promise<void> {
  const { out, clock, signal } = session;
  const cluster = await readCluster(session, name);
  let progress: readonly Progress[] = [];
  while (!signal.aborted) {
    const asked = await askStatus(session, cluster);
    if (typeof asked === "string") throw new CommandError(`the database cannot be asked: ${asked}`);
    progress = progressOf(
      leavingOf(asked.status, flags.ignoreFullyExcluded),
      progress,
      flags.interval,
    );
    const trackers = (asked.status.cluster?.data?.team_trackers ?? []).map((tracker) => ({
      region: tracker.primary ? "primary" : "remote",
      unhealthyServers: tracker.unhealthy_servers ?? 0,
      minReplicasRemaining: tracker.state?.min_replicas_remaining ?? 0,
    }));
    print(session, flags.output, { cluster: name, leaving: progress, trackers }, () =>
      [
        ...progress.map(lineOf),
        ...trackers.map(
          (each) =>
            `region: ${each.region}, unhealthy servers ${each.unhealthyServers}, min replicas remaining ${each.minReplicasRemaining}`,
        ),
        progress.length === 0 ? "All exclusions completed!" : "",
      ]
        .filter((line) => line !== "")
        .map((line) => `${line}\n`)
        .join(""),
    );
    if (progress.every(({ storedBytes }) => storedBytes === 0)) return;
    if (flags.once === true || flags.output !== "text") return;
    if (out.isTerminal) out.note(`again in ${flags.interval / 1000} s; Ctrl-C ends it\n`);
    await sleep(clock, flags.interval, signal);
  }
}

function lineOf({ id, role, storedBytes, firstBytes, leftMs }: Progress): string {
  const done = firstBytes === 0 ? 100 : Math.floor((1 - storedBytes / firstBytes) * 100);
  const left = leftMs === undefined ? "unknown" : `${Math.ceil(leftMs / 1000)}s`;
  return `${id} (${role}): ${done}% moved, ${storedBytes} bytes are left, estimate: ${left}`;
}
