// Where a backup lies, as the URL that FoundationDB's tools take. The text equals the one that the Go operator makes, since
// it is compared with what the database has stored. Carries the rules BK1 and BK2 of spec/backup.md.
import type { BlobStoreConfiguration } from "../api/blob-store.ts";

const standardBucket = "fdb-backups";

interface NamedStore {
  readonly metadata: { readonly name?: string | undefined };
  readonly spec: { readonly blobStoreConfiguration?: BlobStoreConfiguration | undefined };
}

/** Undefined when the account names no host: validation has told so. It may hold a secret: see `maskedUrl`. */
export function backupUrl({ metadata, spec }: NamedStore): string | undefined {
  const store = spec.blobStoreConfiguration;
  if (store === undefined) return undefined;
  const at = store.accountName.indexOf("@");
  if (at < 0) return undefined;
  const parameters = new Map([["bucket", store.bucket || standardBucket]]);
  let port = "443";
  for (const parameter of store.urlParameters ?? []) {
    const [name = "", value] = parameter.split("=");
    if (value === undefined) continue;
    parameters.set(name, value);
    if ((name === "sc" || name === "secure_connection") && value === "0") port = "80";
  }
  const host = store.accountName.slice(at + 1);
  const path = escaped(store.backupName || (metadata.name ?? ""), "path");
  const query = [...parameters].sort(byName).map((pair) => pair.map(queryText).join("="));
  return [
    "blobstore://",
    userText(store.accountName.slice(0, at)),
    "@",
    escaped(hasPort(host) ? host : `${host}:${port}`, "host"),
    path === "" || path.startsWith("/") ? path : `/${path}`,
    `?${query.join("&")}`,
  ].join("");
}

/** The destination of one run of a schedule. */
export function runUrl({ metadata, spec }: NamedStore, backupName: string): string {
  const store = spec.blobStoreConfiguration;
  if (store === undefined) return "";
  return backupUrl({ metadata, spec: { blobStoreConfiguration: { ...store, backupName } } }) ?? "";
}

/** Host, bucket and name; the account and other parameters make no other place. */
export function placeOfUrl(url: string): string {
  const match = /^blobstore:\/\/[^@]*@([^/?]*)(\/[^?]*)?\?(.*)$/.exec(url);
  const [, host = "", name = "", query = ""] = match ?? [];
  const parameters = new URLSearchParams(query);
  const isPlain = (parameters.get("sc") ?? parameters.get("secure_connection")) === "0";
  const address = /:\d+$/.test(host) ? host : `${host}:${isPlain ? 80 : 443}`;
  return [address, parameters.get("bucket") ?? "", name].join(" ");
}

/** Whether another place goes along when the tools delete one: `a/b` goes with `a`, and so do `a` and `a/` with each other. */
export function isBelow(place: string, outer: string): boolean {
  return place !== outer && `${place}/`.startsWith(`${outer.replace(/\/+$/, "")}/`);
}

/** The same URL for the eyes of people: what follows the key of the account is left out. */
export function maskedUrl(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/?]*):[^@/]*@/, "$1:***@");
}

/** A text that may quote a URL, such as the output of a tool. */
export function withoutSecrets(text: string): string {
  return text.replaceAll(/(\w+:\/\/[^:@/?\s]*):[^@/\s]*@/g, "$1:***@");
}

/** Whether the account holds more than a key. */
export function hasSecret(store: BlobStoreConfiguration | undefined): boolean {
  const account = store?.accountName.split("@")[0] ?? "";
  return account.includes(":");
}

function byName([left]: readonly [string, string], [right]: readonly [string, string]): number {
  const [first, second] = [Buffer.from(left), Buffer.from(right)];
  return Buffer.compare(first, second);
}

/** The key and, after the first colon, all the rest. */
function userText(account: string): string {
  const colon = account.indexOf(":");
  if (colon < 0) return escaped(account, "user");
  return `${escaped(account.slice(0, colon), "user")}:${escaped(account.slice(colon + 1), "user")}`;
}

/** A port is made of digits after the last colon; the colons of an IPv6 address end in a bracket. */
function hasPort(host: string): boolean {
  return /:\d+$/.test(host);
}

function queryText(text: string): string {
  return escaped(text, "query").replaceAll("%20", "+");
}

/** Besides letters, digits and -_.~, which are never escaped. */
const plainLetters = {
  user: "$&+,;=",
  host: "!$&'()*+,;=:[]<>\"",
  path: "$&+,/:;=@",
  query: "",
} as const;

function escaped(text: string, part: keyof typeof plainLetters): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      const isPlain = /[A-Za-z0-9\-_.~]/.test(letter) || plainLetters[part].includes(letter);
      return isPlain ? letter : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}
