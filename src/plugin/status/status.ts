// `kubectl fdb status`: the clusters of a namespace or of all, or one of them. Rules: spec/plugin.md [VW11], [VW12].
import { foundationDbClusters } from "../../api/cluster.ts";
import { UsageError } from "../../env/command-error.ts";
import { askDatabase } from "../database/ask-database.ts";
import type { DatabaseAnswer } from "../database/ask-database.ts";
import { readExplainInput } from "../explain/read.ts";
import type { OutputForm } from "../flags.ts";
import { byNamespaceAndName, emptyListText, listed } from "../listing.ts";
import { formatted, print } from "../print.ts";
import { redrawn } from "../redraw.ts";
import type { Drawing } from "../redraw.ts";
import type { Session } from "../session.ts";
import { statusTable, statusText } from "./status-text.ts";
import { statusPage, statusRow } from "./status-view.ts";
import type { StatusPage, StatusRow } from "./status-view.ts";

export interface StatusFlags {
  output: OutputForm;
  allNamespaces?: boolean;
  watch?: boolean;
  interval: number;
}

export async function runStatus(
  session: Session,
  flags: StatusFlags,
  name: string | undefined,
): Promise<void> {
  if (name !== undefined && flags.allNamespaces === true) {
    throw new UsageError("--all-namespaces lists every cluster: it goes with no name");
  }
  if (flags.watch === true && flags.output !== "text") {
    throw new UsageError(
      `--watch draws a page again and again: it does not go with -o ${flags.output}`,
    );
  }
  const draw = (): Promise<Drawing> =>
    name === undefined ? drawTable(session, flags) : drawPage(session, name);
  if (flags.watch === true) return redrawn(session, flags.interval, draw);
  if (name === undefined) {
    const rows = await readRows(session, flags);
    const text = (): string => `${tableLinesOf(session, flags, rows).join("\n")}\n`;
    return print(session, flags.output, { clusters: rows }, text);
  }
  const page = await readPage(session, name);
  session.out.write(formatted(flags.output, page, () => statusText(page, session.out)));
}

async function drawTable(session: Session, flags: StatusFlags): Promise<Drawing> {
  const rows = await readRows(session, flags);
  return {
    lines: tableLinesOf(session, flags, rows),
    key: JSON.stringify(
      rows.map(({ namespace, cluster, ...row }) => [namespace, cluster, news(row)]),
    ),
  };
}

async function drawPage(session: Session, name: string): Promise<Drawing> {
  const page = await readPage(session, name);
  const { classes, silent } = page;
  return {
    lines: statusText(page, session.out).trimEnd().split("\n"),
    key: JSON.stringify([news(page), classes, silent]),
  };
}

/** What a person would want to be told; ages and figures change all the time. */
function news(
  page: Pick<StatusPage, "doing" | "reconciled" | "serving" | "sound" | "verdict" | "waits">,
): unknown {
  const { verdict, serving, sound, reconciled, doing, waits } = page;
  return [
    verdict,
    serving.answer,
    sound.answer,
    reconciled.answer,
    reconciled.generation,
    doing,
    waits.map(({ step, reason, message }) => [step, reason, message]),
  ];
}

async function readRows(session: Session, flags: StatusFlags): Promise<StatusRow[]> {
  const clusters = await listed(session, foundationDbClusters, flags);
  const nowMs = session.serverNowMs();
  return clusters.toSorted(byNamespaceAndName).map((cluster) => statusRow(cluster, nowMs));
}

function tableLinesOf(session: Session, flags: StatusFlags, rows: readonly StatusRow[]): string[] {
  if (rows.length === 0) return [emptyListText(session, foundationDbClusters, flags)];
  const hasNamespaces = flags.allNamespaces === true;
  return statusTable(rows, { hasNamespaces }, session.out);
}

async function readPage(session: Session, name: string): Promise<StatusPage> {
  const { client, namespace, server, exec } = session;
  const input = await readExplainInput(client, { namespace, name }, server);
  const answer: DatabaseAnswer =
    input.pods === undefined
      ? { kind: "silent", why: "its pods cannot be read" }
      : await askDatabase(exec, input.cluster, input.pods);
  return statusPage(input, answer, session.serverNowMs());
}
