// A real FoundationDB takes `configure three_data_hall` or `three_datacenter` without looking and can then be
// unavailable for good. So the operator looks first. Rules: spec/plan.md [P73].
import type { DatabaseStatus } from "../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../model/locality.ts";
import { isLogProcess } from "../model/process-class.ts";
import { redundancyOf } from "../model/redundancy.ts";

const zonesPerHallMin = 2;

/** What is missing for a mode that spreads over halls or datacenters; undefined for every other mode. */
export function hallsProblem(status: DatabaseStatus, mode: string): string | undefined {
  if (mode === "") return undefined;
  const { spreadLocality, fullMode } = redundancyOf(mode);
  if (spreadLocality === undefined) return undefined;
  const isFallback = fullMode !== undefined;
  const wanted = isFallback ? 2 : 3;
  for (const kind of ["storage", "log"] as const) {
    const halls = zonesByHall(status, spreadLocality, kind);
    const zonesMin =
      isFallback && kind === "storage" && spreadLocality === localityKeys.dataHall
        ? 1
        : zonesPerHallMin;
    const full = [...halls.values()].filter((zones) => zones.size >= zonesMin).length;
    if (full < wanted || (!isFallback && halls.size !== wanted)) {
      return (
        `${mode} needs ${kind} processes in ${wanted} values of ${spreadLocality} with ` +
        `${zonesMin} zones each; there are ${full} such values of ${halls.size}`
      );
    }
  }
  return undefined;
}

function zonesByHall(
  status: DatabaseStatus,
  locality: string,
  kind: "storage" | "log",
): Map<string, Set<string>> {
  const halls = new Map<string, Set<string>>();
  for (const process of processesOf(status)) {
    const processClass = process.class_type ?? "";
    const isKind = kind === "log" ? isLogProcess(processClass) : processClass === "storage";
    const hall = localityOf(process, locality);
    if (!isKind || process.excluded === true || hall === "") continue;
    const zones = halls.get(hall) ?? new Set<string>();
    halls.set(hall, zones.add(localityOf(process, localityKeys.zone)));
  }
  return halls;
}
