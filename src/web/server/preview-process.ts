// Previews take seconds of computing, so that they are made by `kubectl fdb preview` in a process of its own: the page stays
// live, and what takes too long or too much is ended with it. Rules: spec/web.md [WEB25].
import { isAvailable } from "../../model/availability.ts";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { CommandError } from "../../env/command-error.ts";
import { version } from "../../env/program-version.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { pageOf } from "../../preview/page.ts";
import type { Picture } from "../../preview/picture.ts";
import type { PreviewReport } from "../../preview/report.ts";
import { savePicture } from "../../preview/save-picture.ts";
import { takePicture } from "../../preview/take-picture.ts";
import type { PictureSource } from "../../preview/take-picture.ts";
import { computeSeconds, previewLimitMs, previewSeeds } from "../preview-limit.ts";
import type { PreviewAnswer, PreviewRequest } from "../view-model.ts";
import { WebProblem } from "./source.ts";

/** How `kubectl fdb` is started: a program and what stands before the command. */
export type PluginProgram = readonly [program: string, ...first: string[]];

/** What it is made of: a picture, or the path of one that was saved. */
export type PreviewOf = { readonly picture: Picture } | { readonly path: string };

/** Of a cluster as it is now, read with the rights of the person who looks. */
export async function previewLive(
  program: PluginProgram,
  source: Omit<PictureSource, "signal">,
  cluster: Stored<FoundationDBCluster>,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<PreviewAnswer> {
  try {
    const picture = await takePicture({ ...source, signal }, cluster, {
      versions: { plugin: version },
    });
    return await previewInProcess(program, { picture }, request, signal);
  } catch (error) {
    if (isKubeError(error))
      throw new WebProblem(503, `the cluster cannot be read: ${error.message}`);
    if (error instanceof CommandError) throw new WebProblem(422, error.message);
    throw error;
  }
}

const outputBytesMax = 16 * 2 ** 20;
/** It gives up by itself before whoever asked does. A picture that was saved may be of any size. */
function limitsOf(of: PreviewOf): string[] {
  const groups =
    "picture" in of ? (of.picture.cluster.status?.processGroups ?? []).length : undefined;
  const seeds = previewSeeds(groups ?? 0);
  return ["--seeds", String(seeds), "--cpu", `${computeSeconds(groups ?? Infinity)}s`];
}

const fileName = "changed.yaml";

export async function previewInProcess(
  program: PluginProgram,
  of: PreviewOf,
  { change }: PreviewRequest,
  signal: AbortSignal,
): Promise<PreviewAnswer> {
  const folder = mkdtempSync(join(tmpdir(), "fdb-preview-"));
  try {
    if ("picture" in of && !isServing(of.picture)) throw new WebProblem(422, notServing);
    if ("picture" in of) savePicture(join(folder, "picture"), of.picture);
    if (change.type === "yaml") writeFileSync(join(folder, fileName), change.yaml, { mode: 0o600 });
    const from = "path" in of ? of.path : "picture";
    const [command, ...first] = program;
    const flags = ["preview", `--from=${from}`, ...flagsOf(change), ...limitsOf(of), "-o", "json"];
    const report = await reportOf(command, [...first, ...flags], folder, signal);
    return { report, text: pageOf(report) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const tooLong = `the preview took too long, and was ended: this page waits for ${previewLimitMs / 60_000} minutes; where the cluster is large or the machine busy, run \`kubectl fdb preview\` in a terminal`;
const notServing =
  "the database does not serve, and a preview begins with one that does: get it to serve first";

function isServing({ databaseStatus }: Picture): boolean {
  return isAvailable(databaseStatus as DatabaseStatus | undefined);
}

function flagsOf(change: PreviewRequest["change"]): string[] {
  switch (change.type) {
    case "yaml":
      return ["-f", fileName];
    case "upgrade":
      return [`--upgrade=${change.version}`];
    case "loseNode":
      return [`--lose-node=${change.node}`];
    case "loseZone":
      return [`--lose-zone=${change.zone}`];
    case "drain":
      return [`--drain=${change.node}`];
  }
}

function reportOf(
  command: string,
  flags: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<PreviewReport> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, flags, {
      ...{ cwd, signal, killSignal: "SIGKILL", stdio: ["ignore", "pipe", "pipe"] },
    });
    const [output, errors] = [gathered(child.stdout), gathered(child.stderr)];
    child.once("error", (error) => {
      const isOver = signal.aborted;
      const why = isOver ? tooLong : error.message;
      reject(new WebProblem(isOver ? 504 : 500, why));
    });
    child.once("close", () => {
      try {
        // A change that is refused is told in a report, too.
        resolve(JSON.parse(output()) as PreviewReport);
      } catch {
        reject(new WebProblem(422, problemIn(errors())));
      }
    });
  });
}

function gathered(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= outputBytesMax) chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

/** The line that says why, without the name of the program. */
function problemIn(text: string): string {
  const line = text.split("\n").findLast((one) => one.trim() !== "") ?? "";
  return line.replace(/^[\w -]*: (?=\S)/, "").slice(0, 2_000) || "the preview could not be made";
}
