// One transaction on the keys that the operator instances of one database share. It works on a locked database
// too, and it is tried again when it conflicts or when its outcome is unknown, so every body must be safe to
// run twice. Carries rules LOCK1 and LOCK2.
import type { AdminClient, FdbTransaction } from "./admin.ts";
import { binaryText, bytesOfBinary, printableBytes, textOfBytes } from "./bytes.ts";
import type { KeyBounds, OperatorKeys } from "./keys.ts";

/** All that these clients need of a connection to the database. */
export type Transactor = Pick<AdminClient, "transact">;

export interface SharedKeys {
  readonly admin: Transactor;
  readonly keys: OperatorKeys;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;

export function transactShared<T>(
  shared: SharedKeys,
  body: (transaction: FdbTransaction) => Promise<T>,
): Promise<T> {
  return shared.admin.transact(body, {
    timeoutMs: shared.timeoutMs ?? defaultTimeoutMs,
    accessSystemKeys: true,
    lockAware: true,
  });
}

/** A value that another program wrote and that we do not understand: a person has to look at it. */
export class UnreadableValueError extends Error {
  readonly key: string;
  readonly value: string;
  readonly remedy: string;

  constructor(key: Uint8Array, value: Uint8Array, expected: string) {
    const [keyText, valueText] = [printableBytes(key), printableBytes(value)];
    super(`the key ${keyText} holds "${valueText}", which is not ${expected}`);
    this.name = "UnreadableValueError";
    this.key = keyText;
    this.value = valueText;
    this.remedy = `find out who wrote ${keyText}; clear the key when nobody needs it`;
  }
}

/** What follows the common beginning of a range, as text. */
export function textBelow(bounds: KeyBounds, key: Uint8Array): string {
  return textOfBytes(bytesOfBinary(binaryText(key).slice(bounds.begin.length)));
}
