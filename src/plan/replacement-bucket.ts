// Which bucket a replacement belongs to, and how many a bucket takes at the same time. By default one bucket holds all
// classes; with `replacementBucket` storage, logs and the rest have one each, so that a storage server whose data moves for
// hours holds back nobody else. Rules: spec/buckets.md [BKT1]-[BKT3].
import type { ReplacementAutomation } from "../api/effective-automation.ts";
import { isStateful } from "../model/process-class.ts";

export type BucketName = "general" | "storage" | "log" | "stateless";

export function bucketNames(options: ReplacementAutomation): readonly BucketName[] {
  return options.replacementBucket.enabled ? ["storage", "log", "stateless"] : ["general"];
}

export function bucketOf(options: ReplacementAutomation, processClass: string): BucketName {
  if (!options.replacementBucket.enabled) return "general";
  if (processClass === "storage") return "storage";
  return isStateful(processClass) ? "log" : "stateless";
}

/** Never below zero. */
export function bucketLimit(options: ReplacementAutomation, name: BucketName): number {
  const limit =
    name === "general" ? options.maxConcurrentReplacements : options.replacementBucket[name];
  return Math.max(0, limit);
}

/** The setting that gives the limit, as people find it in their resource. */
export function bucketField(name: BucketName): string {
  const replacements = "automationOptions.replacements";
  return name === "general"
    ? `${replacements}.maxConcurrentReplacements`
    : `${replacements}.replacementBucket.${name}`;
}
