// The commands of fdbbackup that work on containers: describe, list, expire, delete. They need no database but for times.
// Carries rules BSIM5, BSIM6 and BSIM7.
import { hasMutationLogType, parseVersion } from "../../model/version.ts";
import type { Database } from "../database/database.ts";
import { markerKey, propertyObject, readContent } from "./container-objects.ts";
import type { StoredObject } from "./container-objects.ts";
import { descriptionJson, descriptionText } from "./describe-text.ts";
import type { SecondOf } from "./describe-text.ts";
import { describe, notesOf, seesBehindGap } from "./describe.ts";
import type { Description } from "./describe.ts";
import { planExpiry } from "./expire.ts";
import { readUrl } from "./fdbbackup-start.ts";
import type { Container } from "./store-client.ts";
import { parseStoreUrl } from "./store-url.ts";
import type { BlobUrl, FileUrl } from "./store-url.ts";
import { secondOfText, secondOfVersion, versionOfSecond } from "./time-keeper.ts";
import { ToolExit, commandMs, containerOf, served } from "./tool-context.ts";
import type { ToolContext } from "./tool-context.ts";
import { ToolError } from "./tool-error.ts";
import type { ToolOptions } from "./tool-options.ts";
import { tryHelp } from "./tool-options.ts";

/** Fails with 2319 when there is no container; a missing bucket looks the same. */
export async function existing(container: Container): Promise<Container> {
  if (!(await container.exists())) throw new ToolError(2319);
  return container;
}

export interface Look {
  readonly shown: Description;
  readonly objects: readonly StoredObject[];
}

