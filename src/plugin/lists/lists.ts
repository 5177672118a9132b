// `kubectl fdb backup list` and `restore list`. Rules: spec/plugin.md [VW17].
import { foundationDbBackups } from "../../api/backup.ts";
import { foundationDbRestores } from "../../api/restore.ts";
import type { OutputForm } from "../flags.ts";
import { byNamespaceAndName, emptyListText, listed } from "../listing.ts";
import { print } from "../print.ts";
import type { Session } from "../session.ts";
import { backupTable, restoreTable } from "./list-text.ts";
import { backupRow, restoreRow } from "./list-views.ts";

export interface ListCommandFlags {
  output: OutputForm;
  allNamespaces?: boolean;
}

export async function runBackupList(session: Session, flags: ListCommandFlags): Promise<void> {
  const found = (await listed(session, foundationDbBackups, flags)).toSorted(byNamespaceAndName);
  const rows = found.map((backup) => backupRow(backup, session.serverNowMs()));
  const options = { hasNamespaces: flags.allNamespaces === true };
  print(session, flags.output, { backups: rows }, () =>
    rows.length === 0
      ? `${emptyListText(session, foundationDbBackups, flags)}\n`
      : `${backupTable(rows, options, session.out).join("\n")}\n`,
  );
}

export async function runRestoreList(session: Session, flags: ListCommandFlags): Promise<void> {
  const found = (await listed(session, foundationDbRestores, flags)).toSorted(byNamespaceAndName);
  const rows = found.map((restore) => restoreRow(restore, session.serverNowMs()));
  const options = { hasNamespaces: flags.allNamespaces === true };
  print(session, flags.output, { restores: rows }, () =>
    rows.length === 0
      ? `${emptyListText(session, foundationDbRestores, flags)}\n`
      : `${restoreTable(rows, options, session.out).join("\n")}\n`,
  );
}
