// Whether a new setting is proven: one process group starts with it first, and the others follow when it runs. What is
// known is read from the database and from Kubernetes, so that an operator that has just started knows it too.
// Rules: spec/restart.md [T110]-[T114].

export interface CanaryMember {
  readonly processGroupId: string;
  /** Members with the same settings prove them for each other. */
  readonly settings: string;
  /** "new": it reports with what is wanted. "away": it was started with it and does not report. "old": neither. */
  readonly state: "new" | "away" | "old";
  /** Since when it is new or away. */
  readonly forMs: number;
  /** What it costs to let this one be the first, from nothing upwards; "later" when it cannot be missed now, undefined when it must never be. */
  readonly cost?: number | "later" | undefined;
  /** It is known why an away one cannot start, so nobody waits for it. */
  readonly isHopeless?: boolean;
}

export interface CanaryTimes {
  /** So long a new one must have been running. */
  readonly provenMs: number;
  /** After so long one that is away has failed. */
  readonly patienceMs: number;
}

export type CanaryVerdict =
  /** Every setting is proven, or nobody can prove it. */
  | { readonly kind: "go" }
  /** This one starts first. */
  | { readonly kind: "try"; readonly processGroupId: string }
  /** Somebody could start first, but not now. */
  | { readonly kind: "later" }
  | { readonly kind: "proving"; readonly processGroupIds: readonly string[] }
  | {
      readonly kind: "failed";
      readonly processGroupIds: readonly string[];
      readonly settings: string;
    };

/** A failure of one setting holds all of them back. */
export function judgeCanary(members: readonly CanaryMember[], times: CanaryTimes): CanaryVerdict {
  const settings = [...new Set(members.map((member) => member.settings))].sort();
  const verdicts = settings.map((each) =>
    verdictOf(
      members.filter((member) => member.settings === each),
      times,
    ),
  );
  for (const kind of ["failed", "proving", "try", "later"] as const) {
    const found = verdicts.find((verdict) => verdict.kind === kind);
    if (found !== undefined) return found;
  }
  return { kind: "go" };
}

function verdictOf(
  members: readonly CanaryMember[],
  { provenMs, patienceMs }: CanaryTimes,
): CanaryVerdict {
  const inState = (state: CanaryMember["state"]): CanaryMember[] =>
    members.filter((member) => member.state === state);
  const [running, away, old] = [inState("new"), inState("away"), inState("old")];
  if (old.length === 0 || running.some(({ forMs }) => forMs >= provenMs)) return { kind: "go" };
  if (running.length > 0) return { kind: "proving", processGroupIds: idsOf(running) };
  const lost = away.filter(({ forMs, isHopeless }) => isHopeless === true || forMs >= patienceMs);
  const settings = members[0]?.settings ?? "";
  if (lost.length > 0) return { kind: "failed", processGroupIds: idsOf(lost), settings };
  if (away.length > 0) return { kind: "proving", processGroupIds: idsOf(away) };
  const processGroupId = cheapest(old);
  // What would prove itself to nobody is no proof; one that cannot be missed now may be the last copy, and waits.
  if (processGroupId !== undefined) {
    return old.length < 2 ? { kind: "go" } : { kind: "try", processGroupId };
  }
  return { kind: old.some(({ cost }) => cost === "later") ? "later" : "go" };
}

function cheapest(members: readonly CanaryMember[]): string | undefined {
  const [first] = members
    .flatMap(({ processGroupId, cost }) =>
      typeof cost === "number" ? [{ processGroupId, cost }] : [],
    )
    .toSorted(
      (left, right) =>
        left.cost - right.cost || (left.processGroupId < right.processGroupId ? -1 : 1),
    );
  return first?.processGroupId;
}

function idsOf(members: readonly CanaryMember[]): string[] {
  return members.map(({ processGroupId }) => processGroupId).sort();
}
