// The configuration of a database: reading the words after `configure`, and how the result appears
// in status. [FDB22]
import type { StatusRegion } from "../../model/database-status.ts";
import { redundancyModes, satelliteModes } from "./redundancy-policy.ts";

export interface Configuration {
  redundancyMode: string;
  storageEngine: string;
  usableRegions: number;
  regions: readonly StatusRegion[];
  /** -1 means automatic, as the words of `configure` do. */
  logs: number;
  commitProxies: number;
  grvProxies: number;
  resolvers: number;
  logRouters: number;
  remoteLogs: number;
  storageMigrationType: string;
  perpetualStorageWiggle: number;
  perpetualStorageWiggleLocality: string;
  perpetualStorageWiggleEngine: string;
  tenantMode: string;
  logSpill: number;
  logVersion: number;
  blobGranulesEnabled: number;
  encryptionAtRestMode: string;
}

export const defaultConfiguration: Configuration = {
  redundancyMode: "",
  storageEngine: "",
  usableRegions: 1,
  regions: [],
  logs: -1,
  commitProxies: -1,
  grvProxies: -1,
  resolvers: -1,
  logRouters: -1,
  remoteLogs: -1,
  storageMigrationType: "disabled",
  perpetualStorageWiggle: 0,
  perpetualStorageWiggleLocality: "0",
  perpetualStorageWiggleEngine: "none",
  tenantMode: "disabled",
  logSpill: 2,
  logVersion: 0,
  blobGranulesEnabled: 0,
  encryptionAtRestMode: "disabled",
};

/** Engines by the words that name them. */
const engines: Readonly<Record<string, string>> = {
  ssd: "ssd-2",
  "ssd-1": "ssd-1",
  "ssd-2": "ssd-2",
  memory: "memory-2",
  "memory-1": "memory-1",
  "memory-2": "memory-2",
  "memory-radixtree": "memory-radixtree",
  "memory-radixtree-beta": "memory-radixtree",
  "ssd-redwood-1": "ssd-redwood-1",
  "ssd-redwood-1-experimental": "ssd-redwood-1",
  "ssd-rocksdb-v1": "ssd-rocksdb-v1",
  "ssd-sharded-rocksdb": "ssd-sharded-rocksdb",
};

export interface ConfigureRequest {
  isNew: boolean;
  isForced: boolean;
  changes: Partial<Configuration>;
}

/** The words after `configure`, or undefined when fdbcli would print its usage text. */
export function parseConfigure(text: string): ConfigureRequest | undefined {
  const words = splitWords(text);
  if (!words || words.length === 0) return undefined;
  const request: ConfigureRequest = { isNew: false, isForced: false, changes: {} };
  for (const [index, word] of words.entries()) {
    if (index === 0 && word === "FORCE") request.isForced = true;
    else if (word === "new" && request.changes.redundancyMode === undefined) request.isNew = true;
    else if (!applyWord(word, request.changes)) return undefined;
  }
  return request;
}

function applyWord(word: string, changes: Partial<Configuration>): boolean {
  if (redundancyModes[word]) {
    if (changes.redundancyMode !== undefined) return false;
    changes.redundancyMode = word;
    return true;
  }
  const engine = engines[word];
  if (engine !== undefined) {
    if (changes.storageEngine !== undefined) return false;
    changes.storageEngine = engine;
    return true;
  }
  const assignment = /^([a-z_]+)(:?=)(.*)$/s.exec(word);
  if (!assignment) return false;
  const [, key = "", , value = ""] = assignment;
  return applyNumber(key, value, changes) || applyText(key, value, changes);
}

const numbers: Readonly<Record<string, keyof Configuration>> = {
  logs: "logs",
  commit_proxies: "commitProxies",
  grv_proxies: "grvProxies",
  resolvers: "resolvers",
  log_routers: "logRouters",
  remote_logs: "remoteLogs",
  usable_regions: "usableRegions",
  perpetual_storage_wiggle: "perpetualStorageWiggle",
  log_spill: "logSpill",
  log_version: "logVersion",
  blob_granules_enabled: "blobGranulesEnabled",
};

