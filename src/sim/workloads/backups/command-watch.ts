// Looks at the commands that change something, as they really begin: none is begun again for what was done, no two of one
// resource at once, and none takes data from under a running backup or a restore. Rules: spec/world.md [W131].
import { tagOf } from "../../../api/effective-backup.ts";
import type { FoundationDBBackup } from "../../../api/backup.ts";
import type { ToolProcess, ToolSpec } from "../../../pod/process-runtime.ts";
import { containerName } from "../../backup/backup-truth.ts";
import { isActive } from "./layer-watch.ts";
import type { Started, WatchedDatabase } from "./layer-watch.ts";

/** On a command pod: the uid of its resource. */
export const commandForLabel = "foundationdb.org/backup-command-for";

export interface RunningCommand {
  readonly what: string;
  readonly podName: string;
  /** Uid of the resource that it is for. */
  readonly owner: string;
  /** That it deletes or expires. */
  readonly container: string;
  readonly args: readonly string[];
}

interface Surroundings {
  databases: () => readonly WatchedDatabase[];
  /** The database that a resource is about, by its uid. */
  clusterOf: (owner: string) => WatchedDatabase | undefined;
  labelsOf: (podName: string) => Readonly<Record<string, string>>;
  violated: (text: string) => void;
  /** After data may have gone. */
  onRemoval: (command: RunningCommand) => void;
}

export class CommandWatch {
  readonly #around: Surroundings;
  readonly #running = new Set<RunningCommand>();
  /** Arguments of what was expired, and the pod that did it. */
  readonly #expired = new Map<string, string>();
  /** How often backups of a tag of a cluster may be started: once for each wish to. */
  readonly #wished = new Map<string, number>();
  readonly #started = new Map<WatchedDatabase, Map<string, number>>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Somebody has wished for a start, or for something that may need one. */
  noteWish({ spec }: Pick<FoundationDBBackup, "spec">): void {
    const key = `${spec.clusterName}/${tagOf(spec)}`;
    this.#wished.set(key, (this.#wished.get(key) ?? 0) + 1);
  }

  /** One was really started. */
  noteStart({ layer, database, tag }: Started): void {
    const counts = this.#started.get(database) ?? new Map<string, number>();
    this.#started.set(database, counts);
    const key = `${layer} ${tag}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const wished = layer === "restore" ? 1 : (this.#wished.get(`${database.cluster}/${tag}`) ?? 0);
    if (count > wished) {
      const what = `${layer} of the tag ${tag} in ${database.cluster}`;
      this.#around.violated(`${what} was started ${count} times and asked for ${wished} times`);
    }
  }

  /** Somebody has deleted the pod: the operator may not know how it ended, and to expire again changes nothing. */
  noteLost(podName: string): void {
    for (const [args, by] of this.#expired) if (by === podName) this.#expired.delete(args);
  }

  isDeleting(container: string): boolean {
    return [...this.#running].some(
      (each) => each.what === "fdbbackup delete" && each.container === container,
    );
  }

  noteTool(spec: ToolSpec, process: ToolProcess): void {
    if (spec.name === "backup_agent") return;
    const command = this.#commandOf(spec);
    this.#check(command);
    this.#running.add(command);
    void process.exited.then(({ code }) => {
      this.#running.delete(command);
      this.#noteEnd(command, code);
    });
  }

  #commandOf({ name, args, pod }: ToolSpec): RunningCommand {
    const option = args.indexOf("-d");
    return {
      what: `${name} ${args[0] ?? ""}`,
      podName: pod.name,
      owner: this.#around.labelsOf(pod.name)[commandForLabel] ?? "",
      container: option < 0 ? "" : containerName(args[option + 1] ?? ""),
      args,
    };
  }

  #check(command: RunningCommand): void {
    const { what, owner, podName } = command;
    const told = `pod ${podName} runs ${what}`;
    for (const other of this.#running) {
      if (other.owner === owner && owner !== "") {
        this.#around.violated(`${told} while ${other.podName} runs ${other.what}`);
      }
    }
    if (what === "fdbbackup start") this.#checkStart(command, told);
    if (what === "fdbrestore start") this.#checkRestore(command, told);
    if (isRemoval(command)) this.#checkRemoval(command, told);
  }

  #checkStart({ args, owner }: RunningCommand, told: string): void {
    const tag = argumentOf(args, "-t") ?? "default";
    const cluster = this.#around.clusterOf(owner);
    const running = this.#all("backup").find(
      (each) => each.tag === tag && isActive(each) && each.database === (cluster ?? each.database),
    );
    if (running !== undefined) {
      this.#around.violated(`${told}, and a backup of the tag ${tag} runs already`);
    }
  }

  /**
   * A database that was made anew under the name of the old one has never seen the restore: whose status was wiped since
   * then has nothing that tells of it, and starts it. In the database that saw it nothing is started again.
   */
  #checkRestore({ args, owner }: RunningCommand, told: string): void {
    const tag = argumentOf(args, "-t") ?? "default";
    const cluster = this.#around.clusterOf(owner);
    const isSeen = (each: Started): boolean =>
      each.tag === tag && each.database === (cluster ?? each.database);
    if (this.#all("restore").some(isSeen)) {
      this.#around.violated(`${told}, and a restore of the tag ${tag} was started before`);
    }
  }

  #checkRemoval({ container, what, args }: RunningCommand, told: string): void {
    const reader = this.#all("restore").find(
      (each) => isActive(each) && each.container === container,
    );
    if (reader !== undefined) {
      this.#around.violated(`${told} while the restore ${reader.tag} reads from there`);
    }
    if (what === "fdbbackup delete") {
      const writer = this.#all("backup").find(
        (each) => isActive(each) && each.container === container,
      );
      if (writer !== undefined) {
        this.#around.violated(`${told} while the backup of the tag ${writer.tag} writes there`);
      }
    }
    if (what === "fdbbackup expire" && this.#expired.has(args.join(" "))) {
      this.#around.violated(`${told}, which was done before: ${args.join(" ")}`);
    }
  }

  #noteEnd(command: RunningCommand, code: number): void {
    if (!isRemoval(command)) return;
    if (command.what === "fdbbackup expire" && code === 0) {
      this.#expired.set(command.args.join(" "), command.podName);
    }
    this.#around.onRemoval(command);
  }

  #all(layer: Started["layer"]): Started[] {
    return this.#around
      .databases()
      .flatMap(({ started }) => [...started.values()])
      .filter((each) => each.layer === layer);
  }
}

function isRemoval({ what }: RunningCommand): boolean {
  return what === "fdbbackup delete" || what === "fdbbackup expire";
}

function argumentOf(args: readonly string[], option: string): string | undefined {
  const index = args.indexOf(option);
  return index < 0 ? undefined : args[index + 1];
}
