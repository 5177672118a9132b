// How long things take in the simulated database, in milliseconds. The defaults are what a real
// FoundationDB 7.3 showed; a test may shorten or stretch them.

export interface Timings {
  /** From the start of an fdbserver to its registration with the cluster controller. */
  registerMs: number;
  /** How often a process or a client without a quorum of coordinators looks again. */
  retryMs: number;
  /** Until a lost process is noticed when nothing comes back at its place. */
  failureDetectionMs: number;
  /** Until a process that came back at its place makes the loss known. */
  returnDetectionMs: number;
  /** Choice of a new cluster controller. */
  electionMs: number;
  /** The steps of a recovery up to accepting commits, without waiting for anybody. */
  recoveryMs: number;
  /** How long recruitment waits for missing better processes before it takes what there is. */
  goodRecruitmentMs: number;
  /** From a registration that allows a better transaction system to the recovery that uses it. */
  betterRecruitmentMs: number;
  /** From accepting commits to the recruitment of the remote logs of a second region. */
  remoteLogsMs: number;
  /** From all_logs_recruited to fully_recovered, when nothing keeps the old logs. */
  oldLogsMs: number;
  /** How long a primary region may be gone before the other one takes over. */
  failoverMs: number;
  /** How long a region that may take the primary role back waits before it does. */
  failbackMs: number;
  /** From the recovery after a change of priorities to that in the region which now comes first. */
  regionMoveMs: number;
  /** How long a dead process stays in the process list of status. */
  departedMs: number;
  /** How long a restarted process has no metrics yet in status. */
  newcomerMs: number;
  /** From the death of a storage server to the first reaction of data distribution. */
  storageFailureMs: number;
  /** The same from the start of data distribution, which knows no earlier deaths. */
  distributorFailureMs: number;
  /** The same when a whole datacenter of three_datacenter is gone. */
  datacenterFailureMs: number;
  /** From an exclusion to the first movement of data. */
  exclusionReactionMs: number;
  /**
   * From the last byte (or the exclusion of an empty server) to the removal of the storage role.
   */
  storageRemovalMs: number;
  /** How long status shows the old figures after data distribution moved. */
  distributorHandoverMs: number;
  /** How long status then has no data section. */
  distributorAbsentMs: number;
  /** Until data distribution is initialized, from the recovery that moved it. */
  distributorInitializingMs: number;
  /**
   * From a configuration with larger teams until storage roles borrowed from log processes go away.
   */
  borrowedStorageMs: number;
  /** Recruitment of a storage role on a process that may have one. */
  storageRecruitmentMs: number;
  /** Rate of one relocation. */
  moveBytesPerSecond: number;
  /** A relocation takes at least this long. */
  moveMs: number;
  connectMs: number;
  connectWithoutDatabaseMs: number;
  statusMs: number;
  /** A status request while some coordinators do not answer. */
  statusUnreachableCoordinatorMs: number;
  /** A status request while there is no quorum of coordinators. */
  statusWithoutQuorumMs: number;
  /** A status request while there is no database or its recovery is stuck. */
  statusWithoutDatabaseMs: number;
  commandMs: number;
  configureNewMs: number;
  /** `kill` waits this long after it sent its requests. */
  killWaitMs: number;
  killRequestMs: number;
  unreachableCoordinatorMs: number;
  /** How often processes read their certificates again. */
  certificateRefreshMs: number;
}

export const defaultTimings: Timings = {
  registerMs: 150,
  retryMs: 1_000,
  failureDetectionMs: 4_500,
  returnDetectionMs: 200,
  electionMs: 1_200,
  recoveryMs: 500,
  goodRecruitmentMs: 1_000,
  betterRecruitmentMs: 1_500,
  remoteLogsMs: 9_000,
  oldLogsMs: 10_000,
  failoverMs: 32_000,
  failbackMs: 7_000,
  regionMoveMs: 2_500,
  departedMs: 7_500,
  newcomerMs: 5_000,
  storageFailureMs: 72_000,
  distributorFailureMs: 68_000,
  datacenterFailureMs: 95_000,
  exclusionReactionMs: 4_000,
  storageRemovalMs: 2_000,
  distributorHandoverMs: 2_000,
  distributorAbsentMs: 2_500,
  distributorInitializingMs: 35_000,
  borrowedStorageMs: 33_000,
  storageRecruitmentMs: 1_000,
  moveBytesPerSecond: 4_000_000,
  moveMs: 1_000,
  connectMs: 100,
  connectWithoutDatabaseMs: 3_000,
  statusMs: 300,
  statusUnreachableCoordinatorMs: 3_800,
  statusWithoutQuorumMs: 5_000,
  statusWithoutDatabaseMs: 15_000,
  commandMs: 200,
  configureNewMs: 3_000,
  killWaitMs: 3_000,
  killRequestMs: 100,
  unreachableCoordinatorMs: 5_000,
  certificateRefreshMs: 12 * 3_600_000,
};
