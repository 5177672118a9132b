// Redundancy modes: how much may be lost, how far the data is spread, and how many coordinators there are.
// The fallbacks serve an outage of a hall or datacenter: they lower what the database demands, while counts and
// coordinators stay those of the full mode. Carries the rules M22 to M25 of spec/model.md.

export interface Redundancy {
  readonly mode: string;
  /** How many fault domains may be lost at once without losing data. */
  readonly faultTolerance: number;
  /** The least number of fault domains on which every piece of data lies. */
  readonly minimumFaultDomains: number;
  readonly storageCopies: number;
  readonly defaultLogs: number;
  readonly coordinators: number;
  /** The locality over which the mode spreads data before it spreads it over zones. */
  readonly spreadLocality?: "data_hall" | "dcid";
  /** The mode that this one stands in for during an outage. */
  readonly fullMode?: string;
}

type Numbers = Omit<Redundancy, "mode">;

const single: Numbers = {
  faultTolerance: 0,
  minimumFaultDomains: 1,
  storageCopies: 1,
  defaultLogs: 3,
  coordinators: 1,
};

const modes: Readonly<Record<string, Numbers>> = {
  single,
  double: {
    faultTolerance: 1,
    minimumFaultDomains: 2,
    storageCopies: 2,
    defaultLogs: 3,
    coordinators: 3,
  },
  triple: {
    faultTolerance: 2,
    minimumFaultDomains: 3,
    storageCopies: 3,
    defaultLogs: 3,
    coordinators: 5,
  },
  three_data_hall: {
    faultTolerance: 2,
    minimumFaultDomains: 3,
    storageCopies: 3,
    defaultLogs: 4,
    coordinators: 9,
    spreadLocality: "data_hall",
  },
  three_data_hall_fallback: {
    faultTolerance: 1,
    minimumFaultDomains: 2,
    storageCopies: 2,
    defaultLogs: 4,
    coordinators: 9,
    spreadLocality: "data_hall",
    fullMode: "three_data_hall",
  },
  three_datacenter: {
    faultTolerance: 2,
    minimumFaultDomains: 6,
    storageCopies: 6,
    defaultLogs: 4,
    coordinators: 9,
    spreadLocality: "dcid",
  },
  three_datacenter_fallback: {
    faultTolerance: 1,
    minimumFaultDomains: 4,
    storageCopies: 4,
    defaultLogs: 4,
    coordinators: 9,
    spreadLocality: "dcid",
    fullMode: "three_datacenter",
  },
};

export const redundancyModes: readonly string[] = Object.keys(modes);
const defaultRedundancyMode = "double";

/** Many steps ask for them in every pass. */
const named: ReadonlyMap<string, Redundancy> = new Map(
  Object.entries(modes).map(([mode, numbers]) => [mode, { mode, ...numbers }]),
);

/** An unknown mode counts as single: nothing may be taken for redundant that nobody promised. */
export function redundancyOf(mode: string | undefined): Redundancy {
  const name = mode || defaultRedundancyMode;
  return named.get(name) ?? { mode: name, ...single };
}

/** The mode whose process counts a cluster keeps, also while it runs on a fallback. */
export function redundancyForCounts(mode: string | undefined): Redundancy {
  const redundancy = redundancyOf(mode);
  return redundancy.fullMode === undefined ? redundancy : redundancyOf(redundancy.fullMode);
}
