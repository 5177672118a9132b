// An emulated API server on a port of this machine, and the kubeconfig that leads to it. Rules: spec/cli.md [CLI4], [CLI5].
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve as absolutePath } from "node:path";
import { kubeconfigText, serveHttps } from "../emulator/https-server.ts";
import type { ServedApi } from "../emulator/https-server.ts";
import type { World } from "../sim/world.ts";
import { CommandError } from "../env/command-error.ts";

export const defaultPort = 7443;

const root = join(import.meta.dirname, "..", "..");

export async function serve(world: World, port: number): Promise<ServedApi> {
  try {
    return await serveHttps(world.server, { port });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EADDRINUSE") {
      throw new CommandError(
        `port ${port} on 127.0.0.1 is taken: stop the program that uses it, or choose another with --port N (0 picks a free one)`,
      );
    }
    if (code === "EACCES")
      throw new CommandError(`port ${port} is not allowed: choose one above 1023 with --port N`);
    throw error;
  }
}

/** A file of the user's is never overwritten, nor removed at the end; another run's file has another port in its name. */
export function writeKubeconfig(
  served: ServedApi,
  wanted: string | undefined,
  usualName: string,
): string {
  const text = kubeconfigText(served);
  try {
    if (wanted !== undefined) {
      writeFileSync(wanted, text, { mode: 0o600, flag: "wx" });
      return absolutePath(wanted);
    }
    const folder = join(root, ".state");
    const file = join(folder, usualName);
    mkdirSync(folder, { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
    return file;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isThere = code === "EEXIST" && wanted !== undefined;
    const why = isThere ? "the file exists: remove it or name another" : message;
    throw new CommandError(`cannot write the kubeconfig ${wanted ?? root}: ${why}`);
  }
}
