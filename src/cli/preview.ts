// `kubectl fdb preview`: takes or loads a picture, lets the operator work in copies of it, and prints the page.
// Rules: spec/preview.md [PV11].
import { readFileSync } from "node:fs";
import { foundationDbClusters } from "../api/cluster.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import { version } from "../env/program-version.ts";
import { nanosOf, parseQuantity } from "../model/quantity.ts";
import type { OutputForm } from "../plugin/flags.ts";
import { formatted } from "../plugin/print.ts";
import { readNamed } from "../plugin/read-named.ts";
import { serverClockOf } from "../plugin/session.ts";
import type { Session } from "../plugin/session.ts";
import { readFailConditions } from "../preview/fail-on.ts";
import type { FailCondition } from "../preview/fail-on.ts";
import { pageOf } from "../preview/page.ts";
import { problemText, readPicture } from "../preview/picture.ts";
import type { Picture } from "../preview/picture.ts";
import { preview } from "../preview/preview.ts";
import { loadPicture, savePicture } from "../preview/save-picture.ts";
import { takePicture } from "../preview/take-picture.ts";
import { changeOf } from "./preview-change.ts";
import type { ChangeFlags } from "./preview-change.ts";

export interface PreviewFlags extends ChangeFlags {
  output: OutputForm;
  save?: string;
  status?: string;
  seeds: number;
  moveRate: string;
  limit: number;
  cpu: number;
  failOn?: string;
  namespace?: string;
}

type Write = (text: string) => void;

/** A pipeline tells a met condition from a preview that did not work. */
const metExitCode = 3;

export async function runPreviewCommand(
  session: Session,
  name: string,
  flags: PreviewFlags,
): Promise<void> {
  const conditions = conditionsOf(flags);
  const { client, exec, signal, namespace, server } = session;
  const cluster = await readNamed(client, foundationDbClusters, { namespace, name }, server);
  const picture = await takePicture(
    { client, exec, clock: serverClockOf(session), signal },
    cluster,
    {
      versions: { plugin: version },
      ...(flags.status === undefined ? {} : { databaseStatus: statusOf(flags.status) }),
      onProgress: (what) => session.out.note(`reading ${what}\n`),
    },
  );
  if (flags.save !== undefined) savePicture(flags.save, picture);
  await tell(picture, flags, conditions, (text) => session.out.write(text));
}

/** Without a server: of a picture that was saved. */
export async function previewOffline(
  name: string | undefined,
  flags: PreviewFlags,
  write: Write,
): Promise<void> {
  const conditions = conditionsOf(flags);
  const loaded = loadPicture(flags.from ?? "");
  const picture =
    flags.status === undefined ? loaded : { ...loaded, databaseStatus: statusOf(flags.status) };
  const found = picture.cluster.metadata;
  const isOther = flags.namespace !== undefined && flags.namespace !== found.namespace;
  if ((name !== undefined && found.name !== name) || isOther) {
    throw new CommandError(`${flags.from} is a picture of ${found.namespace}/${found.name}`);
  }
  if (flags.save !== undefined) savePicture(flags.save, picture);
  await tell(picture, flags, conditions, write);
}

function conditionsOf({ failOn }: PreviewFlags): readonly FailCondition[] {
  if (failOn === undefined) return [];
  const reading = readFailConditions(failOn);
  if ("problem" in reading) throw new UsageError(reading.problem);
  return reading.conditions;
}

function statusOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CommandError(`cannot read the status from ${file}: ${(error as Error).message}`);
  }
}

async function tell(
  given: Picture,
  flags: PreviewFlags,
  conditions: readonly FailCondition[],
  write: Write,
): Promise<void> {
  const reading = readPicture(given);
  if ("problems" in reading) throw unusable(reading.problems.map(problemText));
  const { picture } = reading;
  const { change, text: changeText, warnings } = await changeOf(picture.cluster, flags);
  const usage = process.cpuUsage();
  const isOutOfCpu = (): boolean => {
    const { user, system } = process.cpuUsage(usage);
    return (user + system) / 1000 > flags.cpu;
  };
  const result = await preview({
    ...{ picture, change, changeText, warnings, isOutOfCpu },
    ...{ limitMs: flags.limit, seeds: flags.seeds },
    bytesPerSecond: rateOf(flags.moveRate),
  });
  if ("problems" in result) throw unusable(result.problems.map(problemText));
  write(formatted(flags.output, result.report, () => pageOf(result.report)));
  const met = conditions.filter(({ isMet }) => isMet(result.report)).map(({ text }) => text);
  if (met.length > 0) throw new CommandError(`--fail-on: ${met.join(", ")}`, metExitCode);
  if (result.report.outcome !== "refused") return;
  // A pipeline must not take a change for harmless that nobody would accept.
  const code = conditions.length > 0 ? metExitCode : 1;
  throw new CommandError("the change would be refused", code);
}

function unusable(problems: readonly string[]): CommandError {
  return new CommandError(`this picture cannot be woken: ${problems.join("; ")}`);
}

function rateOf(text: string): number {
  const quantity = text.replace(/([kMGTP]i?)B$/, "$1");
  const bytes = parseQuantity(quantity).ok ? Number(nanosOf(quantity)) / 1e9 : 0;
  if (bytes >= 1) return bytes;
  throw new UsageError(`--move-rate ${text}: write bytes in a second, such as 50MB`);
}
