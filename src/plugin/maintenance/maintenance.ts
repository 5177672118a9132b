// `kubectl fdb maintenance`: one fault domain under FoundationDB's maintenance, so that nothing is copied while a node is away.
// The mark of the person is written before it begins, so that no operator takes it for its own. Rules: spec/maintenance.md.
import { isAvailable } from "../../model/availability.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import { sleep } from "../../env/clock.ts";
import { CommandError } from "../../env/command-error.ts";
import { personsMark } from "../../fdb/maintenance-list.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Pod } from "../../kube/generated/types.ts";
import { nodes } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { OutputForm, WriteFlags } from "../flags.ts";
import { askStatus, mustRunIn } from "../pod-commands.ts";
import type { AskedStatus } from "../pod-commands.ts";
import { print } from "../print.ts";
import { confirm } from "../prompt.ts";
import { podsOf, readCluster } from "../read-selection.ts";
import type { Session } from "../session.ts";
import { looking, marking, unmarking } from "./marks.ts";
import { storageIn, targetZone } from "./target-zone.ts";
import type { Place } from "./target-zone.ts";

type Cluster = Stored<FoundationDBCluster>;

export interface StartFlags extends WriteFlags {
  fdbCluster: string;
  /** How long, in ms. */
  for: number;
}

export interface EndFlags extends WriteFlags {
  fdbCluster: string;
}

const nothingChanged = "nothing was changed";
const toolSeconds = 30;
const zoneLabel = "topology.kubernetes.io/zone";
const looksMax = 5;

export async function runMaintenanceStart(
  session: Session,
  flags: StartFlags,
  name: string,
): Promise<void> {
  const { out, namespace } = session;
  const cluster = await readCluster(session, flags.fdbCluster);
  const asked = await ask(session, cluster);
  const refusal = startProblem(asked.status);
  if (refusal !== undefined) throw new CommandError(`${refusal}; ${nothingChanged}`);
  const place = await placeOf(session, cluster, name);
  const target = targetZone(name, asked.status, place);
  if ("problem" in target) throw new CommandError(`${target.problem}; ${nothingChanged}`);
  const { zone, storage } = target;
  const seconds = Math.round(flags.for / 1000);
  const where = `fault domain ${zone} of ${namespace}/${flags.fdbCluster}`;
  await confirm(
    session,
    `Put ${where} (${storage.join(", ")}) under maintenance for ${seconds} s`,
    flags,
  );
  if (flags.dryRun === true) {
    out.write(`${where}: would be under maintenance for ${seconds} s\n`);
    return;
  }
  const ids = [personsMark(zone), ...storage];
  const nowSeconds = Math.floor(session.serverNowMs() / 1000);
  const failure = await failureOf(session, asked.pod, [
    ...marking(cluster, ids, nowSeconds),
    `maintenance on ${zone} ${seconds}`,
  ]);
  const found = await zoneAfter(session, cluster, zone);
  if (found !== zone) await giveUp(session, { cluster, pod: asked.pod, zone, ids }, found, failure);
  out.write(
    `${where} is under maintenance for ${seconds} s. It ends by itself when ${storage.join(", ")} have restarted.\n`,
  );
}

/** Why no maintenance may begin now, as a clause. */
function startProblem(status: DatabaseStatus): string | undefined {
  const { maintenance_zone: zone = "", maintenance_seconds_remaining: left } = status.cluster ?? {};
  if (zone !== "") {
    return `fault domain ${zone} is under maintenance for another ${Math.round(left ?? 0)} s, and there is one at a time`;
  }
  if (!isAvailable(status)) return "the database is not available";
  const figures = status.cluster?.fault_tolerance;
  const data = figures?.max_zone_failures_without_losing_data ?? 0;
  const availability = figures?.max_zone_failures_without_losing_availability ?? 0;
  return Math.min(data, availability) > 0
    ? undefined
    : "the database cannot lose a fault domain now (kubectl fdb status says why)";
}