/** Describes a container and notes in it how far the logs reach; a store that takes no note is no failure. */
export async function look(
  context: ToolContext,
  container: Container,
  isDeep: boolean,
): Promise<Look> {
  const objects = await container.objects();
  const content = readContent(container.name, objects);
  const shown = describe(content, {
    isDeep,
    seesBehindGap: seesBehindGap(context.spec.version),
  });
  try {
    for (const [property, text] of notesOf(content, shown)) {
      await container.put(propertyObject(container.name, property, text));
    }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
  return { shown, objects };
}

export async function describeBackup(context: ToolContext, options: ToolOptions): Promise<number> {
  const url = readUrl(context, options.get("--destcontainer"));
  await context.life.sleep(commandMs);
  const container = await existing(containerOf(context, options, url));
  const needsTimes = options.has("--version-timestamps");
  const database = needsTimes ? await served(context, options.get("--cluster-file")) : undefined;
  const { shown } = await look(context, container, options.has("--deep"));
  const secondOf: SecondOf = database && ((version) => secondOfVersion(database, version));
  const version = parseVersion(context.spec.version);
  const isLogTypeNamed = version !== undefined && hasMutationLogType(version);
  const text = options.has("--json")
    ? descriptionJson(url.text, shown, secondOf, isLogTypeNamed)
    : descriptionText(url.text, shown, secondOf);
  context.out(`${text}\n`);
  return 0;
}

export async function listBackups(context: ToolContext, options: ToolOptions): Promise<number> {
  const text = options.get("--base-url") ?? "";
  const url = parseStoreUrl(text, true);
  if ("problem" in url) {
    const reason = url.problem === "" ? "" : `: ${url.problem}`;
    const words = "Backup Container URL invalid";
    throw new ToolExit(1, `ERROR: ${words}${reason}\nFatal Error: ${words}\n`);
  }
  await context.life.sleep(commandMs);
  const container = containerOf(context, options, url);
  const prefix = url.scheme === "file" ? `${container.name}/` : "";
  for (const name of await container.names(prefix)) {
    context.out(`${url.scheme === "file" ? fileLine(url, name, prefix) : blobLine(url, name)}\n`);
  }
  return 0;
}

/** A secret of the URL comes out twice, and the region is left out, as the real tool does it. */
function blobLine(url: BlobUrl, name: string): string {
  const secret = url.secret === undefined ? "" : `:${url.secret}:${url.secret}`;
  const others = url.parameters.filter(([key]) => key !== "region" && key !== "bucket");
  const query = [["bucket", url.bucket], ...others]
    .map(([key, value]) => `${key}=${value}`)
    .join("&");
  return `blobstore://${url.key}${secret}@${url.host}:${url.port}/${name}?${query}`;
}

function fileLine(url: FileUrl, name: string, prefix: string): string {
  return `file://${url.path}/${name.slice(prefix.length)}`;
}

export async function deleteBackup(context: ToolContext, options: ToolOptions): Promise<number> {
  const url = readUrl(context, options.get("--destcontainer"));
  await context.life.sleep(commandMs);
  context.out(`Deleting ${url.text}...\n`);
  const container = await existing(containerOf(context, options, url));
  const objects = await container.objects();
  await container.remove(objects.map(({ key }) => key));
  await container.remove([markerKey(container.name)]);
  context.out(`\r${objects.length} objects deleted\nThe entire container has been deleted.\n`);
  return 0;
}

const badTime =
  "ERROR: Incorrect date/time or format.  Format is YYYY/MM/DD.HH:MI:SS[+/-]HHMM.\nFatal Error: Backup error\n";
const versionsPerDay = 86_400_000_000;

/** A moment given as a version, as a time, or as days before the end of the logs. */
interface Cut {
  readonly version: number;
  /** How the tool names it afterwards. */
  readonly words: string;
}

async function readCut(
  options: ToolOptions,
  names: { version: string; time: string; days: string },
  database: () => Promise<Database>,
): Promise<Cut | undefined> {
  const version = options.get(names.version);
  if (version !== undefined) return { version: Number(version), words: `version ${version}` };
  const time = options.get(names.time);
  if (time !== undefined) {
    const second = secondOfText(time);
    if (second === undefined) throw new ToolExit(1, badTime);
    const found = Math.floor(versionOfSecond(await database(), second));
    return { version: found, words: `version ${found}` };
  }
  const days = options.get(names.days);
  if (days === undefined) return undefined;
  const versions = Number(days) * versionsPerDay;
  return {
    version: -versions,
    words: `${versions} versions (${days} days) prior to latest backup log`,
  };
}

export async function expireBackup(context: ToolContext, options: ToolOptions): Promise<number> {
  const url = readUrl(context, options.get("--destcontainer"));
  const database = (): Promise<Database> => served(context, options.get("--cluster-file"));
  await context.life.sleep(commandMs);
  const before = await readCut(
    options,
    {
      version: "--expire-before-version",
      time: "--expire-before-timestamp",
      days: "--delete-before-days",
    },
    database,
  );
  const after = await readCut(
    options,
    {
      version: "--restorable-after-version",
      time: "--restorable-after-timestamp",
      days: "--min-restorable-days",
    },
    database,
  );
  if (before === undefined) {
    const help = tryHelp(context.spec.calledAs);
    throw new ToolExit(
      1,
      `ERROR: No version or date/time is specified.\n${help}Fatal Error: Backup error\n`,
    );
  }
  const container = await existing(containerOf(context, options, url));
  const objects = await container.objects();
  const expiry = planExpiry(container.name, objects, {
    beforeVersion: before.version,
    restorableAfter: after?.version,
    isForced: options.has("--force"),
    seesBehindGap: seesBehindGap(context.spec.version),
  });
  if (expiry.kind === "refused") {
    const words =
      "ERROR: Requested expiration would be unsafe.  Backup would not meet minimum restorability.  Use --force to delete data anyway.";
    throw new ToolExit(1, `${words}\nFatal Error: ${new ToolError(2316).message}\n`);
  }
  if (expiry.kind === "removal") {
    const end = String(expiry.expiredEnd);
    await container.put(propertyObject(container.name, "unreliable_end_version", end));
    await container.remove(expiry.keys);
    await container.put(propertyObject(container.name, "expired_end_version", end));
  }
  const stage = expiry.kind === "removal" ? "Final metadata update..." : "Describing backup...";
  context.out(`\r${stage}\nAll data before ${before.words} has been deleted.\n`);
  return 0;
}
