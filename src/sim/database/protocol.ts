// Protocol versions: processes and clients understand each other within one major.minor line.
// [FDB6]

/** "7.3.79" and "7.3.27" both give "7.3". */
export function protocolLine(version: string): string {
  const match = /(\d+)\.(\d+)\.\d+/.exec(version);
  return match ? `${match[1]}.${match[2]}` : version;
}

export function isProtocolCompatible(left: string, right: string): boolean {
  return left === right || protocolLine(left) === protocolLine(right);
}

/** As in status json, for example fdb00b073000000. */
export function protocolVersion(version: string): string {
  const [major = "0", minor = "0"] = protocolLine(version).split(".");
  return `fdb00b0${major}${minor}000000`;
}

/**
 * The oldest line whose files this version still shares its data with: the minor version before.
 */
export function lowestCompatibleProtocol(version: string): string {
  const [major = 0, minor = 0] = protocolLine(version).split(".").map(Number);
  return `fdb00b0${major}${Math.max(0, minor - 1)}000000`;
}

/** Negative when the first line is older. */
export function compareLines(left: string, right: string): number {
  const [leftMajor = 0, leftMinor = 0] = protocolLine(left).split(".").map(Number);
  const [rightMajor = 0, rightMinor = 0] = protocolLine(right).split(".").map(Number);
  return leftMajor - rightMajor || leftMinor - rightMinor;
}
