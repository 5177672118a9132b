// The largest numbers that make sense, far above what anybody runs: what the schema allows, what the operator accepts of a
// stored resource, and where a plan stops counting. Rules: spec/api.md [API35]-[API37], spec/plan.md [P99].

/** FoundationDB is tested with 500 processes; a status with more process groups than this would not fit into one object. */
export const processGroupsMaximum = 2_000;

/** Where a plan stops counting, for a resource that nobody judged before. */
export const plannedGroupsMaximum = 5_000;

export const serversPerPodMaximum = 100;

/** All fdbserver processes of one resource. */
export const processesMaximum = 10_000;

/** Logical fault domains of one class. */
export const domainsMaximum = 10_000;

/** The numbers of 32 bits: for settings where any number has a meaning and none does harm, such as durations. */
export const int32Maximum = 2_147_483_647;
export const int32Minimum = -2_147_483_648;
