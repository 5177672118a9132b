// What the operator says of a restore beyond what the API server can judge. Rules: spec/restore.md [RS2], [RS7].
import { parseTime } from "../kube/time.ts";
import {
  destinationRanges,
  isRestorableTo,
  namedRanges,
  overlapOf,
  shownRange,
  sourceRanges,
  unescapedKey,
} from "../model/key-range.ts";
import type { FoundationDBRestore, RestoreSpec } from "./restore.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { blobStoreProblems, secretWarnings } from "./validate-backup.ts";
import { templateMetadataProblems } from "./validate-labels.ts";
import { parameterProblems } from "./validate-parameters.ts";
import {
  noPodTemplateLimits,
  podTemplateProblems,
  type PodTemplateLimits,
} from "./validate-pod-template.ts";

export function validateRestore(
  restore: Pick<FoundationDBRestore, "spec">,
  options: { readonly podTemplateLimits?: PodTemplateLimits | undefined } = {},
): readonly ValidationProblem[] {
  const { spec } = restore;
  const template = spec.agents?.podTemplateSpec;
  const templateField = "spec.agents.podTemplateSpec";
  const escapes = escapeProblems(spec);
  return [
    ...sourceProblems(spec),
    ...pointProblems(spec),
    ...parameterProblems(spec.customParameters ?? [], "spec.customParameters", {
      protectedNames: [],
    }),
    ...escapes,
    ...(escapes.length === 0 ? rangeProblems(spec) : []),
    ...podTemplateProblems(
      template,
      templateField,
      options.podTemplateLimits ?? noPodTemplateLimits,
      {
        allowsTags: spec.agents?.allowTagOverride === true,
      },
    ),
    ...templateMetadataProblems(template?.metadata, templateField),
  ];
}

function sourceProblems({ fromBackup, blobStoreConfiguration }: RestoreSpec): ValidationProblem[] {
  if (fromBackup === undefined && blobStoreConfiguration === undefined) {
    const message = "it is not said which backup is to be restored";
    const remedy = "set it to the name of a FoundationDBBackup, or set spec.blobStoreConfiguration";
    return [problem("spec.fromBackup", undefined, message, remedy)];
  }
  if (fromBackup === undefined) {
    return [...blobStoreProblems(blobStoreConfiguration, "spec.blobStoreConfiguration")];
  }
  if (blobStoreConfiguration === undefined) return [];
  const message = "spec.blobStoreConfiguration says where the backup lies, too";
  return [problem("spec.fromBackup", fromBackup, message, "remove one of the two")];
}

/** Without a zone it would be a time of wherever the operator runs. */
const zoned = /(?:z|[+-]\d\d:\d\d)$/i;

function pointProblems({ to, backupVersion }: RestoreSpec): ValidationProblem[] {
  const named = Object.entries(to ?? {}).filter(([, value]) => value !== undefined);
  if (to !== undefined && (named.length !== 1 || to.latest === false)) {
    const message = "it has to name exactly one point";
    const remedy = "set one of version, time and latest: true";
    return [problem("spec.to", JSON.stringify(to), message, remedy)];
  }
  const { time } = to ?? {};
  if (time !== undefined && !(zoned.test(time) && parseTime(time) !== undefined)) {
    const remedy = "write it as 2026-11-15T14:03:00Z, or with another zone such as +01:00";
    return [problem("spec.to.time", time, "it is no time", remedy)];
  }
  const isOther = to !== undefined && to.version !== (backupVersion ?? undefined);
  if (typeof backupVersion !== "number" || !isOther) return [];
  const message = "spec.to names another point";
  return [problem("spec.backupVersion", backupVersion, message, "remove one of the two")];
}

function escapeProblems(spec: RestoreSpec): ValidationProblem[] {
  const keys = [
    ...(spec.keyRanges ?? []).flatMap(({ start, end }, index) => [
      [`spec.keyRanges[${index}].start`, start] as const,
      [`spec.keyRanges[${index}].end`, end] as const,
    ]),
    ["spec.addPrefix", spec.addPrefix ?? ""] as const,
    ["spec.removePrefix", spec.removePrefix ?? ""] as const,
  ];
  return keys
    .filter(([, key]) => unescapedKey(key) === undefined)
    .map(([field, key]) =>
      problem(
        field,
        key,
        "a backslash must begin \\xBB or be doubled",
        "write other bytes as \\xBB with two hexadecimal digits",
      ),
    );
}

function rangeProblems(spec: RestoreSpec): ValidationProblem[] {
  const removed = unescapedKey(spec.removePrefix ?? "") ?? "";
  const field = "spec.keyRanges";
  const ranges = sourceRanges(spec);
  const empty = namedRanges(spec).find(({ begin, end }) => begin >= end);
  if (empty !== undefined) {
    const message = "a range ends before it begins";
    return [problem(field, shownRange(empty), message, "let end be greater than start")];
  }
  const outside = ranges.find(
    ({ begin, end }) => !begin.startsWith(removed) || !end.startsWith(removed),
  );
  if (outside === undefined) return systemProblems(spec);
  const message = `not both ends of the range ${shownRange(outside)} begin with it`;
  const remedy = `set spec.keyRanges to ranges inside of it, such as start PREFIX and end PREFIX\\xff`;
  return [problem("spec.removePrefix", spec.removePrefix, message, remedy)];
}

/** The database runs by its own keys; only those that a backup holds are restored, and only to where they were. */
function systemProblems(spec: RestoreSpec): ValidationProblem[] {
  const forbidden = destinationRanges(spec).find((range) => !isRestorableTo(range));
  if (forbidden === undefined) return [];
  const field = (spec.addPrefix ?? "") === "" ? "spec.keyRanges" : "spec.addPrefix";
  const message = `the restore would write to ${shownRange(forbidden)}, where the database keeps its own keys`;
  return [
    problem(
      field,
      spec.addPrefix,
      message,
      "stay below \\xff; the end of all keys of users is \\xff",
    ),
  ];
}

/** What is valid and worth a thought. */
export function restoreWarnings({ spec }: Pick<FoundationDBRestore, "spec">): ValidationProblem[] {
  return [...secretWarnings(spec), ...overlapWarnings(spec)];
}

function overlapWarnings(spec: RestoreSpec): ValidationProblem[] {
  const overlap = overlapOf(namedRanges(spec));
  if (overlap === undefined) return [];
  const [first = "", second = ""] = overlap.map(shownRange);
  const message = `${first} and ${second} overlap, and are restored as one range`;
  return [problem("spec.keyRanges", first, message, "make one range of the two if that is meant")];
}
