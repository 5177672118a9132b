// What `fdbbackup expire` removes from a container, and when it refuses: there must be a restorable snapshot that begins
// at or after the cut and ends at or before the version that must stay restorable. The cut moves back to the beginning
// of the log that it lies in, so that what is kept stays without a gap. Pure. Carries rule BSIM6.
import type { ContainerContent, StoredObject } from "./container-objects.ts";
import { readContent } from "./container-objects.ts";
import { describe } from "./describe.ts";

export interface ExpireRequest {
  /** Everything before this version is to go; negative counts from the end of the logs. */
  readonly beforeVersion: number;
  /** The oldest version that must stay restorable; negative counts from the end of the logs. */
  readonly restorableAfter: number | undefined;
  readonly isForced: boolean;
  /** See DescribeOptions. */
  readonly seesBehindGap?: boolean;
}

export type Expiry =
  | { readonly kind: "refused" }
  /** All of it is gone already. */
  | { readonly kind: "nothing" }
  | { readonly kind: "removal"; readonly keys: readonly string[]; readonly expiredEnd: number };

export function planExpiry(
  name: string,
  objects: readonly StoredObject[],
  request: ExpireRequest,
): Expiry {
  const content = readContent(name, objects);
  const { seesBehindGap = false } = request;
  const before = describe(content, { seesBehindGap });
  const absolute = (version: number): number =>
    version < 0 ? version + (before.maxLogEnd ?? 0) : version;
  const cut = absolute(request.beforeVersion);
  if (cut <= (before.expiredEnd ?? 0)) return { kind: "nothing" };
  const restorableAfter = absolute(request.restorableAfter ?? Number.MAX_SAFE_INTEGER);
  const isSafe = describe(content, { logBegin: cut, seesBehindGap }).snapshots.some(
    ({ isRestorable, file }) =>
      isRestorable && file.beginVersion >= cut && file.endVersion <= restorableAfter,
  );
  if (!isSafe && !request.isForced) return { kind: "refused" };
  const expiredEnd = cutBetweenLogs(content, cut);
  return { kind: "removal", expiredEnd, keys: keysBefore(objects, expiredEnd) };
}

function cutBetweenLogs(content: ContainerContent, cut: number): number {
  const log = content.logs.find(
    ({ beginVersion, endVersion }) => beginVersion < cut && cut < endVersion,
  );
  return log?.beginVersion ?? cut;
}

function keysBefore(objects: readonly StoredObject[], version: number): string[] {
  return objects
    .filter(({ content }) => {
      if (content.kind === "range") return content.version < version;
      if (content.kind === "property") return false;
      return content.kind === "log" ? content.endVersion <= version : content.endVersion < version;
    })
    .map(({ key }) => key);
}
