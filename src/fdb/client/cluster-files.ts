// The cluster files of the databases of one client process. The library goes on with a database that was closed for two
// minutes after its last status: it looks at the file, tells the servers when that is not as it should be, and writes to
// it when coordinators change. So a file stays for a while, and no other database ever gets one of the same name. Rules:
// spec/real-database.md [DB53], [DB58].
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../env/clock.ts";

const keptMs = 600_000;

export interface ClusterFile {
  readonly path: string;
  /** Nobody needs it any more but the library. */
  release(): void;
}

export class ClusterFiles {
  readonly #folder: string;
  readonly #clock: Clock;
  #written = 0;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  write(connectionString: string): ClusterFile {
    this.#written += 1;
    const path = join(this.#folder, `${this.#written}.cluster`);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const remove = (): void => rmSync(path, { force: true });
    try {
      writeFileSync(path, `${connectionString}\n`, { mode: 0o600 });
    } catch (error) {
      // On a disk that is full there is a file all the same.
      remove();
      throw error;
    }
    return { path, release: () => void this.#clock.setTimer(keptMs, remove) };
  }
}
