// Every number of the client processes. Rules: spec/real-database.md [DB11]-[DB13], [DB50]-[DB56].

export interface ClientLimits {
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A database that had its process for this long has proven itself: the next pause is the first one again. */
  readonly provenMs: number;
  /** How long a child may take until it is ready. */
  readonly startMs: number;
  readonly pingIntervalMs: number;
  /** Silence after a ping for this long is a hang. */
  readonly pingLimitMs: number;
  /** How much later than its time limit an answer may come before the child counts as hung. */
  readonly answerGraceMs: number;
  /** Above this the databases of a child move to others, above the double it ends at once. */
  readonly memoryLimitBytes: number;
  /** Places of a process. A database takes one, and one more for each `placeBytes` of its status. */
  readonly databasesPerProcess: number;
  readonly placeBytes: number;
  /** So many processes there are for databases in quarantine; more of these share them. */
  readonly quarantineProcesses: number;
  /** So many processes are started for those that may be the cause of one loss. */
  readonly processesPerLoss: number;
  /** So often a call that only reads is asked again when its process was lost. */
  readonly repetitions: number;
  /** So many questions in a row without an answer are a reason for quarantine. */
  readonly timeoutsInRow: number;
  /** How long a database must be well before it shares a process again: at first, and at most. */
  readonly firstQuarantineMs: number;
  readonly longestQuarantineMs: number;
}

const mebibyte = 1024 ** 2;

/** Bounds of the flag for `databasesPerProcess`. */
export const databasesPerProcess = { default: 16, minimum: 1, maximum: 200 } as const;

export const defaultClientLimits: ClientLimits = {
  firstPauseMs: 200,
  longestPauseMs: 30_000,
  provenMs: 60_000,
  startMs: 20_000,
  pingIntervalMs: 5_000,
  pingLimitMs: 15_000,
  answerGraceMs: 5_000,
  memoryLimitBytes: 1024 * mebibyte,
  databasesPerProcess: databasesPerProcess.default,
  placeBytes: mebibyte,
  quarantineProcesses: 8,
  processesPerLoss: 4,
  repetitions: 4,
  timeoutsInRow: 3,
  firstQuarantineMs: 300_000,
  longestQuarantineMs: 3_600_000,
};
