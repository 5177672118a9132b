// Process group ids, `[<prefix>-]<class>-<number>`, and the names derived from them.
// Carries the rules M10 to M13 of spec/model.md.
//
// Objects are looked up by these names all the time. Parts that are joined give a text in one piece, which maps compare quickly; a
// template gives one of several pieces, which is put together and compared by slower means.
import { classInName } from "./process-class.ts";

export const maximumIdNumber = 99_999;

export interface ProcessGroupIdParts {
  prefix: string;
  processClass: string;
  number: number;
}

export function makeProcessGroupId(prefix: string, processClass: string, number: number): string {
  return prefix === "" ? `${processClass}-${number}` : `${prefix}-${processClass}-${number}`;
}

/** Undefined when the text does not end in a dash and a number with something before it. */
export function parseProcessGroupId(id: string): ProcessGroupIdParts | undefined {
  const match = /^(?:(.*)-)?([^-]+)-(\d+)$/.exec(id);
  if (!match) return undefined;
  return { prefix: match[1] ?? "", processClass: match[2] ?? "", number: Number(match[3]) };
}

/** The process id locality of the n-th server of a process group, counted from one. */
export function makeProcessId(processGroupId: string, processNumber: number): string {
  return [processGroupId, processNumber].join("-");
}

/**
 * The pod of a process group. The name starts at the first place where the class occurs in the id, so
 * a prefix without the class vanishes and a prefix that holds it stays: running clusters have such names.
 */
export function podNameOf(clusterName: string, processClass: string, id: string): string {
  const idInName = classInName(id);
  // Most ids have no prefix, and names are asked for in every step for every process group.
  if (idInName === id && id.startsWith(processClass)) return [clusterName, id].join("-");
  const start = idInName.indexOf(classInName(processClass));
  return [clusterName, start < 0 ? idInName : idInName.slice(start)].join("-");
}

export function volumeClaimNameOf(podName: string): string {
  return [podName, "data"].join("-");
}

/** How exclusion by locality names a whole process group. */
export function instanceLocality(processGroupId: string): string {
  return `locality_instance_id:${processGroupId}`;
}
