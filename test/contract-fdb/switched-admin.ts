// The client of a person who keeps it at hand, while what is behind it can be replaced by a client with another connection
// string.
import type { AdminClient } from "../../src/fdb/admin.ts";

export class SwitchedAdmin {
  #behind: AdminClient;
  readonly client: AdminClient;

  constructor(first: AdminClient) {
    this.#behind = first;
    const now = (): AdminClient => this.#behind;
    this.client = {
      status: (timeoutMs) => now().status(timeoutMs),
      configure: (text, timeoutMs) => now().configure(text, timeoutMs),
      exclude: (targets, options) => now().exclude(targets, options),
      include: (targets, timeoutMs) => now().include(targets, timeoutMs),
      excluded: (timeoutMs) => now().excluded(timeoutMs),
      exclusionsInProgress: (timeoutMs) => now().exclusionsInProgress(timeoutMs),
      kill: (addresses, timeoutMs) => now().kill(addresses, timeoutMs),
      changeCoordinators: (addresses, timeoutMs) => now().changeCoordinators(addresses, timeoutMs),
      connectionString: (timeoutMs) => now().connectionString(timeoutMs),
      setMaintenanceZone: (...given) => now().setMaintenanceZone(...given),
      resetMaintenanceZone: (timeoutMs) => now().resetMaintenanceZone(timeoutMs),
      transact: (body, options) => now().transact(body, options),
      close: () => now().close(),
    };
  }

  /** What is under way in the one before ends with an error. */
  switchTo(next: AdminClient): void {
    const before = this.#behind;
    this.#behind = next;
    before.close();
  }
}
