// What a running backup tool has at hand: its words, its container's files and variables, its connection to a database
// and to the object stores.
import type { ToolSpec } from "../../pod/process-runtime.ts";
import { openConnection } from "../database/client-connection.ts";
import type { ClientConnection } from "../database/client-connection.ts";
import type { Database } from "../database/database.ts";
import type { Fabric } from "../database/fabric.ts";
import { openContainer } from "./store-client.ts";
import type { Container } from "./store-client.ts";
import type { StoreUrl } from "./store-url.ts";
import type { ToolLife } from "./tool-life.ts";
import type { ToolOptions } from "./tool-options.ts";

export interface ToolContext {
  readonly fabric: Fabric;
  readonly spec: ToolSpec;
  readonly life: ToolLife;
  out(text: string): void;
  err(text: string): void;
}

/** The tool ends here, with words for stderr. */
export class ToolExit extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "ToolExit";
    this.code = code;
  }
}

const searchedFiles = ["./fdb.cluster", "/etc/foundationdb/fdb.cluster"] as const;
const notFound = "1515 No cluster file found in current directory or default location";

/** The path of the cluster file: the one given, the variable's, or where the tools look. */
export function clusterFileOf(context: ToolContext, given: string | undefined): string {
  const { files, environment = {} } = context.spec;
  const named = given ?? environment["FDB_CLUSTER_FILE"];
  if (named !== undefined) {
    if (files.read(named) !== undefined) return named;
    throw new ToolExit(1, `Unable to read cluster file \`${named}': ${notFound}\n`);
  }
  const found = searchedFiles.find((path) => files.read(path) !== undefined);
  if (found !== undefined) return found;
  const places = searchedFiles.map((path) => `\`${path}'`).join(" or ");
  throw new ToolExit(
    1,
    `Unable to read cluster file ${places} and FDB_CLUSTER_FILE unset: ${notFound}\n`,
  );
}

export function connect(context: ToolContext, clusterFile: string): ClientConnection {
  const { spec, fabric } = context;
  return openConnection(
    fabric,
    {
      name: spec.pod.name,
      connectionString: spec.files.read(clusterFile) ?? "",
      version: spec.version,
    },
    { host: spec.pod.ips[0] ?? "127.0.0.1", logGroup: "default" },
  );
}

/** The database once it serves; without a quorum the tools wait for ever. */
export async function served(
  context: ToolContext,
  clusterFile: string | undefined,
): Promise<Database> {
  const connection = connect(context, clusterFileOf(context, clusterFile));
  try {
    const database = await connection.serving(context.life);
    await context.life.sleep(commandMs);
    return database;
  } finally {
    connection.close();
  }
}

export const commandMs = 80;

/** The files that may hold credentials: the ones given, then the variable's. */
export function credentialFiles(context: ToolContext, options: ToolOptions): string[] {
  const { environment = {} } = context.spec;
  const variable = environment["FDB_BLOB_CREDENTIALS"] ?? "";
  return [
    ...options.all("--blob-credentials"),
    ...variable.split(":").filter((path) => path !== ""),
  ];
}

export function containerOf(context: ToolContext, options: ToolOptions, url: StoreUrl): Container {
  return openContainer(
    {
      stores: context.fabric.objectStores,
      files: context.spec.files,
      credentials: credentialFiles(context, options),
      life: context.life,
    },
    url,
  );
}
