// Watches over backups and restores in a life, with the truth beside them: what was really started, what lies in the store,
// what a restore left, and who sees a secret. Rules: spec/world.md [W130]-[W134].
import type { FoundationDBBackup } from "../../../api/backup.ts";
import type { FoundationDBRestore } from "../../../api/restore.ts";
import type { ObjectStore } from "../../backup/object-store.ts";
import type { ToolProcess, ToolSpec } from "../../../pod/process-runtime.ts";
import type { Pod } from "../../../kube/generated/types.ts";
import type { World } from "../../world.ts";
import { CommandWatch } from "./command-watch.ts";
import { ContainerWatch } from "./container-watch.ts";
import { LayerWatch } from "./layer-watch.ts";
import type { Started, WatchedDatabase } from "./layer-watch.ts";
import { restoreProblem } from "./restore-check.ts";
import { accountSecret, fileSecret, shownSecret } from "./secret-watch.ts";

export interface BackupWatchOptions {
  world: World;
  store: ObjectStore;
  bucket: string;
  violated: (text: string) => void;
}

/** How often the store is looked through. */
const storeLookMs = 60_000;

export class BackupWatch {
  readonly #options: BackupWatchOptions;
  readonly commands: CommandWatch;
  readonly containers: ContainerWatch;
  readonly layers: LayerWatch;
  readonly #backups = new Map<string, FoundationDBBackup>();
  readonly #restores = new Map<string, FoundationDBRestore>();
  readonly #labels = new Map<string, Readonly<Record<string, string>>>();
  /** Uids of restores whose end was judged. */
  readonly #judged = new Set<string>();
  #storeMs = 0;
  /** So many restores were compared, key by key. */
  compared = 0;

  constructor(options: BackupWatchOptions) {
    this.#options = options;
    const { world, store, bucket, violated } = options;
    const nowMs = (): number => world.clock.nowMs();
    const isBeingDeleted = (container: string): boolean => this.commands.isDeleting(container);
    this.containers = new ContainerWatch({ store, bucket, nowMs, isBeingDeleted, violated });
    this.layers = new LayerWatch(
      world,
      (started) => this.commands.noteStart(started),
      (name, database) => this.containers.noteContainer(name, database),
    );
    this.commands = new CommandWatch({
      databases: () => this.#looked(),
      clusterOf: (owner) => this.#databaseFor(owner),
      labelsOf: (podName) => this.#labels.get(podName) ?? {},
      violated,
      onRemoval: (command) => {
        this.layers.look();
        this.containers.noteRemoval(command);
      },
    });
    world.server.context.store.subscribeAll(({ type, storageKey, object }) =>
      this.#note(storageKey, object, type === "DELETED"),
    );
  }

  noteTool(spec: ToolSpec, process: ToolProcess): void {
    // What a command deletes may be what a restore that has just ended came from.
    this.layers.look();
    this.#judgeRestores();
    this.commands.noteTool(spec, process);
  }

  /** A line of the log shows no secret. */
  checkLine(line: string): void {
    if (line.includes(fileSecret) || line.includes(accountSecret)) {
      this.#options.violated(`a secret in the log: ${line}`);
    }
  }

  look(): void {
    this.layers.look();
    this.#judgeRestores();
    const nowMs = this.#options.world.clock.nowMs();
    if (nowMs - this.#storeMs < storeLookMs) return;
    this.#storeMs = nowMs;
    this.containers.look();
  }

  #looked(): readonly WatchedDatabase[] {
    this.layers.look();
    return this.layers.databases;
  }

  #databaseFor(owner: string): WatchedDatabase | undefined {
    const cluster =
      this.#backups.get(owner)?.spec.clusterName ??
      this.#restores.get(owner)?.spec.destinationClusterName;
    return cluster === undefined ? undefined : this.layers.databaseOf(cluster);
  }

  #note(storageKey: string, object: Readonly<Record<string, unknown>>, isDeleted: boolean): void {
    const secret = shownSecret(storageKey, object);
    if (secret !== undefined) {
      this.#options.violated(`${storageKey} shows a secret: ${JSON.stringify(object["metadata"])}`);
    }
    if (storageKey.endsWith("/foundationdbbackups")) {
      this.#noteBackup(object as unknown as FoundationDBBackup, isDeleted);
    }
    if (storageKey.endsWith("/foundationdbrestores")) {
      const restore = object as unknown as FoundationDBRestore;
      this.#restores.set(restore.metadata.uid ?? "", restore);
    }
    if (storageKey === "/pods" && !isDeleted) {
      const { metadata } = object as unknown as Pod;
      this.#labels.set(metadata.name ?? "", metadata.labels ?? {});
    }
  }

  #noteBackup(backup: FoundationDBBackup, isDeleted: boolean): void {
    const uid = backup.metadata.uid ?? "";
    const before = this.#backups.get(uid);
    this.#backups.set(uid, backup);
    this.containers.noteBackup(isDeleted ? undefined : backup, uid);
    if (isDeleted) return;
    const wished = startsWished(before, backup);
    for (let count = 0; count < wished; count += 1) this.commands.noteWish(backup);
  }

  #judgeRestores(): void {
    for (const [uid, restore] of this.#restores) {
      const { status } = restore;
      if (status?.endTime === undefined || status.state !== "completed") continue;
      if (this.#judged.has(uid)) continue;
      this.#judged.add(uid);
      const started = this.#startedBy(restore);
      const source = started && this.containers.sourceOf(started.container);
      const name = restore.metadata.name ?? "";
      if (started === undefined || source === undefined) {
        this.#options.violated(`${name} is completed, and no database has it`);
        continue;
      }
      const problem = restoreProblem(restore, started, source);
      this.compared += 1;
      if (problem !== undefined) this.#options.violated(problem);
    }
  }

  #startedBy({ status }: FoundationDBRestore): Started | undefined {
    return this.layers.databases
      .flatMap(({ started }) => [...started.values()])
      .find((each) => each.uid === status?.restoreUID);
  }
}

/** How many starts a change of a resource may lead to. */
function startsWished(
  before: FoundationDBBackup | undefined,
  { spec, status }: FoundationDBBackup,
): number {
  if (before === undefined) return 1;
  const known = new Set((before.status?.runs ?? []).map(({ time }) => time));
  const runs = (status?.runs ?? []).filter(({ time }) => !known.has(time)).length;
  const isOther = (key: "blobStoreConfiguration" | "schedule" | "backupMode"): boolean =>
    JSON.stringify(before.spec[key]) !== JSON.stringify(spec[key]);
  const isResumed = before.spec.backupState === "Stopped" && spec.backupState !== "Stopped";
  const isOtherwise =
    isOther("blobStoreConfiguration") || isOther("schedule") || isOther("backupMode");
  return runs + (isResumed || isOtherwise ? 1 : 0);
}
