// The figures of a database as the rows of a page. Rules: spec/plugin.md [VW6].
import { counted } from "../../model/counted.ts";
import { bytesText, countText, rateText, secondsText } from "../text/units.ts";
import type { DatabaseFigures } from "../../model/database-figures.ts";

export type FigureRow = readonly [label: string, text: string];

/** Of a database that serves; one that does not reports none of these. */
export function figureRows(figures: DatabaseFigures): FigureRow[] {
  const rows: (readonly [string, string | undefined])[] = [
    ["Safety", safetyText(figures)],
    ["Data", dataText(figures)],
    ["Load", loadText(figures)],
    ["Latency", latencyText(figures)],
    ["Behind", behindText(figures)],
    ["Held back", figures.limitedBy],
    ["Coordinators", coordinatorsText(figures)],
    ["Regions", regionText(figures)],
    ["Set by hand", settingsText(figures)],
  ];
  return rows.flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as const]));
}

function safetyText({ zonesWithoutLosingData, ...figures }: DatabaseFigures): string | undefined {
  const available = figures.zonesWithoutLosingAvailability;
  if (zonesWithoutLosingData === undefined || available === undefined) return undefined;
  const state = figures.dataState === undefined ? "" : `; data: ${words(figures.dataState)}`;
  const loss = zonesText(zonesWithoutLosingData);
  if (zonesWithoutLosingData === available) {
    return `${loss} may fail without loss of data or availability${state}`;
  }
  return `${loss} may fail without loss of data, ${zonesText(available)} without loss of availability${state}`;
}

function zonesText(count: number): string {
  return count === 0 ? "no zone" : counted(count, "zone");
}

function dataText(figures: DatabaseFigures): string | undefined {
  const { dataBytes, diskBytes, movingBytes, freeStorageBytes, freeLogBytes } = figures;
  if (dataBytes === undefined) return undefined;
  const disks = diskBytes === undefined ? "" : ` (${bytesText(diskBytes)} on disks)`;
  const moving = movingBytes === 0 ? "nothing moves" : `${bytesText(movingBytes)} to move`;
  const room = [
    ...(freeStorageBytes === undefined ? [] : [`storage ${bytesText(freeStorageBytes)}`]),
    ...(freeLogBytes === undefined ? [] : [`log ${bytesText(freeLogBytes)}`]),
  ];
  return [
    `${bytesText(dataBytes)}${disks}`,
    ...(movingBytes === undefined ? [] : [moving]),
    ...(room.length === 0 ? [] : [`least room: ${room.join(", ")}`]),
  ].join("; ");
}

function loadText(figures: DatabaseFigures): string | undefined {
  const { committedPerSecond, conflictedPerSecond, readsPerSecond, writesPerSecond } = figures;
  if (committedPerSecond === undefined) return undefined;
  const conflicts =
    (conflictedPerSecond ?? 0) < 0.05 ? "" : `, ${rateText(conflictedPerSecond)} conflicts`;
  const clients = figures.clients === undefined ? "" : `; ${counted(figures.clients, "client")}`;
  return (
    `${rateText(committedPerSecond)} commits${conflicts}, ${rateText(readsPerSecond)} reads, ` +
    `${rateText(writesPerSecond)} writes${clients}`
  );
}

function latencyText(figures: DatabaseFigures): string | undefined {
  const { startSeconds, readSeconds, commitSeconds } = figures;
  if (startSeconds === undefined && commitSeconds === undefined) return undefined;
  return `start ${secondsText(startSeconds)}, read ${secondsText(readSeconds)}, commit ${secondsText(commitSeconds)}`;
}

function behindText(figures: DatabaseFigures): string | undefined {
  const { storageLagSeconds, storageQueueBytes, logQueueBytes, dataCenterLagSeconds } = figures;
  if (storageLagSeconds === undefined && storageQueueBytes === undefined) return undefined;
  const remote =
    dataCenterLagSeconds === undefined
      ? ""
      : `, the other region ${secondsText(dataCenterLagSeconds)}`;
  return (
    `storage servers ${secondsText(storageLagSeconds)}${remote}; ` +
    `longest queues: storage ${bytesText(storageQueueBytes)}, log ${bytesText(logQueueBytes)}`
  );
}

function coordinatorsText({
  coordinators,
  coordinatorsReachable,
}: DatabaseFigures): string | undefined {
  if (coordinators === 0) return undefined;
  return coordinators === coordinatorsReachable
    ? `all ${countText(coordinators)} are reachable`
    : `${coordinatorsReachable} of ${coordinators} are reachable`;
}

function regionText({ activePrimary }: DatabaseFigures): string | undefined {
  return activePrimary === undefined ? undefined : `${activePrimary} is the primary`;
}

/** What a person has set and may have forgotten. */
function settingsText({
  isLocked,
  maintenanceZone,
  excluded,
}: DatabaseFigures): string | undefined {
  const parts = [
    ...(isLocked ? ["the database is locked"] : []),
    ...(maintenanceZone === undefined ? [] : [`zone ${maintenanceZone} is under maintenance`]),
    ...(excluded === 0 ? [] : [counted(excluded, "exclusion")]),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}
