// A failed call to FoundationDB, with FoundationDB's own numeric code where it has one.

export const fdbErrorNames = {
  1020: "not_committed",
  1021: "commit_unknown_result",
  1007: "transaction_too_old",
  1009: "future_version",
  1031: "timed_out",
  1038: "database_locked",
  1511: "no_cluster_file_found",
  1512: "cannot_resolve_coordinators",
  2004: "key_outside_legal_range",
  2006: "inverted_range",
  2101: "connection_string_invalid",
  2104: "no_cluster_file_found",
  2113: "special_keys_no_module_found",
  2114: "special_keys_write_disabled",
  2115: "special_keys_no_write_module_found",
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

/** Code of errors that fdbcli reports as text only, for example a refused `configure`. */
export const fdbCommandFailed = 0;

export function isFdbError(error: unknown, code?: number): error is FdbError {
  return error instanceof FdbError && (code === undefined || error.code === code);
}
