// How long work takes the machine, whatever the clock says: a clock may run faster than the machine's or stand still
// while work is done. Nothing may be decided by it but when to stop working.

/** Milliseconds since some moment. */
export type Stopwatch = () => number;

export const machineStopwatch: Stopwatch = () => performance.now();

/** In virtual time work takes no time, so that a slow machine gives the same history as a quick one. */
export const stoppedStopwatch: Stopwatch = () => 0;