function applyNumber(key: string, value: string, changes: Partial<Configuration>): boolean {
  const number = Number(value);
  if (!/^-?\d+$/.test(value)) return false;
  if (key === "proxies") {
    // One number for both kinds: a quarter of them, at least one, hands out read versions.
    const grvProxies = number < 2 ? 1 : Math.max(1, Math.min(4, Math.floor(number / 4)));
    changes.grvProxies = number === -1 ? -1 : grvProxies;
    changes.commitProxies = number === -1 ? -1 : Math.max(1, number - grvProxies);
    return number === -1 || number >= 2;
  }
  const field = numbers[key];
  if (field === undefined) return false;
  Object.assign(changes, { [field]: number });
  return true;
}

function applyText(key: string, value: string, changes: Partial<Configuration>): boolean {
  switch (key) {
    case "regions": {
      const regions = parseRegions(value);
      if (regions) changes.regions = regions;
      return regions !== undefined;
    }
    case "storage_migration_type":
      changes.storageMigrationType = value;
      return ["disabled", "gradual", "aggressive"].includes(value);
    case "tenant_mode":
      changes.tenantMode = value;
      return ["disabled", "optional_experimental", "required_experimental"].includes(value);
    case "encryption_at_rest_mode":
      changes.encryptionAtRestMode = value;
      return ["disabled", "domain_aware", "cluster_aware"].includes(value);
    case "perpetual_storage_wiggle_locality":
      changes.perpetualStorageWiggleLocality = value;
      return value === "0" || /^[^:;]+:[^:;]+(;[^:;]+:[^:;]+)*$/.test(value);
    case "perpetual_storage_wiggle_engine":
      changes.perpetualStorageWiggleEngine = value;
      return value === "none" || engines[value] !== undefined;
    case "storage_engine":
    case "storage": {
      const engine = engines[value];
      if (engine !== undefined) changes.storageEngine = engine;
      return engine !== undefined;
    }
    default:
      return false;
  }
}

function parseRegions(text: string): StatusRegion[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Ill-formed JSON is answered with the usage text, like any other word that cannot be read.
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  return value.every(isRegion) ? value.map(withPriorities) : undefined;
}

/** A datacenter without a priority has 0. */
function withPriorities(region: StatusRegion): StatusRegion {
  return {
    ...region,
    datacenters: region.datacenters.map((datacenter) => ({
      ...datacenter,
      priority: datacenter.priority ?? 0,
    })),
  };
}

function isRegion(value: unknown): value is StatusRegion {
  if (typeof value !== "object" || value === null || !("datacenters" in value)) return false;
  const { datacenters } = value;
  if (!Array.isArray(datacenters) || datacenters.length === 0) return false;
  const mode = "satellite_redundancy_mode" in value ? value.satellite_redundancy_mode : undefined;
  if (mode !== undefined && (typeof mode !== "string" || !satelliteModes[mode])) return false;
  return datacenters.every(isDatacenter);
}

function isDatacenter(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!("id" in value) || typeof value.id !== "string") return false;
  return !("priority" in value) || typeof value.priority === "number";
}

/** Words as fdbcli splits them: quotes group and vanish, a backslash keeps the next character. */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? "";
    if (character === "\\") {
      const next = text[index + 1];
      if (next === undefined) return undefined;
      // Unicode escapes are left to the JSON reader.
      word = (word ?? "") + (next === "u" ? "\\u" : next);
      index += 1;
    } else if (character === '"') {
      isQuoted = !isQuoted;
      word ??= "";
    } else if (/\s/.test(character) && !isQuoted) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (isQuoted) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}

export function desiredLogs(configuration: Configuration): number {
  return configuration.logs > 0 ? configuration.logs : 3;
}

export function desiredCommitProxies(configuration: Configuration): number {
  return configuration.commitProxies > 0 ? configuration.commitProxies : 3;
}

export function desiredGrvProxies(configuration: Configuration): number {
  return configuration.grvProxies > 0 ? configuration.grvProxies : 1;
}

export function desiredResolvers(configuration: Configuration): number {
  return configuration.resolvers > 0 ? configuration.resolvers : 1;
}
