// `kubectl fdb report`: one file with what somebody who is to help needs to know of a cluster, without its secrets.
// Rules: spec/report.md [PIC30]-[PIC36].
import { readFileSync } from "node:fs";
import { foundationDbClusters } from "../api/cluster.ts";
import { CommandError } from "../env/command-error.ts";
import { version } from "../env/program-version.ts";
import { parseTime } from "../kube/time.ts";
import { findOperators } from "../plugin/version.ts";
import { explainText } from "../plugin/explain/explain.ts";
import { readNamed } from "../plugin/read-named.ts";
import { serverClockOf } from "../plugin/session.ts";
import type { Session } from "../plugin/session.ts";
import { statusIn } from "../preview/take-status.ts";
import { bundleFiles, folderName } from "./bundle-files.ts";
import { gather } from "./gather.ts";
import { refuseExisting, writeBundle } from "./write-bundle.ts";

export interface ReportFlags {
  file?: string;
  logLines: number;
  timeout: number;
  status?: string;
}

export async function runReport(session: Session, name: string, flags: ReportFlags): Promise<void> {
  const { client, exec, clock, namespace, server, signal, out } = session;
  if (flags.file !== undefined) await refuseExisting(flags.file);
  const databaseStatus = flags.status === undefined ? undefined : statusOfFile(flags.status);
  const cluster = await readNamed(client, foundationDbClusters, { namespace, name }, server);
  const gathered = await gather({ client, exec, clock: serverClockOf(session), signal }, cluster, {
    ...{ logLines: flags.logLines, timeoutMs: flags.timeout, versions: { plugin: version } },
    ...(databaseStatus === undefined ? {} : { databaseStatus }),
    // The namespace is that of the cluster; the operator may work from another one.
    findOperators: () => findOperators({ ...session, isNamespaceGiven: false }, undefined),
    explain: () => explainPage(session, name),
    onProgress: (text) => out.note(`reading ${text}\n`),
  });
  if (signal.aborted) throw new CommandError("interrupted: no bundle was written");
  const folder = folderName(gathered.picture);
  const file = flags.file ?? `${folder}.tar.gz`;
  const { files, left } = bundleFiles(gathered, folder);
  const takenAtMs = parseTime(gathered.picture.takenAt) ?? clock.nowMs();
  const bytes = await writeBundle(file, files, takenAtMs / 1000);
  out.write(`${file}: ${files.length} files, ${Math.ceil(bytes / 1024)} KiB\n`);
  for (const { what, why } of left) out.note(`left out: ${what} (${why})\n`);
  out.note(`${folder}/index.md says what lies where. Look through it before you hand it on.\n`);
}

/** As a file shows it: not as wide or coloured as the terminal. */
function explainPage(
  { client, namespace, server, serverNowMs }: Session,
  name: string,
): Promise<string> {
  const form = { width: 100, hasColor: false };
  return explainText(client, { name, namespace }, server, { nowMs: serverNowMs }, "text", form);
}

/** What `fdbcli --exec "status json"` wrote into a file. */
export function statusOfFile(file: string): object {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(`cannot read ${file}: ${(error as Error).message}`);
  }
  const status = statusIn(text);
  if (status !== undefined) return status;
  throw new CommandError(
    `${file} holds no status of a database: write it with fdbcli --exec "status json"`,
  );
}
