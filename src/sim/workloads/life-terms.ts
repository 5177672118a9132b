// Words that everything around a life has in common: units of time, the namespace in which it takes place,
// and the second cluster of lives with backups.

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const namespace = "default";
/** Small, and nobody counts on what it holds: restores go into it. */
export const copyName = "copy";

/** A finalizer of somebody who lets a volume claim not go. */
export const claimHolder = "walk.foundationdb.org/hold";

/** So many fault domains may be down at once, by the mode of the database. */
export const tolerances: Readonly<Record<string, number>> = {
  single: 0,
  double: 1,
  triple: 2,
  three_data_hall: 2,
};
