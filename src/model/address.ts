// Addresses of FoundationDB processes: an IP address or a DNS name, a port, flags such as `tls`, and the
// mark that the database puts behind an address that it found through a host name.
// Carries the rules M14 to M18 of spec/model.md.
import { canonicalIp } from "./ip-address.ts";
import { parsed, unparsed } from "./parsed.ts";
import type { Parsed } from "./parsed.ts";

export interface ProcessAddress {
  /** A canonical IP address without brackets, a DNS name, or a variable that stands for one. */
  host: string;
  /** Zero when the address names a machine and not a process. */
  port: number;
  /** Sorted and without repetition. */
  flags: readonly string[];
  fromHostname: boolean;
}

const hostnameMark = "(fromHostname)";

export function parseAddress(text: string): Parsed<ProcessAddress> {
  if (text === "") return unparsed("an address must not be empty");
  const end = endOfPlainIp(text);
  if (end > 0) return parsed(plainAddress(text, end));
  const fromHostname = text.endsWith(hostnameMark);
  const body = fromHostname ? text.slice(0, -hostnameMark.length) : text;
  const whole = canonicalIp(body);
  if (whole !== undefined) return parsed({ host: whole, port: 0, flags: [], fromHostname });

  const isBracketed = body.startsWith("[");
  const close = isBracketed ? body.indexOf("]") : endOf(body, body.indexOf(":"));
  const name = body.slice(isBracketed ? 1 : 0, close);
  const rest = body.slice(isBracketed ? close + 1 : close);
  const isMisplaced = !isBracketed && (name.includes("[") || name.includes("]"));
  if (close < 0 || (rest !== "" && !rest.startsWith(":")) || isMisplaced) {
    return unparsed(`"${text}" is not an address: an IPv6 address needs brackets`);
  }
  if (name === "") return unparsed(`"${text}" is not an address: it names no host`);
  const host = canonicalIp(name) ?? name;
  if (rest === "") return parsed({ host, port: 0, flags: [], fromHostname });

  const [port = "", ...flags] = rest.slice(1).split(":");
  const number = portNumber(port);
  if (number === undefined) {
    return unparsed(`"${text}" is not an address: "${port}" is not a port`);
  }
  if (flags.some((flag) => /\s/.test(flag))) {
    return unparsed(`"${text}" is not an address: a flag has no spaces`);
  }
  return parsed({ host, port: number, flags: sortedFlags(flags), fromHostname });
}

/** What `endOfPlainIp` recognises needs no closer look. */
function plainAddress(text: string, end: number): ProcessAddress {
  const isTlsAddress = text.endsWith(":tls");
  const host = text.slice(0, end);
  const port = Number(text.slice(end + 1, isTlsAddress ? -4 : text.length));
  return { host, port, flags: isTlsAddress ? ["tls"] : [], fromHostname: false };
}

function portNumber(text: string): number | undefined {
  if (!/^\d+$/.test(text)) return undefined;
  const number = Number(text);
  return number > 65_535 ? undefined : number;
}

function endOf(body: string, colon: number): number {
  return colon < 0 ? body.length : colon;
}

function sortedFlags(flags: readonly string[]): readonly string[] {
  return flags.length < 2 ? flags : [...new Set(flags)].toSorted();
}

export function formatAddress(address: ProcessAddress): string {
  if (address.port === 0) return address.host;
  const mark = address.fromHostname ? hostnameMark : "";
  return [withoutFlags(address), ...address.flags].join(":") + mark;
}

/** Host and port, as `kill` wants them. */
export function withoutFlags(address: ProcessAddress): string {
  return address.port === 0 ? address.host : joinHostPort(address.host, address.port);
}

/** The host of an address without port and brackets; the text itself when it cannot be read. */
export function hostOf(text: string): string {
  const end = endOfPlainIp(text);
  if (end > 0) return text.slice(0, end);
  const address = parseAddress(text);
  return address.ok ? address.value.host : text;
}

const [dot, colon, zero, nine] = [46, 58, 48, 57];

/**
 * Where the host ends in an IPv4 address, alone or with a port of up to four digits and perhaps the flag of TLS; 0 for any other
 * text. Character by character: hosts are compared in every step for every process, and nearly all look like this.
 */
function endOfPlainIp(text: string): number {
  let [index, dots, value] = [0, 0, -1];
  for (; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === colon) break;
    if (code === dot) {
      if (value < 0) return 0;
      dots += 1;
      value = -1;
      continue;
    }
    if (code < zero || code > nine || value === 0) return 0;
    value = Math.max(value, 0) * 10 + code - zero;
    if (value > 255) return 0;
  }
  if (dots !== 3 || value < 0) return 0;
  return index === text.length || isPlainPort(text, index + 1) ? index : 0;
}

function isPlainPort(text: string, from: number): boolean {
  let index = from;
  while (text.charCodeAt(index) >= zero && text.charCodeAt(index) <= nine) index += 1;
  if (index === from || index > from + 4) return false;
  return index === text.length || (text.endsWith(":tls") && index === text.length - 4);
}

export function isTls(address: ProcessAddress): boolean {
  return address.flags.includes("tls");
}

export function isIpAddress(address: ProcessAddress): boolean {
  return canonicalIp(address.host) !== undefined;
}

/** Whether the text is an address with an IP. A name has none, nor has what cannot be read. */
export function hasIp(text: string): boolean {
  return canonicalIp(hostOf(text)) !== undefined;
}

function joinHostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The port on which the n-th process of a pod listens, counted from one. */
export function processPort(processNumber: number, tls: boolean): number {
  return (tls ? 4498 : 4499) + 2 * processNumber;
}

/** The number of the process that listens on a port, with TLS or without; of no process where it is none. */
export function processNumberAt(port: number): number {
  return Math.floor((port - 4498) / 2);
}

/** Which kinds of listener a process must have; both while a cluster changes from one to the other. */
export interface RequiredAddresses {
  tls?: boolean | undefined;
  nonTLS?: boolean | undefined;
}

/** The addresses of a process on one host, the TLS one (the primary) first. */
export function addressesOf(
  host: string,
  processNumber: number,
  required: RequiredAddresses,
): ProcessAddress[] {
  const bare = host.replace(/^\[/, "").replace(/\]$/, "");
  const addresses: ProcessAddress[] = [];
  for (const tls of [true, false]) {
    if (!(tls ? required.tls : required.nonTLS)) continue;
    const port = processPort(processNumber, tls);
    addresses.push({ host: bare, port, flags: tls ? ["tls"] : [], fromHostname: false });
  }
  return addresses;
}

/** The addresses that a command line announces; an error when it announces none. */
export function addressesInCommandLine(commandLine: string): Parsed<ProcessAddress[]> {
  const match = /--public_address=(\S+)/.exec(commandLine);
  if (!match) return unparsed("the command line has no --public_address");
  const addresses: ProcessAddress[] = [];
  for (const text of (match[1] ?? "").split(",")) {
    const address = parseAddress(text);
    if (!address.ok) return address;
    addresses.push(address.value);
  }
  return parsed(addresses);
}
