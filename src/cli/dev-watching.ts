// What `npm start` tells while the operators work: a view of every cluster until all are reconciled, and a line an event
// where no view is drawn. Rules: spec/cli.md [CLI1]-[CLI3], spec/multi.md [MU10].
import { append } from "../env/long-lists.ts";
import { foundationDbBackups } from "../api/backup.ts";
import type { FoundationDBBackup } from "../api/backup.ts";
import { foundationDbRestores } from "../api/restore.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { sleep } from "../env/clock.ts";
import type { Clock } from "../env/clock.ts";
import type { Activity } from "../operate/activity.ts";
import type { World } from "../sim/world.ts";
import { isBackupSettled, renderBackup, whyNotSettled } from "./backup-view.ts";
import type { BackupTeller } from "./backup-view.ts";
import type { ViewOptions } from "./progress-view.ts";
import { isRestoreSettled, renderRestore, whyNotRestored } from "./restore-view.ts";
import type { RestoreTeller } from "./restore-view.ts";
import { CommandError } from "../env/command-error.ts";
import { isCalm, isRefused, isSettled, progressOf, whyNotReconciled } from "./dev-progress.ts";
import { formatElapsed, renderBrief, renderProgress } from "./progress-view.ts";
import type { Output } from "./terminal.ts";

/** What the command needs of the machine, so that a test can stand in for it. */
export interface DevHost {
  output: Output;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** Runs in real time whatever --speed says. */
  realClock: Clock;
}

/** A Kubernetes cluster and what its operator did last. */
export interface WatchedSite {
  world: World;
  recent: readonly string[];
}

export interface Watching {
  startedMs: number;
  /** How much faster than real time the clusters live. */
  speed: number;
  /** In real time; never when absent. */
  deadlineMs?: number;
  timeoutSeconds: number;
  tellers: Tellers;
}

/** So long data may move before a reconciled cluster is shown all the same. */
const calmMaximumMs = 60_000;

export async function clustersOf(world: World): Promise<FoundationDBCluster[]> {
  return (await world.client.list(foundationDbClusters)).items;
}

export async function backupsOf(world: World): Promise<FoundationDBBackup[]> {
  return (await world.client.list(foundationDbBackups)).items;
}

/** Who tells news in piped output. */
export interface Tellers {
  backup: BackupTeller;
  restore: RestoreTeller;
}

interface Shown {
  lines: readonly string[];
  tell: (tellers: Tellers, nowMs: number) => void;
  /** Why it is not settled; undefined when it is. */
  why: string | undefined;
  isRefused: boolean;
}

/** Backups and restores. */
export async function shownBeside(world: World, options: ViewOptions): Promise<Shown[]> {
  const backups = (await backupsOf(world)).map((backup): Shown => {
    const { namespace = "", name: own = "" } = backup.metadata;
    const name = named(world, own);
    return {
      lines: renderBackup(name, backup, options),
      tell: (tellers, nowMs) => tellers.backup(`${namespace}/${name}`, backup, nowMs),
      why: isBackupSettled(backup) ? undefined : `backup ${name}: ${whyNotSettled(backup)}`,
      isRefused: isRefused(backup),
    };
  });
  const { items } = await world.client.list(foundationDbRestores);
  const restores = items.map((restore): Shown => {
    const { namespace = "", name: own = "" } = restore.metadata;
    const name = named(world, own);
    return {
      lines: renderRestore(name, restore, options),
      tell: (tellers, nowMs) => tellers.restore(`${namespace}/${name}`, restore, nowMs),
      why: isRestoreSettled(restore) ? undefined : `restore ${name}: ${whyNotRestored(restore)}`,
      isRefused: isRefused(restore),
    };
  });
  return [...backups, ...restores];
}

/** Ends when every cluster is reconciled, every backup can be restored and every restore has ended, or the signal is given. */
export async function watchUntilReconciled(
  sites: readonly WatchedSite[],
  host: DevHost,
  { startedMs, speed, deadlineMs = Infinity, timeoutSeconds, tellers }: Watching,
): Promise<void> {
  const [first] = sites;
  const nowMs = (): number => first?.world.clock.nowMs() ?? startedMs;
  let settledMs = Infinity;
  while (!host.signal.aborted) {
    const late: string[] = [];
    const refused: string[] = [];
    let isAllCalm = true;
    const lines: string[] = [];
    for (const { world, recent } of sites) {
      for (const cluster of await clustersOf(world)) {
        const state = progressOf(cluster, { nowMs: nowMs(), startedMs, actions: recent });
        if (sites.length === 1) append(lines, renderProgress(state, host.output));
        else append(lines, renderBrief({ ...state, name: named(world, state.name) }, host.output));
        isAllCalm &&= isCalm(cluster);
        if (isSettled(cluster)) continue;
        const name = named(world, cluster.metadata.name ?? "");
        const why = `${name}: ${whyNotReconciled(cluster)}`;
        late.push(why);
        if (isRefused(cluster)) refused.push(why);
      }
      for (const shown of await shownBeside(world, host.output)) {
        append(lines, shown.lines);
        if (!host.output.isLive) shown.tell(tellers, nowMs());
        if (shown.why === undefined) continue;
        late.push(shown.why);
        if (shown.isRefused) refused.push(shown.why);
      }
    }
    host.output.live(lines);
    // The last view shows the database as it is to stay, unless that takes long.
    settledMs = late.length === 0 ? Math.min(settledMs, nowMs()) : Infinity;
    if (late.length === 0 && (isAllCalm || nowMs() - settledMs >= calmMaximumMs)) {
      host.output.settle();
      const elapsed = formatElapsed(nowMs() - startedMs);
      host.output.line(`Reconciled after ${elapsed}${speed === 1 ? "" : " of virtual time"}.`);
      return;
    }
    // Nothing but another spec ends this, and nobody will write one.
    if (refused.length > 0 && deadlineMs < Infinity) {
      host.output.settle();
      throw new CommandError(`not valid: ${refused.join("; ")}`);
    }
    if (host.realClock.nowMs() >= deadlineMs) {
      host.output.settle();
      throw new CommandError(`not reconciled within ${timeoutSeconds} s: ${late.join("; ")}`);
    }
    await sleep(host.realClock, 100, host.signal);
  }
}

export function named({ name: site }: World, cluster: string): string {
  return site === "" ? cluster : `${site}/${cluster}`;
}

/** On a terminal the live region tells; piped output and the time after the start get a line an event. */
export function reporter(
  output: Output,
  recent: string[],
  startedMs: number,
  site: string,
): (activity: Activity) => void {
  const shownWaits = new Map<string, string>();
  return (activity) => {
    const time = formatElapsed(activity.atMs - startedMs);
    const place = site === "" ? activity.cluster : `${site} ${activity.cluster}`;
    if (activity.type === "invalid") {
      for (const problem of activity.problems) {
        output.line(`${time}  ${place}  is not valid: ${problem}`);
      }
    } else if (activity.type === "action") {
      const failure = activity.error === undefined ? "" : ` failed: ${activity.error}`;
      recent.push(`${activity.text}${failure}`);
      if (recent.length > 50) recent.shift();
      if (!output.isLive) output.line(`${time}  ${place}  ${activity.text}${failure}`);
    } else if (activity.type === "waits" && !output.isLive) {
      const reasons = activity.waits.map((wait) => `${wait.step}/${wait.reason}`).join(" ");
      if (reasons === shownWaits.get(activity.cluster)) return;
      shownWaits.set(activity.cluster, reasons);
      for (const wait of activity.waits) {
        output.line(`${time}  ${place}  waits: ${wait.message} (${wait.step})`);
      }
    }
  };
}
