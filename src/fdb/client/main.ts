// The client process of one database. It is told once where its database is, then answers one call after the other;
// it ends with its parent. Rules: spec/real-database.md [DB10], [DB17].
import { rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { machineClock } from "../../env/clock.ts";
import { FdbError } from "../error.ts";
import { operatorLogGroup } from "../log-group.ts";
import { answerCall } from "./answer-call.ts";
import type { ChildForget, ChildMessage, ChildRequest, ChildStart } from "./child-messages.ts";
import { NativeDatabase } from "./native-database.ts";
import { apiVersion, loadLibrary } from "./native-library.ts";
import { Operations } from "./operations.ts";
import { OpenTransactions } from "./open-transactions.ts";

/** As the Go operator's clients show themselves: upgrades of the database do not wait for them. */

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
  const clusterFilePath = join(options.folder, "fdb.cluster");
  writeFileSync(clusterFilePath, `${options.connectionString}\n`, { mode: 0o600 });
  const library = loadLibrary(options.libraryPath);
  const database = new NativeDatabase({
    ...{ clock, library, clusterFilePath, logGroup: operatorLogGroup, onBroken: broken },
  });
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  const { commandPath } = options;
  const parts = { clock, database, commandPath, clusterFilePath, environment };
  const tools = {
    operations: new Operations(parts),
    transactions: new OpenTransactions(database),
  };
  process.on("message", (message) => {
    const request = message as ChildRequest | ChildForget;
    if (request.type === "forget") tools.transactions.forget(request.input.transaction);
    else void answerCall(tools, request).then(send, (error: unknown) => fail(request.id, error));
  });
  send({ type: "ready", version: library.clientVersion().split(",")[0] ?? "" });
}

function send(message: ChildMessage): void {
  process.send?.(message);
}

function fail(id: number, error: unknown): void {
  const code = error instanceof FdbError ? error.code : 0;
  const message = error instanceof Error ? error.message : String(error);
  send({ type: "failure", id, code, message });
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
