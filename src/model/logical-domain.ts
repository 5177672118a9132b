// Logical fault domains: the names of the groups into which the process groups of a class are packed. The name is the
// zone of their processes, so that it must be unique in the database. Carries the rules PACK10 and PACK11 of
// spec/packing.md.

export interface DomainPlace {
  /** Of the process group ids of the resource; two resources of one database never share a zone. */
  readonly prefix: string;
  readonly processClass: string;
  /** A logical domain never spans halls; "" where the operator chooses none. */
  readonly hall: string;
}

/** All domains of a class in a place, in the order of their numbers. */
export function logicalDomains(place: DomainPlace, count: number): string[] {
  const head = headOf(place);
  return Array.from({ length: count }, (_, number) => `${head}${number}`);
}

/** Whether `logicalDomains` names it, without naming them all: every process group asks. */
export function isLogicalDomain(place: DomainPlace, count: number, name: string): boolean {
  const head = headOf(place);
  const number = name.slice(head.length);
  return name.startsWith(head) && /^(0|[1-9]\d*)$/.test(number) && Number(number) < count;
}

function headOf({ prefix, processClass, hall }: DomainPlace): string {
  return `${[prefix, processClass, hall].filter((part) => part !== "").join("-")}-`;
}
