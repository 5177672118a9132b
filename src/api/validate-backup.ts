// What the operator says of a backup beyond what the API server can judge.
import { durationMs } from "../model/duration.ts";
import type { BackupSpec, FoundationDBBackup } from "./backup.ts";
import { isContinuous, retentionOf, snapshotSecondsOf } from "./effective-backup.ts";
import type { BlobStoreConfiguration } from "./blob-store.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { metadataProblems, templateMetadataProblems } from "./validate-labels.ts";
import { versionProblem } from "./validate-cluster.ts";
import { verificationProblems } from "./validate-verification.ts";
import { scheduleProblems, scheduleWarnings } from "./validate-schedule.ts";
import { backupParameterOwners, parameterProblems } from "./validate-parameters.ts";
import {
  noPodTemplateLimits,
  podTemplateProblems,
  type PodTemplateLimits,
} from "./validate-pod-template.ts";

export function validateBackup(
  backup: Pick<FoundationDBBackup, "spec">,
  options: { readonly podTemplateLimits?: PodTemplateLimits } = {},
): readonly ValidationProblem[] {
  const { spec } = backup;
  const version = versionProblem(spec.version, "spec.version");
  return [
    ...(version === undefined ? [] : [version]),
    ...blobStoreProblems(spec.blobStoreConfiguration, "spec.blobStoreConfiguration"),
    ...parameterProblems(
      spec.customParameters ?? [],
      "spec.customParameters",
      backupParameterOwners,
    ),
    ...podTemplateProblems(
      spec.podTemplateSpec,
      "spec.podTemplateSpec",
      options.podTemplateLimits ?? noPodTemplateLimits,
      { allowsTags: spec.allowTagOverride === true },
    ),
    ...lagAlarmProblems(spec.lagAlarm),
    ...retentionProblems(spec),
    ...scheduleProblems(spec),
    ...verificationProblems(spec, options.podTemplateLimits ?? noPodTemplateLimits),
    ...templateMetadataProblems(spec.podTemplateSpec?.metadata, "spec.podTemplateSpec"),
    ...metadataProblems(spec.backupDeploymentMetadata, "spec.backupDeploymentMetadata"),
  ];
}

/** Less than this is the usual distance of a backup that is well, or the time between two looks. */
const lagAlarmMinimumMs = 60_000;

function lagAlarmProblems(lagAlarm: string | undefined): ValidationProblem[] {
  if (lagAlarm === undefined) return [];
  const ms = durationMs(lagAlarm) ?? 0;
  if (ms >= lagAlarmMinimumMs) return [];
  const message = "a backup that is well is up to half a minute behind";
  return [problem("spec.lagAlarm", lagAlarm, message, "use at least 1m")];
}

/** Pods of commands are kept for so long. */
const intervalMinimumMs = 600_000;

function retentionProblems(spec: BackupSpec): ValidationProblem[] {
  const retention = retentionOf(spec);
  if (retention === undefined || retention.intervalMs >= intervalMinimumMs) return [];
  const { interval } = spec.retention ?? {};
  const message = "each look starts a pod";
  return [problem("spec.retention.interval", interval, message, "use at least 10m")];
}

/** What is valid and worth a thought. */
export function backupWarnings({ spec }: Pick<FoundationDBBackup, "spec">): ValidationProblem[] {
  return [...secretWarnings(spec), ...retentionWarnings(spec), ...scheduleWarnings(spec)];
}

/** Data goes a whole snapshot at a time. */
function retentionWarnings(spec: BackupSpec): ValidationProblem[] {
  const retention = retentionOf(spec);
  const periodMs = snapshotSecondsOf(spec) * 1000;
  if (retention === undefined) return [];
  const field = "spec.retention";
  if (!isContinuous(spec)) {
    const message = "a one-time backup is kept as a whole";
    return [problem(field, "", message, "remove the field, or use backupMode continuous")];
  }
  if (2 * periodMs <= retention.restorableForMs) return [];
  const message = "snapshots are so far apart that much more than restorableFor is kept";
  return [problem(field, "", message, "set snapshotPeriodSeconds to a fraction of it")];
}

export function secretWarnings(
  spec: Pick<BackupSpec, "blobStoreConfiguration">,
): ValidationProblem[] {
  const account = spec.blobStoreConfiguration?.accountName.split("@")[0] ?? "";
  if (!account.includes(":")) return [];
  const field = "spec.blobStoreConfiguration.accountName";
  const message =
    "it holds a secret, which the database stores and shows to everybody who reads its status";
  const remedy = "put the secret into a credentials file and name that in FDB_BLOB_CREDENTIALS";
  return [problem(field, "", message, remedy)];
}

export function blobStoreProblems(
  store: BlobStoreConfiguration | undefined,
  field: string,
): readonly ValidationProblem[] {
  if (store === undefined) {
    const message = "there is no place for the backup";
    return [problem(field, undefined, message, "set accountName to account@host")];
  }
  const problems: ValidationProblem[] = [];
  const { accountName } = store;
  const host = accountName.slice(accountName.indexOf("@") + 1);
  if (!accountName.includes("@") || host === "") {
    // The value may hold a secret, so it is not repeated.
    const message = "it names no host";
    problems.push(
      problem(`${field}.accountName`, undefined, message, "write it as account@host[:port]"),
    );
  }
  const { bucket = "" } = store;
  if (/[^\w./:-]/.test(bucket)) {
    const message = `no bucket can be called "${bucket}"`;
    const remedy = "use the name of the bucket alone: letters, digits, dots and hyphens";
    problems.push(problem(`${field}.bucket`, bucket, message, remedy));
  }
  for (const [index, parameter] of (store.urlParameters ?? []).entries()) {
    if (/^[^=]+=/.test(parameter)) continue;
    const message = `"${parameter}" is no URL parameter`;
    const place = `${field}.urlParameters[${index}]`;
    problems.push(problem(place, parameter, message, "write it as name=value"));
  }
  return problems;
}
