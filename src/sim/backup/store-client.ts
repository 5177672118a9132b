// How a tool reaches a container: it finds the account's secret in its files, signs its requests, waits, tries again, and
// gives up with the words of the real tools. Without a secret it waits for ever, without a word. Carries rules BSIM2 and BSIM3.
import type { ContainerFiles } from "../../pod/process-runtime.ts";
import { dataPrefix, markerKey } from "./container-objects.ts";
import type { StoredObject } from "./container-objects.ts";
import { volumeBucket } from "./object-store.ts";
import type { ObjectStore, ObjectStores } from "./object-store.ts";
import type { StoreUrl } from "./store-url.ts";
import { ToolError } from "./tool-error.ts";
import type { ToolLife } from "./tool-life.ts";

export interface StoreClientParts {
  readonly stores: ObjectStores;
  readonly files: ContainerFiles;
  /** Paths of credentials files. */
  readonly credentials: readonly string[];
  readonly life: ToolLife;
}

export interface Container {
  /** As it is written into object keys. */
  readonly name: string;
  exists(): Promise<boolean>;
  bucketExists(): Promise<boolean>;
  /** Everything of the container but its marker. */
  objects(): Promise<StoredObject[]>;
  put(object: StoredObject): Promise<void>;
  remove(keys: readonly string[]): Promise<void>;
  /** Names of all containers in the same bucket that begin so. */
  names(prefix: string): Promise<string[]>;
}

const requestMs = 20;
const bytesPerMs = 50_000;
/** How long the tools go on trying when nobody answers or the store fails. */
const triesMs = 74_400;

export function openContainer(parts: StoreClientParts, url: StoreUrl): Container {
  const { bucket, name, store } = placeOf(parts, url);
  const request = async <T>(
    act: (objects: Map<string, StoredObject> | undefined, store: ObjectStore) => T,
    bytes = 0,
  ): Promise<T> => {
    const found = await reach(parts, url, store, bytes);
    return act(found.bucket(bucket), found);
  };
  return {
    name,
    bucketExists: () => request((objects) => objects !== undefined),
    exists: () => request((objects) => objects?.has(markerKey(name)) ?? false),
    objects: () => request((_objects, found) => found.list(bucket, dataPrefix(name))),
    put: (object) =>
      request((objects, found) => {
        if (objects === undefined || found.trouble.isFull) throw new ToolError(1523);
        objects.set(object.key, object);
      }, object.bytes),
    remove: (keys) =>
      request((objects) => {
        for (const key of keys) objects?.delete(key);
      }),
    names: (prefix) =>
      request((objects, found) => {
        if (objects === undefined) throw new ToolError(1523);
        const start = markerKey(prefix);
        return found.list(bucket, start).map(({ key }) => key.slice(markerKey("").length));
      }),
  };
}

interface Place {
  readonly bucket: string;
  readonly name: string;
  readonly store: () => ObjectStore | undefined;
}

function placeOf({ files, stores }: StoreClientParts, url: StoreUrl): Place {
  if (url.scheme === "blobstore") {
    const address = `${url.host}:${url.port}`;
    return { bucket: url.bucket, name: url.name, store: () => stores.at(address) };
  }
  const located = files.locate(url.path);
  return {
    bucket: volumeBucket,
    name: located?.path ?? url.path,
    store: () => located && stores.onVolume(located.volumeId),
  };
}

/** Resolves with the store once it has answered a request that it accepts. */
async function reach(
  parts: StoreClientParts,
  url: StoreUrl,
  find: () => ObjectStore | undefined,
  bytes: number,
): Promise<ObjectStore> {
  const { life } = parts;
  if (url.scheme === "file") {
    await life.sleep(1);
    const store = find();
    if (store === undefined) throw new ToolError(1511);
    return store;
  }
  const account = findAccount(parts, url.key, url.secret, url.host);
  if (account === undefined) return life.hang();
  const startedMs = life.clock.nowMs();
  for (;;) {
    const store = find();
    const isThere =
      store !== undefined && !store.trouble.isUnreachable && store.isSecure === url.isSecure;
    if (isThere && !store.trouble.isHanging) {
      await life.sleep(requestMs + Math.ceil(bytes / bytesPerMs) + store.trouble.extraLatencyMs);
      if (!store.trouble.isFailing && !store.trouble.isUnreachable)
        return signed(store, url.region, account);
    }
    // A store that takes the request and never answers holds the tool until it does.
    if (isThere && store.trouble.isHanging) {
      await life.sleep(1_000);
      continue;
    }
    if (life.clock.nowMs() - startedMs >= triesMs) throw new ToolError(isThere ? 1523 : 1026);
    await life.sleep(1_000);
  }
}

interface Account {
  readonly key: string;
  readonly secret: string;
}

function signed(store: ObjectStore, region: string, account: Account): ObjectStore {
  const isRegionRight = store.region === undefined || store.region === region;
  const isSecretRight = store.accounts.get(account.key) === account.secret;
  if (!isRegionRight || !isSecretRight || store.trouble.isSkewed) throw new ToolError(1523);
  return store;
}

/** The first file that knows KEY@HOST, or @HOST for a URL without a key. The host is written without its port. */
function findAccount(
  { files, credentials }: StoreClientParts,
  key: string,
  secret: string | undefined,
  host: string,
): Account | undefined {
  if (secret !== undefined) return { key, secret };
  for (const path of credentials) {
    const entry = accountsOf(files.read(path))[`${key}@${host}`];
    if (entry?.secret === undefined) continue;
    return { key: entry.api_key ?? key, secret: entry.secret };
  }
  return undefined;
}

type Accounts = Record<string, { secret?: string; api_key?: string } | undefined>;

/** Empty for a file that is missing or no JSON, as for one without accounts. */
function accountsOf(text: string | undefined): Accounts {
  try {
    const parsed = JSON.parse(text ?? "{}") as { accounts?: Accounts };
    return parsed.accounts ?? {};
  } catch {
    // The real tools pass over such a file without a word.
    return {};
  }
}
