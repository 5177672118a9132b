// IP addresses in their canonical text form, the one in which Go and FoundationDB print them: lower case,
// the longest run of zero groups shortened, an IPv4 address inside IPv6 printed as IPv4.

/** The canonical text of an IPv4 or IPv6 address, or undefined for any other text. */
export function canonicalIp(text: string): string | undefined {
  const colon = text.indexOf(":");
  if (colon < 0) return parseIpv4(text) ? text : undefined;
  // Most texts that come here are an address or a name with a port: one colon, or dots before it.
  if (!text.includes(":", colon + 1) || text.lastIndexOf(".", colon) >= 0) return undefined;
  const groups = parseIpv6(text);
  return groups && formatIpv6(groups);
}

export function isIpv6(text: string): boolean {
  return text.includes(":") && canonicalIp(text)?.includes(":") === true;
}

/** Of an address; a service leads to addresses of its own family. */
export function familyOfIp(ip: string): 4 | 6 {
  return isIpv6(ip) ? 6 : 4;
}

export function isIpv4(text: string): boolean {
  const canonical = canonicalIp(text);
  return canonical !== undefined && !canonical.includes(":");
}

/** Character by character: addresses are looked at in every step for every process. */
function parseIpv4(text: string): number[] | undefined {
  const bytes: number[] = [];
  let value = -1;
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : dot;
    if (code === dot) {
      if (value < 0 || value > 255 || bytes.length === 4) return undefined;
      bytes.push(value);
      value = -1;
      continue;
    }
    // A leading zero could mean octal digits: nobody writes addresses so.
    if (code < zero || code > nine || value === 0 || value > 255) return undefined;
    value = Math.max(value, 0) * 10 + code - zero;
  }
  return bytes.length === 4 ? bytes : undefined;
}

const dot = 46;
const zero = 48;
const nine = 57;

function parseGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.includes(".")) {
      const bytes = index === parts.length - 1 ? parseIpv4(part) : undefined;
      if (!bytes) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = bytes;
      groups.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return undefined;
    }
  }
  return groups;
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? "");
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? "") : [];
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1) return missing === 0 ? head : undefined;
  // The head of a shortened address holds no dotted part: that would stand in its middle.
  if (missing < 1 || (halves[0] ?? "").includes(".")) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

function formatIpv6(groups: readonly number[]): string {
  const [, , , , , sixth = 0, seventh = 0, eighth = 0] = groups;
  if (groups.slice(0, 5).every((group) => group === 0) && sixth === 0xffff) {
    return [seventh >> 8, seventh & 255, eighth >> 8, eighth & 255].join(".");
  }
  const run = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (run.length < 2) return hex.join(":");
  return `${hex.slice(0, run.start).join(":")}::${hex.slice(run.start + run.length).join(":")}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