export async function runMaintenanceEnd(session: Session, flags: EndFlags): Promise<void> {
  const { out, namespace } = session;
  const cluster = await readCluster(session, flags.fdbCluster);
  const { status, pod } = await ask(session, cluster);
  const zone = status.cluster?.maintenance_zone ?? "";
  if (zone === "")
    throw new CommandError(`no fault domain is under maintenance; ${nothingChanged}`);
  if (!(await isPersons(session, cluster, pod, zone))) {
    throw new CommandError(
      `an operator has fault domain ${zone} under maintenance, and ends it when its pods are back ` +
        `(by hand: fdbcli --exec "maintenance off"); ${nothingChanged}`,
    );
  }
  const where = `fault domain ${zone} of ${namespace}/${flags.fdbCluster}`;
  await confirm(session, `End the maintenance of ${where}`, flags);
  if (flags.dryRun === true) {
    out.write(`${where}: the maintenance would end\n`);
    return;
  }
  const ids = [personsMark(zone), ...idsIn(cluster, status, zone)];
  await tell(session, pod, ["maintenance off", ...unmarking(cluster, ids)]);
  out.write(`${where}: the maintenance has ended\n`);
}

export interface MaintenanceView {
  readonly cluster: string;
  readonly faultDomain?: string;
  readonly secondsLeft?: number;
  readonly by?: "person" | "operator";
  /** Process groups with storage that do not report from there. */
  readonly away?: readonly string[];
}

export async function runMaintenanceStatus(
  session: Session,
  flags: { output: OutputForm },
  name: string,
): Promise<void> {
  const cluster = await readCluster(session, name);
  const { status, pod } = await ask(session, cluster);
  const { maintenance_zone: zone = "", maintenance_seconds_remaining: left } = status.cluster ?? {};
  if (zone === "") {
    const view: MaintenanceView = { cluster: name };
    print(session, flags.output, view, () => "no fault domain is under maintenance\n");
    return;
  }
  const here = new Set(storageIn(status, zone));
  const view: MaintenanceView = {
    cluster: name,
    faultDomain: zone,
    secondsLeft: Math.round(left ?? 0),
    by: (await isPersons(session, cluster, pod, zone)) ? "person" : "operator",
    away: idsIn(cluster, status, zone).filter((id) => !here.has(id)),
  };
  print(session, flags.output, view, () => textOf(view));
}

function textOf({ faultDomain, secondsLeft, by, away = [] }: MaintenanceView): string {
  const whose = by === "person" ? "announced by a person" : "begun by an operator";
  const rest = away.length === 0 ? "" : `; away: ${away.join(", ")}`;
  return `fault domain ${faultDomain} is under maintenance for another ${secondsLeft} s, ${whose}${rest}\n`;
}

/** Process groups with storage there: those that report, and those of this resource that do not. */
function idsIn(cluster: Cluster, status: DatabaseStatus, zone: string): string[] {
  const known = (cluster.status?.processGroups ?? [])
    .filter((group) => group.processClass === "storage" && group.faultDomain === zone)
    .map((group) => group.processGroupID);
  return [...new Set([...known, ...storageIn(status, zone)])].sort();
}

async function ask(session: Session, cluster: Cluster): Promise<AskedStatus> {
  const asked = await askStatus(session, cluster);
  if (typeof asked !== "string") return asked;
  throw new CommandError(`the database cannot be asked: ${asked}; ${nothingChanged}`);
}

async function placeOf(session: Session, cluster: Cluster, name: string): Promise<Place> {
  const [label = ""] = labelsOf(cluster).processGroupIdLabels;
  const nodeOf = new Map(
    (await podsOf(session, cluster)).map(({ metadata, spec }: Stored<Pod>) => [
      metadata.labels?.[label] ?? "",
      spec?.nodeName ?? "",
    ]),
  );
  return { nodeOf, nodesOfZone: await nodesOf(session, name) };
}

