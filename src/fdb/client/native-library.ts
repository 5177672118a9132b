// The functions of FoundationDB's C client library that are used here, by foreign function interface. Nothing but
// the client process loads this file: a fault in the library ends that process only.
import koffi from "koffi";

/** A pointer as the foreign function interface shows it. */
export type Pointer = bigint;

/** One behaviour for all supported versions: the oldest one's. */
export const apiVersion = 710;

export interface NativeLibrary {
  selectApiVersion(runtime: number, header: number): number;
  clientVersion(): string;
  errorText(code: number): string;
  setNetworkOption(option: number, value: Uint8Array | null, length: number): number;
  setupNetwork(): number;
  /** Runs the network until the process ends; calls back only when it stopped by itself. */
  runNetwork(stopped: (code: number) => void): void;
  createDatabase(clusterFilePath: string, out: [Pointer | null]): number;
  destroyDatabase(database: Pointer): void;
  rebootWorker(
    database: Pointer,
    addresses: Uint8Array,
    length: number,
    check: number,
    seconds: number,
  ): Pointer;
  createTransaction(database: Pointer, out: [Pointer | null]): number;
  destroyTransaction(transaction: Pointer): void;
  cancelTransaction(transaction: Pointer): void;
  setTransactionOption(
    transaction: Pointer,
    option: number,
    value: Uint8Array | null,
    length: number,
  ): number;
  get(transaction: Pointer, key: Uint8Array, length: number, snapshot: number): Pointer;
  getRange(transaction: Pointer, ...selection: readonly unknown[]): Pointer;
  estimatedBytes(
    transaction: Pointer,
    begin: Uint8Array,
    beginLength: number,
    end: Uint8Array,
    endLength: number,
  ): Pointer;
  set(
    transaction: Pointer,
    key: Uint8Array,
    keyLength: number,
    value: Uint8Array,
    valueLength: number,
  ): void;
  clear(transaction: Pointer, key: Uint8Array, length: number): void;
  clearRange(
    transaction: Pointer,
    begin: Uint8Array,
    beginLength: number,
    end: Uint8Array,
    endLength: number,
  ): void;
  commit(transaction: Pointer): Pointer;
  onError(transaction: Pointer, code: number): Pointer;
  setCallback(future: Pointer, callback: Pointer, parameter: number): number;
  cancelFuture(future: Pointer): void;
  destroyFuture(future: Pointer): void;
  futureError(future: Pointer): number;
  futureInteger(future: Pointer, out: [number | bigint | null]): number;
  futureValue(
    future: Pointer,
    isPresent: [number | null],
    value: [Pointer | null],
    length: [number | null],
  ): number;
  futureKeyValues(
    future: Pointer,
    items: [Pointer | null],
    count: [number | null],
    more: [number | null],
  ): number;
  /** A function that the library may call, with the parameter given to setCallback. */
  registerCallback(heard: (parameter: number) => void): Pointer;
  /** A copy of memory that belongs to the library. */
  copyBytes(address: Pointer | null, length: number): Uint8Array;
}

/** Key and value with their lengths, packed to 24 bytes. */
export const keyValueBytes = 24;

function open(path: string): ReturnType<typeof koffi.load> {
  try {
    return koffi.load(path);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

export function loadLibrary(path: string): NativeLibrary {
  const library = open(path);
  const callbackType = koffi.proto("void FdbCallback(void *future, int64_t parameter)");
  const run = library.func("int fdb_run_network()");
  const copy = koffi.load(null).func("void *memcpy(void *target, void *source, size_t length)");
  const bind = (definition: string): never => library.func(definition) as never;
  return {
    selectApiVersion: bind("int fdb_select_api_version_impl(int runtime, int header)"),
    clientVersion: bind("const char *fdb_get_client_version()"),
    errorText: bind("const char *fdb_get_error(int code)"),
    setNetworkOption: bind("int fdb_network_set_option(int option, void *value, int length)"),
    setupNetwork: bind("int fdb_setup_network()"),
    runNetwork: (stopped) => {
      run.async((error: unknown, code: number) => stopped(error === null ? code : -1));
    },
    createDatabase: bind("int fdb_create_database(const char *path, _Out_ void **database)"),
    destroyDatabase: bind("void fdb_database_destroy(void *database)"),
    rebootWorker: bind(
      "void *fdb_database_reboot_worker(void *database, void *address, int length, int check, int seconds)",
    ),
    createTransaction: bind(
      "int fdb_database_create_transaction(void *database, _Out_ void **transaction)",
    ),
    destroyTransaction: bind("void fdb_transaction_destroy(void *transaction)"),
    cancelTransaction: bind("void fdb_transaction_cancel(void *transaction)"),
    setTransactionOption: bind(
      "int fdb_transaction_set_option(void *transaction, int option, void *value, int length)",
    ),
    get: bind("void *fdb_transaction_get(void *transaction, void *key, int length, int snapshot)"),
    getRange: bind(
      "void *fdb_transaction_get_range(void *transaction, void *begin, int begin_length, int begin_or_equal, int begin_offset, void *end, int end_length, int end_or_equal, int end_offset, int limit, int target_bytes, int mode, int iteration, int snapshot, int reverse)",
    ),
    estimatedBytes: bind(
      "void *fdb_transaction_get_estimated_range_size_bytes(void *transaction, void *begin, int begin_length, void *end, int end_length)",
    ),
    set: bind(
      "void fdb_transaction_set(void *transaction, void *key, int key_length, void *value, int value_length)",
    ),
    clear: bind("void fdb_transaction_clear(void *transaction, void *key, int length)"),
    clearRange: bind(
      "void fdb_transaction_clear_range(void *transaction, void *begin, int begin_length, void *end, int end_length)",
    ),
    commit: bind("void *fdb_transaction_commit(void *transaction)"),
    onError: bind("void *fdb_transaction_on_error(void *transaction, int code)"),
    setCallback: bind(
      "int fdb_future_set_callback(void *future, FdbCallback *callback, int64_t parameter)",
    ),
    cancelFuture: bind("void fdb_future_cancel(void *future)"),
    destroyFuture: bind("void fdb_future_destroy(void *future)"),
    futureError: bind("int fdb_future_get_error(void *future)"),
    futureInteger: bind("int fdb_future_get_int64(void *future, _Out_ int64_t *value)"),
    futureValue: bind(
      "int fdb_future_get_value(void *future, _Out_ int *present, _Out_ void **value, _Out_ int *length)",
    ),
    futureKeyValues: bind(
      "int fdb_future_get_keyvalue_array(void *future, _Out_ void **items, _Out_ int *count, _Out_ int *more)",
    ),
    registerCallback: (heard) =>
      koffi.register(
        (_future: unknown, parameter: number | bigint) => heard(Number(parameter)),
        koffi.pointer(callbackType),
      ),
    copyBytes(address, length) {
      const bytes = new Uint8Array(length);
      if (address !== null && length > 0) copy(bytes, address, length);
      return bytes;
    },
  };
}
