// The URLs under which the backup tools know a container: blobstore:// with account, host, name and parameters, and
// file:// with an absolute path. Refusals carry the tools' own words. Carries rule BSIM3.

export interface BlobUrl {
  readonly scheme: "blobstore";
  readonly text: string;
  /** Empty when the credentials file names it. */
  readonly key: string;
  /** Given in the URL itself; undefined when the credentials file has it. */
  readonly secret: string | undefined;
  readonly host: string;
  readonly port: number;
  /** Empty in a base URL. */
  readonly name: string;
  readonly bucket: string;
  readonly region: string;
  readonly isSecure: boolean;
  readonly parameters: readonly (readonly [string, string])[];
}

export interface FileUrl {
  readonly scheme: "file";
  readonly text: string;
  readonly path: string;
}

export type StoreUrl = BlobUrl | FileUrl;

/** Why a URL is refused; the reason is empty when the tools give none. */
export interface UrlProblem {
  readonly problem: string;
}

const knownParameters = new Set([
  ...["secure_connection", "sc", "connect_tries", "ct", "connect_timeout", "cto"],
  ...["max_connection_life", "mcl", "request_tries", "rt", "request_timeout_min", "rtom"],
  ...["request_timeout_secs", "rts", "requests_per_second", "rps", "list_requests_per_second"],
  ...["lrps", "write_requests_per_second", "wrps", "read_requests_per_second", "rrps"],
  ...["delete_requests_per_second", "drps", "concurrent_requests", "cr", "concurrent_uploads"],
  ...["cu", "concurrent_lists", "cl", "concurrent_reads_per_file", "crpf"],
  ...["concurrent_writes_per_file", "cwpf", "multipart_max_part_size", "maxps"],
  ...["multipart_min_part_size", "minps", "enable_read_cache", "erc", "read_block_size", "rbs"],
  ...["read_ahead_blocks", "rab", "read_cache_blocks_per_file", "rcb"],
  ...["max_send_bytes_per_second", "sbps", "max_recv_bytes_per_second", "rbps", "header"],
  ...["sdk_auth", "sa", "global_connection_pool", "gcp", "region", "bucket"],
  ...["max_delay_retryable_error", "dre", "max_delay_connection_failed", "dcf"],
  ...["concurrent_writes", "multipart_retry_delay_ms", "mrd", "enable_object_integrity_check"],
]);

const noRegion =
  "Failed to get region from host or parameter in url, region is required for aws v4 signature";

export function parseStoreUrl(text: string, isBase = false): StoreUrl | UrlProblem {
  if (text.startsWith("file://")) return parseFileUrl(text);
  if (text.startsWith("blobstore://")) return parseBlobUrl(text, isBase);
  return { problem: "invalid URL prefix" };
}

function parseFileUrl(text: string): FileUrl | UrlProblem {
  const path = text.slice("file://".length);
  if (path.startsWith("/")) return { scheme: "file", text, path: path.replace(/(.)\/+$/, "$1") };
  const problem = `Backup path '${path}' must be the absolute path '/${path}'`;
  return { problem };
}

function parseBlobUrl(text: string, isBase: boolean): BlobUrl | UrlProblem {
  const match = /^blobstore:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(text);
  if (match === null) return { problem: "" };
  const [, account = "", address = "", name = "", query = ""] = match;
  const parameters = parametersOf(query);
  if ("problem" in parameters) return parameters;
  const { pairs } = parameters;
  const value = (...names: readonly string[]): string | undefined =>
    pairs.find(([key]) => names.includes(key))?.[1];
  const isSecure = (value("sc", "secure_connection") ?? "1") !== "0";
  const { host, port } = splitAddress(address, isSecure);
  const region = value("region") ?? regionOfHost(host);
  if (region === undefined) return { problem: noRegion };
  const isGoodName = isBase ? true : /^[A-Za-z0-9_\-./]+$/.test(decoded(name));
  if (!isGoodName) return { problem: "" };
  const [key = "", ...secret] = account.split(":").map(decoded);
  return {
    scheme: "blobstore",
    ...{ text, key, host, port, region, isSecure, parameters: pairs },
    secret: secret.length === 0 ? undefined : secret.join(":"),
    name: decoded(name),
    bucket: value("bucket") ?? "FDB_BACKUPS",
  };
}

function parametersOf(query: string): { pairs: (readonly [string, string])[] } | UrlProblem {
  const pairs = query
    .split("&")
    .filter((part) => part !== "")
    .map((part): readonly [string, string] => {
      const [key = "", ...rest] = part.split("=");
      return [key, decoded(rest.join("="))];
    });
  const unknown = pairs.find(([key]) => !knownParameters.has(key));
  return unknown === undefined ? { pairs } : { problem: `Unknown URL parameter: '${unknown[0]}'` };
}

function splitAddress(address: string, isSecure: boolean): { host: string; port: number } {
  const match = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(address);
  return { host: match?.[1] ?? address, port: Number(match?.[2] ?? (isSecure ? 443 : 80)) };
}

/** s3.us-west-2.amazonaws.com tells its region itself. */
function regionOfHost(host: string): string | undefined {
  return /(?:^|\.)s3[.-]([a-z0-9-]+)\.amazonaws\.com$/.exec(host)?.[1];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone percent sign stands for itself.
    return text;
  }
}
