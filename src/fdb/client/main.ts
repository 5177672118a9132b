// The client process of some databases. It is told which library to load, then which databases there are, and answers
// calls; it ends with its parent. Rules: spec/real-database.md [DB10], [DB17], [DB50].
import { rmSync, writeSync } from "node:fs";
import { machineClock } from "../../env/clock.ts";
import { operatorLogGroup } from "../log-group.ts";
import type { ChildMessage, ChildOpen, ChildStart, ParentMessage } from "./child-messages.ts";
import { ClusterFiles } from "./cluster-files.ts";
import { NativeDatabase } from "./native-database.ts";
import { apiVersion, loadLibrary } from "./native-library.ts";
import { NativeNetwork } from "./native-network.ts";
import { OpenDatabases } from "./open-databases.ts";
import type { OpenedDatabase } from "./open-databases.ts";
import { Operations } from "./operations.ts";
import { OpenTransactions } from "./open-transactions.ts";
import { StatusSender } from "./status-transfer.ts";

const [, , question, libraryPath] = process.argv;
if (question === "--version-of" && libraryPath !== undefined) {
  const library = loadLibrary(libraryPath);
  const code = library.selectApiVersion(apiVersion, apiVersion);
  if (code !== 0) throw new Error(`the library refuses API version ${apiVersion}: code ${code}`);
  process.stdout.write(`${library.clientVersion().split(",")[0]}\n`);
} else {
  process.once("message", (message) => {
    try {
      start(message as ChildStart);
    } catch (error) {
      broken(error instanceof Error ? error.message : String(error));
    }
  });
  // Whatever is under way: without a parent there is nobody to answer to.
  process.once("disconnect", () => leave());
}

let folder: string | undefined;

function start(options: ChildStart): void {
  folder = options.folder;
  const clock = machineClock();
  const library = loadLibrary(options.libraryPath);
  const network = new NativeNetwork({ library, logGroup: operatorLogGroup, onBroken: broken });
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  const files = new ClusterFiles(options.folder, clock);
  const open = ({ connectionString, commandPath }: ChildOpen): OpenedDatabase => {
    const file = files.write(connectionString);
    const clusterFilePath = file.path;
    const database = madeOr(
      () => new NativeDatabase({ clock, network, clusterFilePath }),
      () => file.release(),
    );
    const parts = { clock, database, commandPath, clusterFilePath, environment };
    return {
      tools: {
        operations: new Operations(parts),
        transactions: new OpenTransactions(database),
        statuses: new StatusSender(),
      },
      close: () => {
        database.close();
        file.release();
      },
    };
  };
  const databases = new OpenDatabases({ open, send });
  process.on("message", (message) => databases.take(message as ParentMessage));
  send({ type: "ready", version: library.clientVersion().split(",")[0] ?? "" });
}

function madeOr<T>(make: () => T, otherwise: () => void): T {
  try {
    return make();
  } catch (error) {
    otherwise();
    throw error;
  }
}

function send(message: ChildMessage): void {
  process.send?.(message);
}

/** The last words are written before the end: the parent tells them as its reason. */
function broken(reason: string): void {
  writeSync(process.stderr.fd, `${reason}\n`);
  leave();
}

/** At once: the library's own threads do not survive an orderly end. */
function leave(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  process.kill(process.pid, "SIGKILL");
}
