// A failed call to FoundationDB, with FoundationDB's own numeric code where it has one.

export const fdbErrorNames = {
  1007: "transaction_too_old",
  1009: "future_version",
  1020: "not_committed",
  1021: "commit_unknown_result",
  1025: "transaction_cancelled",
  1031: "timed_out",
  1038: "database_locked",
  1515: "no_cluster_file_found",
  2004: "key_outside_legal_range",
  2005: "inverted_range",
  2101: "transaction_too_large",
  2102: "key_too_large",
  2103: "value_too_large",
  2104: "connection_string_invalid",
  2112: "special_keys_cross_module_read",
  2113: "special_keys_no_module_found",
  2114: "special_keys_write_disabled",
  2115: "special_keys_no_write_module_found",
  2116: "special_keys_cross_module_clear",
  2117: "special_keys_api_failure",
} as const;

export class FdbError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "FdbError";
    this.code = code;
  }
}

/** An error whose name says it all. */
export function namedFdbError(code: keyof typeof fdbErrorNames): FdbError {
  return new FdbError(code, `${fdbErrorNames[code]} (${code})`);
}

/** Code of errors that fdbcli reports as text only, for example a refused `configure`. */
export const fdbCommandFailed = 0;

export function isFdbError(error: unknown, code?: number): error is FdbError {
  return error instanceof FdbError && (code === undefined || error.code === code);
}
