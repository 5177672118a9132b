// All client processes of the operator: databases with the same library and the same authorities can share one. Rules:
// spec/real-database.md [DB18], [DB50], [DB56], spec/certificates.md [CERT10].
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../env/clock.ts";
import type { Log } from "../../env/log.ts";
import type { AdminClientOptions } from "../admin.ts";
import { certificateVariables, watchFiles } from "./certificate-watch.ts";
import type { ChildHandle, ChildStarter } from "./child-handle.ts";
import type { ChildStart } from "./child-messages.ts";
import { ClientGroup } from "./client-group.ts";
import { defaultClientLimits } from "./client-limits.ts";
import type { ClientLimits } from "./client-limits.ts";
import type { ClientFiles } from "./installation.ts";
import type { PooledDatabase } from "./pooled-database.ts";

export interface ClientPoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<ClientLimits> | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly starter: ChildStarter;
  readonly onLost?: ((name: string, reason: string) => void) | undefined;
}

/** What is told of one process. */
export interface ClientProcessFigures {
  /** Of a process that has ended the next one takes the number. */
  readonly number: number;
  readonly version: string;
  readonly databases: number;
  readonly isQuarantine: boolean;
  /** Undefined until it has told it. */
  readonly rssBytes: number | undefined;
}

export class ClientPool {
  readonly #options: ClientPoolOptions;
  readonly #limits: ClientLimits;
  readonly #groups = new Map<string, { group: ClientGroup; version: string }>();
  readonly #numbers = new Set<number>();
  #stopWatch: (() => void) | undefined;

  constructor(options: ClientPoolOptions) {
    this.#options = options;
    this.#limits = { ...defaultClientLimits, ...options.limits };
  }

  open(client: AdminClientOptions, files: ClientFiles): PooledDatabase {
    const { name, connectionString, authorities } = client;
    const key = JSON.stringify([files.libraryPath, authorities ?? null]);
    const known = this.#groups.get(key);
    const group = known?.group ?? this.#group(key, files, authorities);
    if (known === undefined) this.#groups.set(key, { group, version: files.version });
    this.#watch();
    return group.open({ name, connectionString, commandPath: files.commandPath });
  }

  figures(): ClientProcessFigures[] {
    return [...this.#groups.values()]
      .flatMap(({ group, version }) =>
        group.processes.map(({ number, seats, isWard, rssBytes }) => ({
          ...{ number, version, databases: seats.size, isQuarantine: isWard, rssBytes },
        })),
      )
      .toSorted((left, right) => left.number - right.number);
  }

  #group(key: string, files: ClientFiles, authorities: string | undefined): ClientGroup {
    const { clock, log, onLost } = this.#options;
    return new ClientGroup({
      ...{ clock, limits: this.#limits },
      log: log.with({ version: files.version }),
      start: () => this.#start(files.libraryPath, authorities),
      takeNumber: () => this.#takeNumber(),
      freeNumber: (number) => void this.#numbers.delete(number),
      onLost: (name, reason) => onLost?.(name, reason),
      onEmpty: () => {
        this.#groups.delete(key);
        if (this.#groups.size > 0) return;
        this.#stopWatch?.();
        this.#stopWatch = undefined;
      },
    });
  }

  /** The least one that is free, so that there are not more series in metrics than there were processes at once. */
  #takeNumber(): number {
    let number = 1;
    while (this.#numbers.has(number)) number += 1;
    this.#numbers.add(number);
    return number;
  }

  #watch(): void {
    const { clock, environment } = this.#options;
    const certificates = certificateVariables.flatMap((name) => environment[name] ?? []);
    this.#stopWatch ??= watchFiles(clock, certificates, () => {
      for (const { group } of this.#groups.values()) group.replaceAll();
    });
  }

  /** Each child has a folder of its own: the library rewrites cluster files when coordinators change. */
  #start(libraryPath: string, authorities: string | undefined): ChildHandle {
    const { environment, starter } = this.#options;
    const folder = mkdtempSync(join(tmpdir(), "fdb-client-"));
    const remove = (): void => rmSync(folder, { recursive: true, force: true });
    try {
      const child = starter({ ...environment, ...ownAuthorities(authorities, folder) });
      child.onEnd(remove);
      const start: ChildStart = { type: "start", libraryPath, folder };
      child.send(start);
      return {
        send: (message) => child.send(message),
        onMessage: (heard) => child.onMessage(heard),
        onEnd: (ended) => child.onEnd(ended),
        kill: () => {
          child.kill();
          remove();
        },
      };
    } catch (error) {
      remove();
      throw error;
    }
  }
}

/** Authorities of their own are a file beside the cluster files. */
function ownAuthorities(
  authorities: string | undefined,
  folder: string,
): Readonly<Record<string, string>> {
  if (authorities === undefined) return {};
  const file = join(folder, "ca.pem");
  writeFileSync(file, authorities);
  return { FDB_TLS_CA_FILE: file };
}
