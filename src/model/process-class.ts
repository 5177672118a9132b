// The classes of FoundationDB processes and what the operator must know about each of them.
// Carries the rules M7 to M9 of spec/model.md.

/** In the order in which process groups are added and removed. */
export const processClasses = [
  "unset",
  "storage",
  "transaction",
  "resolution",
  "tester",
  "test",
  "proxy",
  "commit_proxy",
  "grv_proxy",
  "master",
  "stateless",
  "log",
  "cluster_controller",
  "router",
  "fast_restore",
  "data_distributor",
  "coordinator",
  "ratekeeper",
  "storage_cache",
  "backup",
] as const;

export type ProcessClass = (typeof processClasses)[number];

/** The pseudo class whose settings serve every class that has none of its own. */
export const generalClass = "general";

const known: ReadonlySet<string> = new Set(processClasses);

export function isProcessClass(text: string): text is ProcessClass {
  return known.has(text);
}

const stateful: ReadonlySet<string> = new Set(["storage", "log", "transaction", "coordinator"]);

/** It keeps data on a volume of its own and may hold a coordinator. */
export function isStateful(processClass: string): boolean {
  return stateful.has(processClass);
}

/** It runs transaction logs. */
export function isLogProcess(processClass: string): boolean {
  return processClass === "log" || processClass === "transaction";
}

const mayKeepData: ReadonlySet<string> = new Set([...stateful, "unset"]);

/** FoundationDB gives it neither storage nor logs, even in an emergency; a class that is not known may get them. */
export function neverKeepsData(processClass: string): boolean {
  return known.has(processClass) && !mayKeepData.has(processClass);
}

/** Losing or excluding such a process costs a recovery. */
export function isTransactionSystem(processClass: string): boolean {
  return processClass !== "storage" && processClass !== generalClass;
}

/** Testers are never excluded, bounced or coordinated. */
export function isTest(processClass: string): boolean {
  return processClass === "test";
}

/** The form of a class in names of Kubernetes objects. */
export function classInName(processClass: string): string {
  return processClass.includes("_") ? processClass.replaceAll("_", "-") : processClass;
}
