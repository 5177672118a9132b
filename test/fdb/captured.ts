// A database that holds keys which were captured of a real one, for tests.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "../../src/env/random.ts";
import { createKeyValueStore } from "../../src/sim/key-value/store.ts";
import type { KeyValueStore } from "../../src/sim/key-value/store.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { readBackupLayer } from "../../src/fdb/backup-layer.ts";
import type { BackupLayer } from "../../src/fdb/backup-layer.ts";
import { bytesOfBinary } from "../../src/fdb/bytes.ts";

const folder = join(import.meta.dirname, "../data/fdb/backup");

/** Bytes as fdbcli prints them. */
function bytesOfShown(text: string): Uint8Array {
  const binary = text.replaceAll(/\\(\\|x([0-9a-f]{2}))/g, (_, all: string, hex?: string) =>
    hex === undefined ? all : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return bytesOfBinary(binary);
}

export function pairsOf(file: string): [Uint8Array, Uint8Array][] {
  const text = readFileSync(join(folder, file), "utf8");
  return [...text.matchAll(/^`(.*)' is `(.*)'$/gm)].map(([, key = "", value = ""]) => [
    bytesOfShown(key),
    bytesOfShown(value),
  ]);
}

/** A database that holds the captured keys, in virtual time. */
export class Captured {
  readonly clock = new VirtualClock();
  readonly store: KeyValueStore = createKeyValueStore({
    clock: this.clock,
    random: seededRandom(1),
  });

  async fill(...files: string[]): Promise<void> {
    const pairs = files.flatMap(pairsOf);
    assert.ok(pairs.length > 0);
    await this.run(
      this.store.transact(
        async (transaction) => {
          for (const [key, value] of pairs) transaction.set(key, value);
        },
        { timeoutMs: 5000, accessSystemKeys: true },
      ),
    );
  }

  layer(tag: string): Promise<BackupLayer> {
    return this.run(readBackupLayer(this.store, { tag }, 5000));
  }

  async run<T>(work: Promise<T>): Promise<T> {
    await this.clock.advance(2000);
    return work;
  }
}
