// How many failed process groups may be replaced at the same time. Process groups fall into buckets, each with its own
// limit; a replacement counts against its bucket from its mark until its exclusion has ended. One bucket holds all
// classes. Rules: spec/removal.md [R14]-[R16].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import type { ReplacementAutomation } from "../api/effective-automation.ts";
import { isExcluded, isMarkedForRemoval } from "../model/process-group.ts";
import { nameList } from "./wait.ts";

interface Bucket {
  readonly name: string;
  readonly limit: number;
  /** Ids of the replacements in flight. */
  readonly holders: string[];
  /** Their fault domains. */
  readonly domains: Set<string>;
}

/** A budget is used up as it is asked; it lives for one decision. */
export class ReplacementBudget {
  readonly #buckets = new Map<string, Bucket>();
  readonly #options: ReplacementAutomation;

  constructor(options: ReplacementAutomation, groups: readonly ProcessGroup[]) {
    this.#options = options;
    for (const group of groups) {
      if (isMarkedForRemoval(group) && !isExcluded(group)) this.#charge(group);
    }
  }

  /** Takes the room for one more replacement; says what holds it back when there is none. */
  take(group: ProcessGroup): string | undefined {
    const bucket = this.#bucketOf(group);
    const domain = group.faultDomain ?? "";
    if (this.#options.faultDomainBasedReplacements) {
      const used = bucket.domains.size;
      const fits = used < bucket.limit || (used === bucket.limit && bucket.domains.has(domain));
      if (!fits) return limitText(bucket, "fault domains");
    } else if (bucket.holders.length >= bucket.limit) {
      return limitText(bucket, "process groups");
    }
    this.#charge(group);
    return undefined;
  }

  #charge(group: ProcessGroup): void {
    const bucket = this.#bucketOf(group);
    bucket.holders.push(group.processGroupID);
    bucket.domains.add(group.faultDomain ?? "");
  }

  #bucketOf(_group: ProcessGroup): Bucket {
    const name = "general";
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    const limit = this.#options.maxConcurrentReplacements;
    const bucket = { name, limit, holders: [], domains: new Set<string>() };
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

/** Who holds the room is named, so that a person can see what everybody waits for. */
function limitText(bucket: Bucket, unit: string): string {
  const limit = `automationOptions.replacements.maxConcurrentReplacements allows ${bucket.limit}`;
  return `${nameList(bucket.holders)} went before, and ${limit} at a time (${unit})`;
}
