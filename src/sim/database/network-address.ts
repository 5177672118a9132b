// Network addresses and connection strings as fdbserver and its clients read them: ip:port,
// [ipv6]:port, a host name with a port, each with an optional :tls suffix. [FDB2]
import { isIP } from "node:net";

export interface NetworkAddress {
  /** An IP address without brackets, or a host name. */
  host: string;
  port: number;
  useTls: boolean;
  isHostName: boolean;
}

const pattern = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s,@]+)):(\d{1,5})(:tls)?$/;

export function parseNetworkAddress(text: string): NetworkAddress | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [, bracketed, plain, portText, tls] = match;
  const port = Number(portText);
  if (port < 1 || port > 65535) return undefined;
  if (bracketed !== undefined && isIP(bracketed) === 0) return undefined;
  const host = bracketed ?? plain ?? "";
  const isHostName = isIP(host) === 0;
  if (isHostName && !isValidHostName(host)) return undefined;
  return { host, port, useTls: tls !== undefined, isHostName };
}

/** A host name needs a letter: digits and dots alone are a mistyped IP address. */
function isValidHostName(host: string): boolean {
  return /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(host) && /[A-Za-z]/.test(host);
}

/** ip:port or [ip]:port without the TLS suffix: the key of a listening process. */
export function endpoint(address: Pick<NetworkAddress, "host" | "port">): string {
  return address.host.includes(":")
    ? `[${address.host}]:${address.port}`
    : `${address.host}:${address.port}`;
}

export function formatAddress(address: NetworkAddress): string {
  return endpoint(address) + (address.useTls ? ":tls" : "");
}

export interface ConnectionString {
  description: string;
  id: string;
  coordinators: readonly NetworkAddress[];
}

export function parseConnectionString(text: string): ConnectionString | undefined {
  const line = text
    .split("\n")
    .map((candidate) => candidate.trim())
    .find((candidate) => candidate !== "" && !candidate.startsWith("#"));
  const match = /^([A-Za-z0-9_]+):([A-Za-z0-9]+)@(\S+)$/.exec(line ?? "");
  if (!match) return undefined;
  const [, description = "", id = "", list = ""] = match;
  const texts = list.split(",");
  const coordinators = texts.map(parseNetworkAddress).filter((address) => address !== undefined);
  if (coordinators.length !== texts.length) return undefined;
  return { description, id, coordinators };
}

export function formatConnectionString(connection: ConnectionString): string {
  const list = connection.coordinators.map(formatAddress).join(",");
  return `${connection.description}:${connection.id}@${list}`;
}

/** A cluster file as a server writes it. */
export function clusterFileText(connection: ConnectionString): string {
  const comments =
    "# DO NOT EDIT!\n# This file is auto-generated, it is not to be edited by hand\n";
  return `${comments}${formatConnectionString(connection)}\n`;
}

/** What the coordinators file their state under; it changes with every change of coordinators. */
export function clusterKey(connection: ConnectionString): string {
  return `${connection.description}:${connection.id}`;
}
