// `kubectl fdb failover`: another datacenter of a database in two regions becomes the primary one. The priorities are swapped
// in every resource of the database, since an operator whose resource is left out would swap them back. Rules: spec/failover.md.
import { foundationDbClusters } from "../../api/cluster.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { locksOf } from "../../api/effective.ts";
import { maintenanceWindowsOf } from "../../api/maintenance-windows.ts";
import { sleep } from "../../env/clock.ts";
import { CommandError } from "../../env/command-error.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { primaryDataCenterOf } from "../../model/database-configuration.ts";
import { askDatabase } from "../database/ask-database.ts";
import { showDifference } from "../difference.ts";
import type { OutputForm, WriteFlags } from "../flags.ts";
import { print } from "../print.ts";
import { confirm } from "../prompt.ts";
import { podsOf, readCluster } from "../read-selection.ts";
import type { ConnectionFlags, OpenSession, Session } from "../session.ts";
import { leadershipOf, readinessProblem, shapeProblem } from "./judgement.ts";
import { findMembers, memberName, resourceProblem, swapped, unseenProblem } from "./members.ts";
import type { Member, Place } from "./members.ts";
import { writeSwaps } from "./write-swaps.ts";

export interface FailoverFlags extends WriteFlags, ConnectionFlags {
  output: OutputForm;
  to: string;
  otherContext?: readonly string[];
  /** In milliseconds, as all durations of flags. */
  maxLag: number;
  timeout: number;
}

interface Situation {
  readonly members: readonly Member[];
  readonly status: DatabaseStatus;
  /** Members in whose spec another datacenter comes first. */
  readonly behind: readonly Member[];
}

export async function runFailover(
  session: Session,
  flags: FailoverFlags,
  name: string,
  open: OpenSession,
): Promise<void> {
  const opened: { close(): void }[] = [];
  const places: Place[] = [{ session, context: undefined }];
  try {
    for (const context of new Set(flags.otherContext ?? [])) {
      const other = await open({ ...flags, context });
      opened.push(other);
      places.push({ session: other, context });
    }
    await failOver(session, flags, name, places);
  } finally {
    for (const each of opened) each.close();
  }
}

async function failOver(
  session: Session,
  flags: FailoverFlags,
  name: string,
  places: readonly Place[],
): Promise<void> {
  const { out } = session;
  const { to, dryRun } = flags;
  const first = await lookAt(session, flags, name, places);
  const { primary: from, lagSeconds } = leadershipOf(first.status);
  if (first.behind.length === 0 && from === to) {
    tell(session, flags, first, { from, isDone: true });
    return;
  }
  describe(session, flags, first, from);
  await confirm(session, `Make ${to} the primary datacenter of ${name}`, flags);
  // Somebody may have thought about it for long.
  const { members, behind } = dryRun === true ? first : await lookAt(session, flags, name, places);
  await writeSwaps(behind, to, from, dryRun === true);
  if (dryRun === true || flags.timeout === 0) {
    tell(session, flags, { ...first, members, behind }, { from, lagSeconds, isDone: false });
    return;
  }
  const verb = behind.length === 1 ? "resource has" : "resources have";
  out.note(`${behind.length} ${verb} ${to} first now; waiting until the database follows.\n`);
  const seconds = await untilPrimary(session, flags, members, name);
  tell(session, flags, { ...first, members, behind }, { from, lagSeconds, isDone: true, seconds });
}

/** Everything that speaks against it is an error; what comes back may be swapped. */
async function lookAt(
  session: Session,
  { to, maxLag }: FailoverFlags,
  name: string,
  places: readonly Place[],
): Promise<Situation> {
  const cluster = await readCluster(session, name);
  const status = await statusOf([{ session, context: undefined, cluster }], name);
  const string = status.cluster?.connection_string ?? cluster.status?.connectionString ?? "";
  refuse(name, shapeProblem(status, to));
  const members = await findMembers(places, string);
  refuse(name, unseenProblem(members, status) ?? resourceProblem(members, to));
  const behind = members.filter(({ cluster: { spec } }) => firstOf(spec) !== to);
  // Where the database has it as its primary already, specs only follow.
  if (leadershipOf(status).primary !== to) {
    refuse(name, readinessProblem(status, to, maxLag / 1000));
  }
  return { members, status, behind };
}

function firstOf({ databaseConfiguration = {} }: FoundationDBCluster["spec"]): string {
  return primaryDataCenterOf(databaseConfiguration);
}

function refuse(name: string, problem: string | undefined): void {
  if (problem !== undefined) throw new CommandError(`${name}: ${problem}; nothing was changed`);
}

