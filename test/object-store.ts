// A real S3 server for tests: versitygw, built once from tools/object-store, on a loopback address of its own with
// throw-away data. Its objects are plain files, so that a test can lose some. Plain HTTP, one account.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { machineClock, sleep } from "../src/env/clock.ts";
import { goProgram, goProgramPath } from "./go-program.ts";
import type { Environment, GoProgram } from "./go-program.ts";

const program: GoProgram = {
  name: "versitygw",
  title: "versitygw, an S3 server",
  module: "object-store",
  package: "github.com/versity/versitygw/cmd/versitygw",
  remedy: "install Go 1.26 or newer",
  duration: "about 3 minutes",
};

/** Where the server lies, or would lie once it is built. */
export function objectStorePath(environment: Environment): string {
  return goProgramPath(program, environment);
}

/** The path of the server, built first where it is missing. */
export function buildObjectStore(
  environment: Environment,
  say: (line: string) => void,
): Promise<string> {
  return goProgram(program, environment, say);
}

export interface ObjectStoreServer {
  readonly host: string;
  readonly port: number;
  /** Removes the objects of the bucket whose keys are so; gives how many. */
  lose(isLost: (key: string) => boolean): number;
  stop(): Promise<void>;
}

export interface ObjectStoreServerOptions {
  readonly binary: string;
  readonly host: string;
  /** Data and metadata lie below it. */
  readonly folder: string;
  readonly key: string;
  readonly secret: string;
  readonly region: string;
  readonly bucket: string;
}

const port = 7070;
const readyWithinMs = 30_000;

export async function startObjectStore(
  options: ObjectStoreServerOptions,
): Promise<ObjectStoreServer> {
  const { binary, host, folder, key, secret, region } = options;
  const [data, metadata] = ["objects", "metadata"].map((name) => path.join(folder, name));
  const bucketFolder = path.join(data ?? "", options.bucket);
  mkdirSync(bucketFolder, { recursive: true });
  mkdirSync(metadata ?? "", { recursive: true });
  // Metadata in a folder of its own: not every file system has extended attributes.
  const place = ["posix", "--sidecar", metadata ?? "", data ?? ""];
  const child = spawn(binary, ["--port", `${host}:${port}`, "--region", region, ...place], {
    env: { ROOT_ACCESS_KEY: key, ROOT_SECRET_KEY: secret },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = `${errors}${text}`.slice(-2000);
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", (error) => {
      errors = error.message;
      resolve();
    });
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  const isReady = await answers(host, () => child.exitCode !== null);
  if (!isReady) {
    await stop();
    throw new Error(`the S3 server at ${host}:${port} did not start: ${errors.trim()}`);
  }
  return { host, port, stop, lose: (isLost) => loseFiles(bucketFolder, isLost) };
}

async function answers(host: string, hasEnded: () => boolean): Promise<boolean> {
  const clock = machineClock();
  const untilMs = clock.nowMs() + readyWithinMs;
  while (clock.nowMs() < untilMs && !hasEnded()) {
    if (await isListening(host)) return true;
    await sleep(clock, 100);
  }
  return false;
}

function isListening(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Removes the files below a folder whose paths are so; gives how many. */
export function loseFiles(folder: string, isLost: (key: string) => boolean): number {
  const lost = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((key) => statSync(path.join(folder, key)).isFile())
    .filter(isLost);
  for (const key of lost) rmSync(path.join(folder, key));
  return lost.length;
}
