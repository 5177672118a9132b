// The special keys of FoundationDB through which most of the management goes, and what their refusals mean. No
// command line is parsed where a key can say it. Rules: spec/real-database.md [DB30], [DB34].
import { bytesOfBinary, prefixEnd, textOfBytes } from "../bytes.ts";
import { FdbError, fdbCommandFailed } from "../error.ts";
import type { FdbTransaction, TransactionOptions } from "../admin.ts";

const management = "\xff\xff/management";

export const specialKeys = {
  status: bytesOfBinary("\xff\xff/status/json"),
  connectionString: bytesOfBinary("\xff\xff/connection_string"),
  coordinators: bytesOfBinary("\xff\xff/configuration/coordinators/processes"),
  errorMessage: bytesOfBinary("\xff\xff/error_message"),
  workers: bytesOfBinary("\xff\xff/worker_interfaces/"),
  excludedAddresses: bytesOfBinary(`${management}/excluded/`),
  excludedLocalities: bytesOfBinary(`${management}/excluded_locality/`),
  exclusionsInProgress: bytesOfBinary(`${management}/in_progress_exclusion/`),
  maintenance: bytesOfBinary(`${management}/maintenance/`),
} as const;

/** Error of a write to a special key; the reason is in another key of the same transaction. */
export const specialKeysApiFailure = 2117;

export function readOptions(timeoutMs: number): TransactionOptions {
  return { timeoutMs, lockAware: true, readSystemKeys: true };
}

export function writeOptions(timeoutMs: number): TransactionOptions {
  return { timeoutMs, lockAware: true, accessSystemKeys: true, specialKeySpaceEnableWrites: true };
}

/** The names below a special key, in order. */
export async function namesBelow(
  transaction: FdbTransaction,
  prefix: Uint8Array,
): Promise<string[]> {
  const items = await transaction.getRange(prefix, prefixEnd(prefix));
  return items.map(({ key }) => textOfBytes(key.slice(prefix.length)));
}

export interface Refusal {
  readonly command: string;
  readonly message: string;
}

/** Undefined when the text is not what FoundationDB says after a refusal. */
export function parseRefusal(text: string): Refusal | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { command, message } = value as Record<string, unknown>;
  if (typeof command !== "string" || typeof message !== "string") return undefined;
  return { command, message: message.trim() };
}

/** Coordinators that are what they should be are refused as no change. */
export function isNoChange(refusal: Refusal): boolean {
  return refusal.command === "coordinators" && refusal.message.includes("No change");
}

export function refusalError(refusal: Refusal): FdbError {
  return new FdbError(fdbCommandFailed, `${refusal.command}: ${refusal.message}`);
}
