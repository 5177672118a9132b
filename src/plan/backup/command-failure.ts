// What a failed command says about its cause. Many causes have the same text in FoundationDB's tools, so the template and
// the URL are looked at too. Rules: spec/backup.md [BK2], [BK42].
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { BackupCommand } from "../../build/backup-command.ts";
import { hasSecret } from "../../build/backup-url.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { WaitReason } from "../reasons/registry.ts";
import type { CommandEnd } from "./command-end.ts";

export interface CommandTrouble {
  readonly reason: WaitReason;
  readonly message: string;
  readonly remedy: string;
}

const timedOut = /timed out|DeadlineExceeded|Network connection failed/;
const refused = /HTTP response code not received or indicated failure/;
const keyProblem = /encryption key file|File not found/;
/** Of a file that is lost, and of one that is damaged or was written with another key. */
const missingData = /Missing backup data/;
const unreadableData = /Corrupted backup data/;
const signalled = 128;
/** SIGKILL and SIGTERM come from outside: a node that goes, or a program that takes more memory than its pod may. */
const endedFromOutside: ReadonlySet<number> = new Set([137, 143]);

export function troubleOf(
  backup: FoundationDBBackup,
  { program, type }: Pick<BackupCommand, "program" | "type">,
  end: CommandEnd,
): CommandTrouble {
  const { message: said, exitCode } = end;
  const what = `${program} ${type}`;
  if (end.isUnbegun) {
    return {
      reason: "BackupCommandFailed",
      message: `${what} has not started before the deadline of its pod: ${shortened(said)}`,
      remedy:
        "Look at the events of its pods in `kubectl get events`: an image that cannot be pulled, or a Secret, a ConfigMap or a volume of spec.podTemplateSpec that is not there.",
    };
  }
  if (/URL invalid|Unknown URL parameter/i.test(said)) {
    const remedy = /region is required/.test(said)
      ? "Add region=NAME to spec.blobStoreConfiguration.urlParameters."
      : "Correct spec.blobStoreConfiguration.";
    return { reason: "BackupUrlInvalid", message: `${what}: ${shortened(said)}`, remedy };
  }
  const hasKey = backup.spec.encryptionKeyPath !== undefined;
  if (missingData.test(said) || (!hasKey && unreadableData.test(said))) {
    return { ...damaged, message: `${what}: ${shortened(said)}` };
  }
  if (keyProblem.test(said) || unreadableData.test(said)) {
    return {
      reason: "BackupKeyUnusable",
      message: `${what} cannot use the key of spec.encryptionKeyPath: ${shortened(said)}`,
      remedy:
        "Mount a file of 32 bytes at this path into the container foundationdb of spec.podTemplateSpec.",
    };
  }
  if (timedOut.test(said)) return silence(backup, what);
  if (refused.test(said)) {
    return {
      reason: "BackupStoreRefused",
      message: `${what}: the store refused the request. FoundationDB does not tell why: a wrong key or secret, a bucket or region that does not exist, or a clock that is wrong`,
      remedy:
        "Compare the credentials, the bucket and region= with the store, create the bucket if it is missing, and look at the clock of the node.",
    };
  }
  if (exitCode !== undefined && exitCode > signalled && !endedFromOutside.has(exitCode)) {
    return {
      reason: "BackupStoreRefused",
      message: `${what} crashed (exit code ${exitCode}), as FoundationDB's tools do when the bucket does not exist`,
      remedy: "Create the bucket of spec.blobStoreConfiguration.",
    };
  }
  const code = exitCode === undefined ? "its pod ended" : `exit code ${exitCode}`;
  return {
    reason: "BackupCommandFailed",
    message: `${what} failed (${code}): ${shortened(said) || "it said nothing"}`,
    remedy: `Look at \`kubectl logs ${end.pod.metadata.name ?? ""} -c ${mainContainerName}\`.`,
  };
}

const damaged = {
  reason: "BackupDataDamaged",
  remedy:
    "Look for who has deleted or changed objects of the backup in the bucket. Restore to another point or from another backup, and let the backup begin anew under another backupName.",
} as const;

/** What an agent met while it restored, when it can never come right. */
export function damageOf(error: string): Pick<CommandTrouble, "reason" | "remedy"> | undefined {
  return missingData.test(error) || unreadableData.test(error) ? damaged : undefined;
}

/** Without credentials the tools wait in silence, exactly as for a store that does not answer. */
function silence(backup: FoundationDBBackup, what: string): CommandTrouble {
  if (!hasCredentials(backup)) {
    return {
      reason: "BackupCredentialsMissing",
      message: `${what} got no answer, and there are no credentials: accountName holds no secret and the container foundationdb has no FDB_BLOB_CREDENTIALS`,
      remedy:
        "Mount a Secret with a credentials file into spec.podTemplateSpec and name the file in FDB_BLOB_CREDENTIALS of the container foundationdb.",
    };
  }
  return {
    reason: "BackupStoreUnreachable",
    message: `${what} got no answer from the store. The host cannot be reached, its certificate is not trusted, the credentials file names no such account (account@host without the port), or the database does not answer`,
    remedy:
      "Look at the host and port of accountName, at sc=0 for a store without TLS, at FDB_TLS_CA_FILE, and at the credentials file.",
  };
}

function hasCredentials({ spec }: FoundationDBBackup): boolean {
  const containers = spec.podTemplateSpec?.spec?.containers ?? [];
  const main = containers.find(({ name }) => name === mainContainerName);
  const parameters = [
    ...(spec.customParameters ?? []),
    ...(spec.blobStoreConfiguration?.urlParameters ?? []),
  ];
  return (
    hasSecret(spec.blobStoreConfiguration) ||
    (main?.envFrom ?? []).length > 0 ||
    (main?.env ?? []).some(({ name }) => name === "FDB_BLOB_CREDENTIALS") ||
    parameters.some((text) => /^(blob[-_]credentials|sdk_auth)=/.test(text))
  );
}

const longest = 500;

/** Lines that stand side by side are told apart. */
function withEnd(line: string, at: number, all: readonly string[]): string {
  return at === all.length - 1 || /[.!?:;,]$/.test(line) ? line : `${line};`;
}

/** A tool may print a page: the lines that name an error say it, or else the first ones. */
function shortened(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.replaceAll(/\s+/g, " ").trim())
    .filter((line) => line !== "");
  const named = lines.filter((line) => /error/i.test(line));
  const line = (text.length > longest && named.length > 0 ? named : lines).map(withEnd).join(" ");
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
