// What is wrong with spec.verification of a backup: its schedule, the cluster that a drill would make, and the pod that looks
// at the result. Cluster and pod are judged as if they were made now. Rules: spec/backup.md [BK172].
import { applyDefaults } from "../kube/structural/defaults.ts";
import { fieldErrorMessage, noPath } from "../kube/structural/field-error.ts";
import { pruneObject } from "../kube/structural/prune.ts";
import type { StructuralSchema } from "../kube/structural/structural-schema.ts";
import { validateObject } from "../kube/structural/validate-object.ts";
import { durationMs } from "../model/duration.ts";
import type { BackupSpec } from "./backup.ts";
import type { Verification } from "./backup-verification.ts";
import {
  apiVersion,
  deletionProtection,
  foundationDbClusters,
  type FoundationDBCluster,
} from "./cluster.ts";
import { customResourceOf } from "./crd.ts";
import { coreSchema } from "./core-schema.ts";
import { isUnmanaged } from "./effective-backup.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { validateCluster } from "./validate-cluster.ts";
import { metadataProblems, templateMetadataProblems } from "./validate-labels.ts";
import { podTemplateProblems, type PodTemplateLimits } from "./validate-pod-template.ts";
import { timingProblems, type Timed } from "./validate-schedule.ts";
import { newTlsProblems } from "./validate-tls.ts";

const field = "spec.verification";

export function verificationProblems(
  spec: BackupSpec,
  limits: PodTemplateLimits,
): ValidationProblem[] {
  const { verification } = spec;
  if (verification === undefined) return [];
  return [
    ...modeProblems(spec),
    ...timingProblems(verification.schedule, `${field}.schedule`, drills),
    ...deadlineProblems(verification.deadline),
    ...templateProblems(verification, spec.version, limits),
    ...checkProblems(verification.check, limits),
  ];
}

const drills: Timed = {
  distanceMinimumMs: 3_600_000,
  reason: "each drill makes a cluster and restores into it",
  remedy: "leave an hour between drills; one a week is usual",
};

function modeProblems(spec: BackupSpec): ValidationProblem[] {
  if (!isUnmanaged(spec)) return [];
  const message = "with backupType unmanaged the operator does not know what can be restored";
  return [problem(field, "", message, "remove the field, or use another backupType")];
}

const [deadlineMinimumMs, deadlineMaximumMs] = [600_000, 7 * 86_400_000];

function deadlineProblems(deadline: string | undefined): ValidationProblem[] {
  if (deadline === undefined) return [];
  const ms = durationMs(deadline) ?? 0;
  if (ms >= deadlineMinimumMs && ms <= deadlineMaximumMs) return [];
  const message = "a drill makes a cluster and restores into it, and keeps both while it runs";
  return [problem(`${field}.deadline`, deadline, message, "use at least 10m and at most 7d")];
}

/** As long as the names of drills are. */
const longestName = "drill-name-of-backup-name-of-123456";

function templateProblems(
  { template }: Verification,
  version: string,
  limits: PodTemplateLimits,
): ValidationProblem[] {
  const place = `${field}.template`;
  const counts = template.spec.processCounts;
  if (counts === undefined || Object.keys(counts).length === 0) {
    const message = "it is not said how large the cluster of a drill is to be";
    const remedy = "set it, for example to storage: 2, log: 2, stateless: 2";
    return [problem(`${place}.spec.processCounts`, undefined, message, remedy)];
  }
  const document = {
    apiVersion,
    kind: foundationDbClusters.kind,
    metadata: { name: longestName, namespace: "default" },
    spec: { version, ...template.spec },
  };
  const schema = customResourceOf(apiVersion, foundationDbClusters.kind)?.schema ?? {};
  const formed = formProblems(schema, document, `${place}.`);
  if (formed.problems.length > 0) return formed.problems;
  const cluster = formed.value as FoundationDBCluster;
  return [
    ...[...validateCluster(cluster, { podTemplateLimits: limits }), ...newTlsProblems(cluster)].map(
      (each) => ({ ...each, field: `${place}.${each.field}` }),
    ),
    ...strangerProblems(cluster, `${place}.spec`),
    ...metadataProblems(template.metadata, `${place}.metadata`),
    ...keptProblems(template.metadata?.annotations ?? {}, `${place}.metadata.annotations`),
  ];
}

/** What the API server would say of the object, had it been written by a person. */
function formProblems(
  schema: StructuralSchema,
  given: unknown,
  prefix: string,
): { readonly problems: ValidationProblem[]; readonly value: unknown } {
  const pruned = pruneObject(schema, given);
  const value = applyDefaults(schema, pruned.value);
  return {
    value,
    problems: [
      ...pruned.prunedPaths.map((path) =>
        problem(`${prefix}${path}`, undefined, "unknown field", "correct or remove it"),
      ),
      ...validateObject(schema, value)
        .filter(({ path }) => path !== noPath)
        .map((each) =>
          problem(`${prefix}${each.path}`, undefined, fieldErrorMessage(each), "correct it"),
        ),
    ].slice(0, problemsMaximum),
  };
}

const problemsMaximum = 100;

/** A drill writes into its cluster and removes it, so that must be nobody else's. */
function strangerProblems({ spec }: FoundationDBCluster, place: string): ValidationProblem[] {
  const problems: ValidationProblem[] = [];
  if ((spec.seedConnectionString ?? "") !== "") {
    const message = "the cluster of a drill would join another database";
    problems.push(problem(`${place}.seedConnectionString`, "", message, "remove the field"));
  }
  if (spec.labels?.matchLabels !== undefined) {
    const message = "pods of drills would be taken for pods of another cluster";
    const remedy = "remove the field; resourceLabels are for labels of your own";
    problems.push(problem(`${place}.labels.matchLabels`, "", message, remedy));
  }
  if (spec.skip === true) {
    const message = "the operator would leave the cluster of a drill alone";
    problems.push(problem(`${place}.skip`, true, message, "remove the field"));
  }
  return problems;
}

function keptProblems(
  annotations: Readonly<Record<string, string>>,
  place: string,
): ValidationProblem[] {
  if (annotations[deletionProtection] === undefined) return [];
  const message = `${deletionProtection} would keep the cluster of a drill for ever`;
  return [problem(place, annotations[deletionProtection], message, "remove the annotation")];
}

const podTemplateSchema = coreSchema("io.k8s.api.core.v1.PodTemplateSpec", "");

function checkProblems(
  check: Verification["check"],
  limits: PodTemplateLimits,
): ValidationProblem[] {
  if (check === undefined) return [];
  const place = `${field}.check`;
  const { problems } = formProblems(podTemplateSchema, check, `${place}.`);
  if (problems.length > 0) return problems;
  if ((check.spec?.containers ?? []).length === 0) {
    const message = "there is no container that could look at the data";
    return [problem(`${place}.spec.containers`, undefined, message, "add one")];
  }
  return [
    ...podTemplateProblems(check, place, limits, { allowsTags: true }),
    ...templateMetadataProblems(check.metadata, place),
  ];
}
