// How many failed process groups may be replaced at the same time. Each falls into a bucket with its own limit; a
// replacement, whatever began it, takes a place of its bucket from its mark until its exclusion has ended.
// Rules: spec/removal.md [R14]-[R16], spec/buckets.md [BKT4]-[BKT7], [BKT9], [BKT15]-[BKT18].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { ReplacementAutomation } from "../../api/effective-automation.ts";
import { isAwaitingExclusion } from "../../model/process-group.ts";
import { nameList } from "../wait.ts";
import { isStateful } from "../../model/process-class.ts";
import type { GivingWay } from "./giving-way.ts";

export interface Bucket {
  readonly name: BucketName;
  readonly limit: number;
  /** Ids of the replacements in flight. */
  readonly holders: readonly string[];
  /** Places that they take: fault domains where those are counted, process groups otherwise. */
  readonly used: number;
}

/** A budget is used up as it is asked; it lives for one decision. */
export class ReplacementBudget {
  readonly #holders = new Map<BucketName, ProcessGroup[]>();
  readonly #options: ReplacementAutomation;
  /** Holders that give their place to a failed process group that they wait for. */
  readonly #givingWay: GivingWay;

  constructor(
    options: ReplacementAutomation,
    groups: readonly ProcessGroup[],
    givingWay: GivingWay = new Map(),
  ) {
    this.#options = options;
    this.#givingWay = givingWay;
    for (const group of groups) {
      if (isAwaitingExclusion(group)) this.#holdersOf(group).push(group);
    }
  }

  /** Takes the place of one more replacement; the bucket when it has none. */
  take(group: ProcessGroup): Bucket | undefined {
    const name = bucketOf(this.#options, group.processClass);
    const holders = this.#holdersOf(group);
    const given = this.#isFree(holders, group) ? [] : this.#placesGiven(holders, group);
    if (given === undefined) return this.#bucket(name);
    this.#holders.set(name, [...holders.filter((holder) => !given.includes(holder)), group]);
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

  #isFree(holders: readonly ProcessGroup[], group: ProcessGroup): boolean {
    const limit = bucketLimit(this.#options, bucketOf(this.#options, group.processClass));
    if (!this.#options.faultDomainBasedReplacements) return holders.length < limit;
    const domains = new Set(holders.map(domainOf));
    return domains.size < limit || (domains.size === limit && domains.has(domainOf(group)));
  }

  /**
   * As few of those that give way as make room, those that wait for its class first; undefined when nobody does, or all of them
   * would not make room. The others wait for failed process groups, too: they would not go before one is replaced.
   */
  #placesGiven(holders: readonly ProcessGroup[], group: ProcessGroup): ProcessGroup[] | undefined {
    const giving = holders.filter(({ processGroupID: id }) => this.#givingWay.has(id));
    const waiting = giving.filter(({ processGroupID: id }) =>
      this.#givingWay.get(id)?.has(group.processClass),
    );
    if (waiting.length === 0) return undefined;
    const given: ProcessGroup[] = [];
    for (const holder of new Set([...waiting, ...giving])) {
      given.push(holder);
      const others = holders.filter((each) => !given.includes(each));
      if (this.#isFree(others, group)) return given;
    }
    return undefined;
  }

  #bucket(name: BucketName): Bucket {
    const groups = this.#holders.get(name) ?? [];
    const holders = groups.map(({ processGroupID }) => processGroupID);
    const used = this.#options.faultDomainBasedReplacements
      ? new Set(groups.map(domainOf)).size
      : groups.length;
    return { name, limit: bucketLimit(this.#options, name), holders, used };
  }

  #holdersOf({ processClass }: ProcessGroup): ProcessGroup[] {
    const name = bucketOf(this.#options, processClass);
    const holders = this.#holders.get(name) ?? [];
    this.#holders.set(name, holders);
    return holders;
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
