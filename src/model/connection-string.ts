// The contents of a cluster file: `<description>:<generation>@<coordinator>[,<coordinator>…]`.
// Carries the rules M19 to M21 of spec/model.md.
import { formatAddress, parseAddress } from "./address.ts";
import { parsed, unparsed } from "./parsed.ts";
import type { Parsed } from "./parsed.ts";

export interface ConnectionString {
  description: string;
  generationId: string;
  coordinators: readonly string[];
}

/** A new generation id has this many letters and digits. */
export const generationIdLength = 32;

/** What a cluster file says: servers write comments above it, and people paste it as it is. */
export function connectionStringIn(clusterFile: string): string {
  return clusterFile.replace(/#[^\r\n]*/g, "").trim();
}

/** Also of the text of a cluster file. */
export function parseConnectionString(given: string): Parsed<ConnectionString> {
  const text = connectionStringIn(given);
  const colon = text.indexOf(":");
  if (colon < 0) return unparsed(`"${text}" is not a connection string: it has no ":"`);
  const description = text.slice(0, colon);
  if (!/^[a-zA-Z0-9_]+$/.test(description)) {
    return unparsed(`"${description}" may hold only letters, digits and "_"`);
  }
  const at = text.indexOf("@", colon);
  if (at < 0) return unparsed(`"${text}" is not a connection string: it has no "@"`);
  const generationId = text.slice(colon + 1, at);
  if (!/^[a-zA-Z0-9]+$/.test(generationId)) {
    return unparsed(`the generation id "${generationId}" may hold only letters and digits`);
  }
  const coordinators: string[] = [];
  for (const coordinator of text.slice(at + 1).split(",")) {
    const address = parseAddress(coordinator);
    if (!address.ok) return address;
    coordinators.push(formatAddress(address.value));
  }
  return parsed({ description, generationId, coordinators });
}

export function formatConnectionString(connection: ConnectionString): string {
  const { description, generationId, coordinators } = connection;
  return `${description}:${generationId}@${coordinators.join(",")}`;
}

/** The description of a new database when its resource gives none. */
export function defaultDescription(clusterName: string): string {
  return clusterName.replaceAll("-", "_");
}

/** The coordinators that a connection string names; none when it cannot be read. */
export function coordinatorsOf(text: string): readonly string[] {
  const connection = parseConnectionString(text);
  return connection.ok ? connection.value.coordinators : [];
}

/** Whether two connection strings may lead to one database: a change of coordinators reaches some of them earlier. */
export function isSameDatabase(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  // Where there are many databases nearly all differ here, and each is compared with all others.
  if (!haveSameDescription(left, right)) return false;
  const [one, other] = [parseConnectionString(left), parseConnectionString(right)];
  if (!one.ok || !other.ok) return false;
  const known = new Set(one.value.coordinators);
  return other.value.coordinators.some((coordinator) => known.has(coordinator));
}

/** No change of coordinators changes it, but other databases may have the same. */
export function haveSameDescription(left: string, right: string): boolean {
  return descriptionText(left) === descriptionText(right);
}

function descriptionText(given: string): string {
  const text = connectionStringIn(given);
  return text.slice(0, text.indexOf(":"));
}
