// Numbers of the options of FoundationDB's client library.

export const networkOption = {
  traceLogGroup: 33,
  disableMultiVersionClientApi: 60,
} as const;

export const transactionOption = {
  prioritySystemImmediate: 200,
  accessSystemKeys: 301,
  readSystemKeys: 302,
  timeout: 500,
  lockAware: 700,
  specialKeySpaceRelaxed: 713,
  specialKeySpaceEnableWrites: 714,
} as const;

/** Everything in the range, as fast as it comes. */
export const streamingModeWantAll = -2;
