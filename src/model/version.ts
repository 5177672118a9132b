// FoundationDB versions: reading, order, protocol compatibility, and which version can do what.
// Carries the rules M1 to M6 and M66 of spec/model.md.

export interface Version {
  major: number;
  minor: number;
  patch: number;
  /** Zero for a release. */
  releaseCandidate: number;
}

const pattern = /(\d+)\.(\d+)\.(\d+)(?:-rc(\d+))?/;

/** The first version found anywhere in the text, or undefined. */
export function parseVersion(text: string): Version | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  return {
    major: Number(match[1]),
    minor: Number(match[2]),
    patch: Number(match[3]),
    releaseCandidate: Number(match[4] ?? 0),
  };
}

export function formatVersion(version: Version): string {
  const { major, minor, patch, releaseCandidate } = version;
  const suffix = releaseCandidate > 0 ? `-rc${releaseCandidate}` : "";
  return `${major}.${minor}.${patch}${suffix}`;
}

/** Negative when `a` is older. A release is newer than its own release candidates. */
export function compareVersions(a: Version, b: Version): number {
  const stage = (version: Version): number => version.releaseCandidate || Infinity;
  const byNumber = a.major - b.major || a.minor - b.minor || a.patch - b.patch;
  if (byNumber !== 0) return byNumber;
  return stage(a) === stage(b) ? 0 : stage(a) - stage(b);
}

function isAtLeast(version: Version, major: number, minor: number, patch: number): boolean {
  return compareVersions(version, { major, minor, patch, releaseCandidate: 0 }) >= 0;
}

/** Processes of both versions can talk to each other, so a cluster may hold both at once. */
export function isProtocolCompatible(a: Version, b: Version): boolean {
  return a.major === b.major && a.minor === b.minor && a.releaseCandidate === b.releaseCandidate;
}

/** The first of each protocol. */
export function oneOfEachProtocol(versions: readonly Version[]): Version[] {
  const chosen: Version[] = [];
  for (const version of versions) {
    if (!chosen.some((one) => isProtocolCompatible(one, version))) chosen.push(version);
  }
  return chosen;
}

/** A running cluster may move within its protocol in both directions, and otherwise only forward. */
export function isVersionChangeAllowed(running: Version, target: Version): boolean {
  return isProtocolCompatible(running, target) || compareVersions(target, running) >= 0;
}

/** The oldest version this operator runs; its release candidates are older still. */
export const minimumVersion: Version = { major: 7, minor: 1, patch: 0, releaseCandidate: 0 };

export function isSupported(version: Version): boolean {
  return compareVersions(version, minimumVersion) >= 0;
}

type Line = Pick<Version, "major" | "minor">;

/** FoundationDB can go back by one line: a server does not start on files of any later one. */
export function canReadFilesOf(version: Line, writer: Line): boolean {
  return writer.major === version.major && writer.minor - version.minor <= 1;
}

/** The line of versions that speaks a protocol as the status writes it: 0fdb00b074000000 is that of 7.4. */
export function lineOfProtocol(text: string): Line | undefined {
  const [, major, minor] = /^0*fdb00b0([0-9a-f])([0-9a-f])[0-9a-f]{6}$/i.exec(text) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { major: parseInt(major, 16), minor: parseInt(minor, 16) };
}

/** The newest line of versions that this operator was made for. */
export const newestKnownLine = { major: 7, minor: 4 } as const;

export function isKnownLine({ major, minor }: Version): boolean {
  return (
    major < newestKnownLine.major ||
    (major === newestKnownLine.major && minor <= newestKnownLine.minor)
  );
}

/** The status says how long ago the last recovery was. */
export function hasRecoveryState(version: Version): boolean {
  return isAtLeast(version, 7, 1, 22);
}

function isLine(version: Version, major: number, minor: number): boolean {
  return version.major === major && version.minor === minor;
}

export function hasLocalityExclusions(version: Version): boolean {
  if (isLine(version, 7, 1)) return isAtLeast(version, 7, 1, 42);
  return isAtLeast(version, 7, 3, 26);
}

/** The database itself forgets dead tester processes. */
export function hasTesterCleanup(version: Version): boolean {
  if (isLine(version, 7, 3)) return isAtLeast(version, 7, 3, 35);
  return isAtLeast(version, 7, 1, 55);
}

/** The status says of each storage server which engine it runs. */
export function tellsStorageEngines(version: Version): boolean {
  return isAtLeast(version, 7, 3, 0);
}

/** `fdbbackup start` takes `--mutation-log-type` instead of the older single flag. */
export function hasMutationLogType(version: Version): boolean {
  return isAtLeast(version, 7, 4, 7);
}

/** Engines that no rule names exist in every supported version. */
export function supportsStorageEngine(version: Version, engine: string): boolean {
  if (engine === "ssd-sharded-rocksdb") return isAtLeast(version, 7, 2, 0);
  if (engine === "ssd-redwood-1") return isAtLeast(version, 7, 3, 0);
  return true;
}
