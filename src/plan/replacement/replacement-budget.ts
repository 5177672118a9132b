// How many failed process groups may be replaced at the same time. Each falls into a bucket with its own limit; a
// replacement, whatever began it, takes a place of its bucket from its mark until its exclusion has ended.
// Rules: spec/removal.md [R14]-[R16], spec/buckets.md [BKT4]-[BKT7], [BKT9].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { ReplacementAutomation } from "../../api/effective-automation.ts";
import { isAwaitingExclusion } from "../../model/process-group.ts";
import { nameList } from "../wait.ts";
import { isStateful } from "../../model/process-class.ts";

export interface Bucket {
  readonly name: BucketName;
  readonly limit: number;
  /** Ids of the replacements in flight. */
  readonly holders: readonly string[];
  /** Places that they take: fault domains where those are counted, process groups otherwise. */
  readonly used: number;
}

interface Load {
  readonly holders: string[];
  readonly domains: Set<string>;
}

/** A budget is used up as it is asked; it lives for one decision. */
export class ReplacementBudget {
  readonly #loads = new Map<BucketName, Load>();
  readonly #options: ReplacementAutomation;

  constructor(options: ReplacementAutomation, groups: readonly ProcessGroup[]) {
    this.#options = options;
    for (const name of bucketNames(options)) {
      this.#loads.set(name, { holders: [], domains: new Set() });
    }
    for (const group of groups) {
      if (isAwaitingExclusion(group)) this.#charge(group);
    }
  }

  /** Takes the place of one more replacement; the bucket when it has none. */
  take(group: ProcessGroup): Bucket | undefined {
    const name = bucketOf(this.#options, group.processClass);
    const { domains, holders } = this.#loadOf(name);
    const limit = bucketLimit(this.#options, name);
    const isFree = this.#options.faultDomainBasedReplacements
      ? domains.size < limit || (domains.size === limit && domains.has(domainOf(group)))
      : holders.length < limit;
    if (!isFree) return this.#bucket(name);
    this.#charge(group);
    return undefined;
  }

  buckets(): Bucket[] {
    return bucketNames(this.#options).map((name) => this.#bucket(name));
  }

  /** Who holds the bucket is named, so that a person can see what everybody waits for. */
  limitText({ name, limit, holders }: Bucket): string {
    const unit = this.#options.faultDomainBasedReplacements ? "fault domains" : "process groups";
    const limitation = `${bucketField(name)} allows ${limit} at a time (${unit})`;
    if (limit === 0) return `the replacement bucket ${name} is closed: ${limitation}`;
    const verb = holders.length === 1 ? "holds" : "hold";
    return `${nameList(holders)} ${verb} the replacement bucket ${name}, and ${limitation}`;
  }

  #bucket(name: BucketName): Bucket {
    const { holders, domains } = this.#loadOf(name);
    const used = this.#options.faultDomainBasedReplacements ? domains.size : holders.length;
    return { name, limit: bucketLimit(this.#options, name), holders, used };
  }

  #charge(group: ProcessGroup): void {
    const load = this.#loadOf(bucketOf(this.#options, group.processClass));
    load.holders.push(group.processGroupID);
    load.domains.add(domainOf(group));
  }

  #loadOf(name: BucketName): Load {
    return this.#loads.get(name) ?? { holders: [], domains: new Set() };
  }
}

/** A process group whose fault domain nobody knows shares it with nobody. */
function domainOf(group: ProcessGroup): string {
  return group.faultDomain || group.processGroupID;
}

// Which bucket a replacement belongs to, and how many a bucket takes at the same time. By default one bucket holds all
// classes; with `replacementBucket` storage, logs and the rest have one each, so that a storage server whose data moves for
// hours holds back nobody else. Rules: spec/buckets.md [BKT1]-[BKT3].
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
