// Real FoundationDB under the emulated Kubernetes of `fdb-operator dev`: fdbservers as processes of this machine, and the
// client that the operator uses in production. Rules: spec/real-database.md [DB60]-[DB66].
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { ChildStarter } from "../fdb/client/child-handle.ts";
import { findInstallation, installationPlaces } from "../fdb/client/installation.ts";
import type { Installation, InstallationPlaces } from "../fdb/client/installation.ts";
import { createProcessAdmin } from "../fdb/client/process-admin.ts";
import { localProcesses } from "../pod/local-processes.ts";
import { loopbackAddress } from "../pod/loopback-address.ts";
import type { SiteOptions } from "../sim/world.ts";
import { CommandError } from "../env/command-error.ts";
import { withContainerCommandLines } from "./container-command-lines.ts";
import { readDocuments } from "./documents.ts";
import type { SourceDocument } from "./documents.ts";

export interface DevProcesses {
  readonly site: Pick<SiteOptions, "runtime" | "wrapAdmin" | "kubelet">;
  /** The sample with the version that is installed. */
  sample(): Promise<SourceDocument[]>;
  /** Ends all processes and removes their data. */
  stop(): Promise<void>;
}

export interface DevProcessesOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Starts the processes of database clients; only tests start them in a way of their own. */
  readonly startClient?: ChildStarter;
}

const root = join(import.meta.dirname, "..", "..");

export async function openProcesses(options: DevProcessesOptions): Promise<DevProcesses> {
  const places = installationPlaces(options.environment);
  const installation = await findInstallation(places);
  const version = installation.newest;
  if (version === undefined) throw new CommandError(whatIsMissing(installation, places));
  const state = join(root, ".state");
  mkdirSync(state, { recursive: true });
  const folder = mkdtempSync(join(state, "processes-"));
  const environment = Object.fromEntries(
    Object.entries(options.environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  const runtime = localProcesses({
    serverPath: (wanted) => installation.findServer(wanted)?.serverPath,
    toolPath: (name, wanted) => installation.findTool(name, wanted),
    folder,
    // The certificates of a server are those of its container, never the operator's own.
    environment: Object.fromEntries(
      Object.entries(environment).filter(([name]) => !name.startsWith("FDB_TLS_")),
    ),
  });
  const { clock, log, startClient } = options;
  const real = createProcessAdmin({
    ...{ installation, clock, log, environment },
    ...(startClient === undefined ? {} : { start: startClient }),
  });
  const admin = withContainerCommandLines(real, (local) => runtime.commandLineInside(local));
  let pods = 0;
  return {
    site: {
      runtime,
      wrapAdmin: () => admin,
      kubelet: { assignAddresses: () => [loopbackAddress(++pods)] },
    },
    sample: () => sampleOf(version),
    async stop() {
      await runtime.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function sampleOf(version: string): Promise<SourceDocument[]> {
  const documents = await readDocuments(join(root, "examples", "local-processes.yaml"));
  return documents.map((document) => {
    const spec = (document.object as { spec?: Record<string, unknown> }).spec ?? {};
    return { ...document, object: { ...document.object, spec: { ...spec, version } } };
  });
}

function whatIsMissing(installation: Installation, places: InstallationPlaces): string {
  const version = installation.servers[0]?.version ?? installation.clients[0]?.version;
  const text = installation.explainMissing(version ?? "7.3");
  const server =
    installation.servers.length === 0
      ? `fdbserver was not found in ${places.programFolders.join(", ")}. `
      : "";
  return `--runtime process needs FoundationDB on this machine. ${server}${text}`.trim();
}
