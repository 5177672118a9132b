// Which engine each storage server of a database runs, which one it should run, and whether the database is about to
// change that. Carries the rules MIG6 and MIG7 of spec/migration.md.
import type { DatabaseStatus, StatusConfiguration, StatusProcess } from "./database-status.ts";
import { figureIn } from "./figure-in.ts";
import { localityKeys, localityOf, processesOf } from "./locality.ts";

export interface OldServer {
  /** Of its process group, or its address. */
  readonly name: string;
  readonly engine: string;
  readonly bytes: number;
  readonly isExcluded: boolean;
  /** The wiggle does not pass it by. */
  readonly isReached: boolean;
  /** When the server began. */
  readonly createdMs: number | undefined;
  /** Its datacenter where each region has copies of its own, otherwise empty. */
  readonly region: string;
  /** Fault domains with storage servers that stay in its region, with and without it. */
  readonly domains: number;
  readonly domainsWithout: number;
}

export interface EngineView {
  readonly to: string;
  /** Storage servers that tell their engine. */
  readonly servers: number;
  /** Those of another engine than they should be, sorted by name. */
  readonly old: readonly OldServer[];
  /** A server that begins gets this engine wherever it is. */
  readonly isOneForAll: boolean;
  /** Why the database changes none of them, as a clause; undefined while it does. */
  readonly pause: string | undefined;
}

/** The names of one engine in configurations and of servers; another name is no evidence. */
const families: Readonly<Record<string, string>> = {
  ssd: "ssd-2",
  "ssd-1": "ssd-1",
  "ssd-2": "ssd-2",
  memory: "memory",
  "memory-1": "memory",
  "memory-2": "memory",
  "memory-radixtree": "memory-radixtree",
  "memory-radixtree-beta": "memory-radixtree",
  "ssd-redwood-1": "ssd-redwood-1",
  "ssd-redwood-1-experimental": "ssd-redwood-1",
  "ssd-rocksdb-v1": "ssd-rocksdb-v1",
  "ssd-rocksdb-experimental": "ssd-rocksdb-v1",
  "ssd-sharded-rocksdb": "ssd-sharded-rocksdb",
};

/** The one name of an engine that has several; undefined for one that is not known. */
export function engineFamily(engine: string | undefined): string | undefined {
  return Object.hasOwn(families, engine ?? "") ? families[engine ?? ""] : undefined;
}

/** Undefined when the status does not say which engine is wanted. */
export function engineView(status: DatabaseStatus): EngineView | undefined {
  const { configuration } = status.cluster ?? {};
  const to = engineFamily(configuration?.storage_engine);
  if (configuration === undefined || to === undefined) return undefined;
  const places: Place[] = [];
  const found: { old: Omit<OldServer, keyof Domains>; place: Place }[] = [];
  for (const process of processesOf(status)) {
    for (const role of process.roles ?? []) {
      // A testing server runs another engine on purpose.
      if (role.role !== "storage" || role["tss"] === true) continue;
      const engine = families[engineOf(role["storage_metadata"])];
      if (engine === undefined) continue;
      const place = placeOf(configuration, process);
      places.push(place);
      if (rightEngines(configuration, to, process).includes(engine)) continue;
      const old = {
        name: nameOf(process),
        engine,
        bytes: Math.max(0, figureIn(role, "stored_bytes") ?? 0),
        isExcluded: process.excluded === true,
        isReached: isInWiggle(configuration, process),
        createdMs: createdMsOf(role),
      };
      found.push({ old, place });
    }
  }
  const staying = stayingIn(places);
  const old = found.map(({ old: server, place }) => ({ ...server, ...domainsOf(place, staying) }));
  return {
    ...{ to, servers: places.length },
    isOneForAll: engineFamily(configuration.perpetual_storage_wiggle_engine) === undefined,
    old: old.toSorted((left, right) => (left.name < right.name ? -1 : 1)),
    pause: pauseOf(
      configuration,
      old.some(({ isReached }) => isReached),
    ),
  };
}

/** Where a storage server is. */
interface Place {
  readonly region: string;
  readonly zone: string;
  /** Nothing moves to a server that is excluded. */
  readonly isStaying: boolean;
}

function placeOf(
  { usable_regions: regions = 1 }: StatusConfiguration,
  process: StatusProcess,
): Place {
  return {
    region: regions < 2 ? "" : localityOf(process, localityKeys.dataCenter),
    zone: localityOf(process, localityKeys.zone) || nameOf(process),
    isStaying: process.excluded !== true,
  };
}

type Domains = Pick<OldServer, "region" | "domains" | "domainsWithout">;

/** How many servers stay, by region and fault domain: counted once, since there may be thousands. */
function stayingIn(places: readonly Place[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const regions = new Map<string, Map<string, number>>();
  for (const { region, zone, isStaying } of places) {
    if (!isStaying) continue;
    const zones = regions.get(region) ?? new Map<string, number>();
    regions.set(region, zones.set(zone, (zones.get(zone) ?? 0) + 1));
  }
  return regions;
}

function domainsOf(
  { region, zone, isStaying }: Place,
  staying: ReturnType<typeof stayingIn>,
): Domains {
  const zones = staying.get(region);
  const domains = zones?.size ?? 0;
  const isAlone = isStaying && zones?.get(zone) === 1;
  return { region, domains, domainsWithout: isAlone ? domains - 1 : domains };
}

function engineOf(metadata: unknown): string {
  if (typeof metadata !== "object" || metadata === null) return "";
  const engine: unknown = "storage_engine" in metadata ? metadata.storage_engine : undefined;
  return typeof engine === "string" && Object.hasOwn(families, engine) ? engine : "";
}

function createdMsOf(role: object): number | undefined {
  const seconds = figureIn(role, "storage_metadata", "created_time_timestamp");
  return seconds === undefined ? undefined : seconds * 1000;
}

function nameOf(process: StatusProcess): string {
  return localityOf(process, localityKeys.instance) || (process.address ?? "a process");
}

/** Where the wiggle has an engine of its own, its servers need that one, and others may have it already. */
function rightEngines(
  configuration: StatusConfiguration,
  to: string,
  process: StatusProcess,
): readonly string[] {
  const wiggled = engineFamily(configuration.perpetual_storage_wiggle_engine);
  if (wiggled === undefined) return [to];
  return isInWiggle(configuration, process) ? [wiggled] : [to, wiggled];
}

function isInWiggle(
  { perpetual_storage_wiggle_locality: limit = "0" }: StatusConfiguration,
  process: StatusProcess,
): boolean {
  if (limit === "0" || limit === "") return true;
  return limit.split(";").some((pair) => {
    // A value may have colons of its own.
    const end = pair.indexOf(":");
    return process.locality?.[pair.slice(0, end)] === pair.slice(end + 1);
  });
}

function pauseOf(configuration: StatusConfiguration, isAnyReached: boolean): string | undefined {
  const { storage_migration_type: type, perpetual_storage_wiggle: speed = 0 } = configuration;
  if (type === "aggressive") return undefined;
  if (type === "disabled") return "storage_migration_type is disabled";
  if (speed === 0) return "perpetual_storage_wiggle is 0";
  if (isAnyReached) return undefined;
  const limit = configuration.perpetual_storage_wiggle_locality;
  return `perpetual_storage_wiggle_locality is ${limit}, and none of them is there`;
}
