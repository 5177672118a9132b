// fdbbackup: which commands there are, which options each of them takes, and how it ends. Carries rule BSIM7.
import {
  abortBackup,
  discontinueBackup,
  pauseAgents,
  showTags,
  waitForBackup,
} from "./fdbbackup-control.ts";
import { modifyBackup, startBackup } from "./fdbbackup-start.ts";
import { showStatus } from "./fdbbackup-status.ts";
import { deleteBackup, describeBackup, expireBackup, listBackups } from "./fdbbackup-store.ts";
import type { ToolContext } from "./tool-context.ts";
import type { OptionTable, ToolOptions } from "./tool-options.ts";

export interface Command {
  readonly options: OptionTable;
  readonly run: (context: ToolContext, options: ToolOptions) => Promise<number>;
}

const cluster = "--cluster-file|-C=";
const tag = "--tagname|-t=";
const store = ["--blob-credentials=", "--proxy="];
const destination = "--destcontainer|-d=";

export const backupCommands: Readonly<Record<string, Command>> = {
  start: {
    options: [
      ...[cluster, tag, destination, ...store, "--waitfordone|-w", "--no-stop-when-done|-z"],
      ...["--snapshot-interval|-s=", "--initial-snapshot-interval=", "--keys|-k=", "--dryrun|-n"],
      ...["--partitioned-log-experimental|-p", "--mutation-log-type=", "--incremental"],
      ...["--encryption-key-file=", "--encryption-block-size=", "--encrypt-files="],
    ],
    run: startBackup,
  },
  modify: {
    options: [
      ...[cluster, tag, destination, ...store, "--snapshot-interval|-s="],
      ...["--active-snapshot-interval=", "--verify-uid=", "--encryption-key-file="],
    ],
    run: modifyBackup,
  },
  status: {
    options: [cluster, tag, "--errorlimit|-e=", "--json"],
    run: showStatus,
  },
  abort: { options: [cluster, tag], run: abortBackup },
  discontinue: { options: [cluster, tag, "--waitfordone|-w"], run: discontinueBackup },
  wait: { options: [cluster, tag, "--no-stop-when-done|-z"], run: waitForBackup },
  pause: { options: [cluster], run: (context, options) => pauseAgents(context, options, true) },
  resume: { options: [cluster], run: (context, options) => pauseAgents(context, options, false) },
  tags: { options: [cluster], run: showTags },
  describe: {
    options: [cluster, destination, ...store, "--json", "--version-timestamps", "--deep"],
    run: describeBackup,
  },
  list: { options: ["--base-url|-b=", ...store], run: listBackups },
  expire: {
    options: [
      ...[cluster, destination, ...store, "--force|-f"],
      ...["--expire-before-version=", "--expire-before-timestamp=", "--delete-before-days="],
      ...["--restorable-after-version=", "--restorable-after-timestamp=", "--min-restorable-days="],
    ],
    run: expireBackup,
  },
  delete: { options: [destination, ...store], run: deleteBackup },
};