/** Whoever may not look at nodes names a node or a fault domain. */
async function nodesOf({ client }: Session, zone: string): Promise<string[]> {
  // What cannot be a label names no zone.
  if (!/^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/.test(zone)) return [];
  try {
    const { items } = await client.listAll(nodes, { labelSelector: `${zoneLabel}=${zone}` });
    return items.map(({ metadata }) => metadata.name ?? "");
  } catch (error) {
    if (isKubeError(error, "Forbidden")) return [];
    throw error;
  }
}

async function tell(session: Session, pod: string, commands: readonly string[]): Promise<string> {
  const command = ["fdbcli", "--timeout", String(toolSeconds), "--exec", commands.join("; ")];
  return (await mustRunIn(session, pod, command)).stdout;
}

async function isPersons(
  session: Session,
  cluster: Cluster,
  pod: string,
  zone: string,
): Promise<boolean> {
  const answer = await tell(session, pod, looking(cluster, personsMark(zone)));
  return !answer.includes(": not found");
}

/** What went wrong; a command that failed, or whose answer was lost, may have been carried out all the same. */
async function failureOf(
  session: Session,
  pod: string,
  commands: readonly string[],
): Promise<Error | undefined> {
  try {
    await tell(session, pod, commands);
    return undefined;
  } catch (error) {
    if (error instanceof CommandError || isKubeError(error)) return error;
    throw error;
  }
}

/** Which fault domain is under maintenance after all; an error when that cannot be told. */
async function zoneAfter(
  session: Session,
  cluster: Cluster,
  zone: string,
): Promise<string | Error> {
  let now: string | Error = "";
  for (let look = 0; look < looksMax && now !== zone; look += 1) {
    if (look > 0) await sleep(session.clock, 1_000, session.signal);
    const asked = await askStatus(session, cluster);
    now =
      typeof asked === "string" ? new Error(asked) : (asked.status.cluster?.maintenance_zone ?? "");
    if (typeof now === "string" && now !== "") break;
  }
  return now;
}

interface Attempt {
  readonly cluster: Cluster;
  readonly pod: string;
  readonly zone: string;
  readonly ids: readonly string[];
}

/**
 * Somebody else may have begun another one at the same moment: FoundationDB keeps the last. What is listed is taken back only when
 * it is certain that nothing came of it: a maintenance without its mark would be nobody's.
 */
async function giveUp(
  session: Session,
  { cluster, pod, zone, ids }: Attempt,
  found: string | Error,
  failure: Error | undefined,
): Promise<never> {
  const doubt = typeof found === "string" ? lostAnswer(failure) : found;
  if (doubt !== undefined) {
    throw new CommandError(
      `it is not known whether fault domain ${zone} is under maintenance now: ${doubt.message} ` +
        "(kubectl fdb maintenance status tells, and maintenance end ends it)",
    );
  }
  await takeBack(session, cluster, pod, ids);
  if (failure !== undefined) throw failure;
  throw new CommandError(
    found === ""
      ? `fault domain ${zone} is not under maintenance: FoundationDB ends it when another fault domain fails`
      : `somebody else has put fault domain ${String(found)} under maintenance at the same time, and there is one at a time`,
  );
}

/** An exit code says that the command has ended; one whose connection broke may still run. */
function lostAnswer(failure: Error | undefined): Error | undefined {
  return failure instanceof CommandError ? undefined : failure;
}

/** What is listed for a maintenance that did not come about would only be in the way of others. */
async function takeBack(
  session: Session,
  cluster: Cluster,
  pod: string,
  ids: readonly string[],
): Promise<void> {
  try {
    await tell(session, pod, unmarking(cluster, ids));
  } catch (error) {
    // It means nothing after four hours, and what went wrong before is told.
    if (!(error instanceof CommandError) && !isKubeError(error)) throw error;
  }
}
