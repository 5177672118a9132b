// The special key space from \xff\xff on: it holds nothing itself, modules answer for parts of it. The
// database registers a module for each part it serves, for example \xff\xff/management/ to
// \xff\xff/management0, with KeyValueStore.registerModule. Carries rules KV20 to KV27.
import { binaryText } from "../../fdb/bytes.ts";
import type { KeyValue, TransactionOptions } from "../../fdb/admin.ts";
import { namedFdbError } from "../../fdb/error.ts";
import { intersects, isInside } from "./write-buffer.ts";
import type { KeyRange } from "./write-buffer.ts";

export type SpecialOperation =
  | { type: "set"; key: Uint8Array; value: Uint8Array }
  | { type: "clear"; key: Uint8Array }
  | { type: "clearRange"; begin: Uint8Array; end: Uint8Array };

export interface SpecialKeyModule {
  /** First key of the module's range. */
  beginKey: Uint8Array;
  /** First key behind the module's range. */
  endKey: Uint8Array;
  /** All present keys in [begin, end), in order; the range lies inside the module's. */
  read(
    begin: Uint8Array,
    end: Uint8Array,
    options: TransactionOptions,
  ): Promise<KeyValue[]> | KeyValue[];
  /**
   * Checks the operations of one transaction, in their order, when it commits. Throws FdbError 2117 when they
   * make no sense, else returns their effect, which runs at the instant of the commit and must not fail.
   * A module without it cannot be written (2115).
   */
  write?(
    operations: readonly SpecialOperation[],
    options: TransactionOptions,
  ): Promise<() => void> | (() => void);
  /** Which keys of the module can be written; all when absent. */
  isWritable?(key: Uint8Array): boolean;
}

export const specialSpaceBegin = "\xff\xff";

interface Registered {
  range: KeyRange;
  module: SpecialKeyModule;
}

export class SpecialKeySpace {
  readonly #modules: Registered[] = [];

  register(module: SpecialKeyModule): void {
    const range = { begin: binaryText(module.beginKey), end: binaryText(module.endKey) };
    if (range.begin < specialSpaceBegin || range.begin >= range.end) {
      throw new Error("a module needs a range in the special key space");
    }
    if (this.#modules.some((other) => intersects(other.range, range))) {
      throw new Error("the ranges of two modules of the special key space overlap");
    }
    this.#modules.push({ range, module });
    this.#modules.sort((left, right) => (left.range.begin < right.range.begin ? -1 : 1));
  }

  /** The parts of modules that a read touches. Without RELAXED it must lie in exactly one module. */
  forRead(range: KeyRange, isRelaxed: boolean): { module: SpecialKeyModule; range: KeyRange }[] {
    const touched = this.#modules.filter((candidate) => intersects(candidate.range, range));
    if (!isRelaxed) {
      const [only] = touched;
      if (only === undefined) {
        throw namedFdbError(2113);
      }
      const isWhole = range.begin >= only.range.begin && range.end <= only.range.end;
      if (touched.length > 1 || !isWhole) {
        throw namedFdbError(2112);
      }
    }
    return touched.map((found) => ({
      module: found.module,
      range: {
        begin: range.begin > found.range.begin ? range.begin : found.range.begin,
        end: range.end < found.range.end ? range.end : found.range.end,
      },
    }));
  }

  /** The module that takes a write. */
  forWrite(range: KeyRange, beginKey: Uint8Array, isEnabled: boolean): SpecialKeyModule {
    if (!isEnabled) {
      throw namedFdbError(2114);
    }
    const touched = this.#modules.filter((candidate) => intersects(candidate.range, range));
    const [only] = touched;
    const isWritable =
      only?.module.write !== undefined && only.module.isWritable?.(beginKey) !== false;
    if (only === undefined || !isWritable) {
      throw namedFdbError(2115);
    }
    if (touched.length > 1 || !isInside(range.begin, only.range) || range.end > only.range.end) {
      throw namedFdbError(2116);
    }
    return only.module;
  }
}