/** Of the first resource in whose pods somebody answers. */
async function statusOf(members: readonly Member[], name: string): Promise<DatabaseStatus> {
  let why = "";
  for (const { session, cluster } of members) {
    const { client, namespace } = session;
    const own = await podsOf(
      { client, namespace: cluster.metadata.namespace ?? namespace },
      cluster,
    );
    const answer = await askDatabase(session.exec, cluster, own);
    if (answer.kind === "answered") return answer.status;
    why = answer.why;
  }
  throw new CommandError(`${name}: its database cannot be asked: ${why}; nothing was changed`);
}

/** What is about to happen, for the person who is asked. */
function describe(
  { out }: Session,
  { to }: FailoverFlags,
  { members, behind, status }: Situation,
  from: string,
): void {
  const done = members.filter((member) => !behind.includes(member));
  if (done.length > 0 && behind.length > 0) {
    out.note(
      `A swap was begun and not finished: ${to} comes first in ${namesOf(done)}, another in ${namesOf(behind)}.\n`,
    );
  }
  for (const member of behind) {
    showDifference(member.session, memberName(member), member.cluster.spec, swapped(member, to));
  }
  if (from === to) {
    out.note(`${to} is the primary datacenter already: the database stays as it is.\n`);
    return;
  }
  const { lagSeconds = 0 } = leadershipOf(status);
  out.note(
    `${to} is ${Math.round(lagSeconds * 10) / 10} s behind ${from}. The database recovers once in ${to}: commits stop for some ` +
      "seconds, and clients repeat what was under way. Nothing that was committed is lost.\n",
  );
  const unlocked = members.filter(({ cluster }) => !locksOf(cluster.spec).isEnabled);
  if (unlocked.length > 0 && members.length > 1) {
    out.note(
      `${namesOf(unlocked)} works without locks: should this command end half-way, its operator swaps the regions back.\n`,
    );
  }
  const windows = members.filter(({ cluster }) => maintenanceWindowsOf(cluster.spec).length > 0);
  if (windows.length > 0) {
    out.note(`${namesOf(windows)} may wait for a maintenance window before acting.\n`);
  }
}

function namesOf(members: readonly Member[]): string {
  return members.map(memberName).join(", ");
}

const lookEveryMs = 2_000;

/** How many seconds it took. */
async function untilPrimary(
  session: Session,
  { to, timeout }: FailoverFlags,
  members: readonly Member[],
  name: string,
): Promise<number> {
  const { clock } = session;
  const startedMs = clock.nowMs();
  for (;;) {
    const status = await statusOf(members, name).catch(() => undefined);
    const isThere = status !== undefined && leadershipOf(status).primary === to;
    if (isThere && status.cluster?.recovery_state?.name === "fully_recovered") {
      return Math.round((clock.nowMs() - startedMs) / 1000);
    }
    if (clock.nowMs() - startedMs >= timeout) break;
    await sleep(clock, lookEveryMs);
  }
  const waits = await waitsOf(members);
  throw new CommandError(
    `the resources have ${to} first, but it is not the primary yet after ${timeout / 1000} s${waits}; ` +
      "the operators go on with it (kubectl fdb explain), or take it back with --to and the other datacenter",
  );
}

async function waitsOf(members: readonly Member[]): Promise<string> {
  const texts = await Promise.all(
    members.map(async (member) => {
      const { namespace = "", name = "" } = member.cluster.metadata;
      const found: Stored<FoundationDBCluster> | undefined = await member.session.client
        .get(foundationDbClusters, { namespace, name })
        .catch(() => undefined);
      const [wait] = found?.status?.blockedBy ?? [];
      return wait === undefined ? [] : [`${memberName(member)} waits: ${wait.message}`];
    }),
  );
  const all = texts.flat().slice(0, 3);
  return all.length === 0 ? "" : ` (${all.join("; ")})`;
}

function tell(
  session: Session,
  { to, output, dryRun }: FailoverFlags,
  { members, behind }: Situation,
  how: { from: string; lagSeconds?: number | undefined; isDone: boolean; seconds?: number },
): void {
  const { from, lagSeconds, isDone, seconds } = how;
  const report = {
    ...{ to, from, isDone, isDryRun: dryRun === true },
    ...(lagSeconds === undefined ? {} : { lagSeconds }),
    ...(seconds === undefined ? {} : { seconds }),
    resources: members.map((member) => ({
      ...(member.context === undefined ? {} : { context: member.context }),
      namespace: member.cluster.metadata.namespace ?? "",
      name: member.cluster.metadata.name ?? "",
      isChanged: behind.includes(member),
    })),
  };
  print(session, output, report, () => {
    if (behind.length === 0 && from === to) {
      return `${to} is the primary datacenter already, in all ${members.length} resources of the database\n`;
    }
    const verb = dryRun === true ? "would be swapped" : "are swapped";
    const lines = behind.map((member) => `${memberName(member)}: the priorities ${verb}\n`);
    if (isDone && seconds !== undefined) {
      lines.push(`${to} is the primary datacenter, after ${seconds} s\n`);
    }
    return lines.join("");
  });
}
