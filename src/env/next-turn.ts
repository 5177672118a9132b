// Lets everybody else have a turn of the machine's event loop. In virtual time work takes no time, so nobody waits for it
// and there is nothing to give.

/** Calls `run` when what else is due was done: timers, and what has come over connections. */
export type NextTurn = (run: () => void) => void;

export const machineNextTurn: NextTurn = (run) => void setImmediate(run);
