// What the modes over halls ask of storage and log processes: in how many halls they must be, and in how many zones of
// each. Rules: spec/halls.md [HALL19], [HALL20].
import { counted } from "../../model/counted.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { isLogProcess } from "../../model/process-class.ts";
import { redundancyOf } from "../../model/redundancy.ts";

export type HallKind = "storage" | "log";

export interface HallPolicy {
  readonly locality: "data_hall" | "dcid";
  readonly halls: number;
  readonly zonesPerHall: number;
}

/** What data and logs cannot do without; undefined for a mode that knows no halls. */
export function hallPolicy(mode: string | undefined, kind: HallKind): HallPolicy | undefined {
  const { spreadLocality, fullMode } = redundancyOf(mode);
  if (spreadLocality === undefined) return undefined;
  // Logs lie in two halls whatever the mode; data in all halls of the mode.
  const halls = kind === "log" || fullMode !== undefined ? 2 : 3;
  const zonesPerHall = kind === "storage" && spreadLocality === localityKeys.dataHall ? 1 : 2;
  return { locality: spreadLocality, halls, zonesPerHall };
}

/** Zones of the processes of a kind that are not excluded, by hall; halls in the order of their names. */
export function zonesByHall(
  status: DatabaseStatus,
  locality: string,
  kind: HallKind,
  isLeftOut: (instanceId: string) => boolean = () => false,
): ReadonlyMap<string, ReadonlySet<string>> {
  const halls = new Map<string, Set<string>>();
  for (const process of processesOf(status)) {
    const processClass = process.class_type ?? "";
    const isKind = kind === "log" ? isLogProcess(processClass) : processClass === "storage";
    const hall = localityOf(process, locality);
    if (!isKind || process.excluded === true || hall === "") continue;
    if (isLeftOut(localityOf(process, localityKeys.instance))) continue;
    const zones = halls.get(hall) ?? new Set<string>();
    halls.set(hall, zones.add(localityOf(process, localityKeys.zone)));
  }
  return new Map([...halls].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A full mode asks for so many zones in each hall, though its policy could do with fewer. */
export const zonesPerHallMin = 2;

export function zoneCount(count: number): string {
  return counted(count, "zone");
}
