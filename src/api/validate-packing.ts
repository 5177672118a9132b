// Packing into logical fault domains: enough of them, with names that Kubernetes takes.
// Carries the rules PACK60 to PACK67 of spec/packing.md.
import type { ProcessCounts } from "../model/process-counts.ts";
import { isStateful } from "../model/process-class.ts";
import { redundancyForCounts, redundancyOf } from "../model/redundancy.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { localityOf, parameterValue } from "./localities.ts";
import { domainCount, isPackingEnabled } from "./packing.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { wantedCounts } from "./wanted-counts.ts";

/** The longest value of a label. */
export const labelValueMaxLength = 63;

const hallCount = 3;

interface Packing {
  /** Logical fault domains of a class, in each hall if there are halls. */
  readonly domains: number;
  readonly hasHalls: boolean;
  /** Halls that this one resource spreads its process groups over. */
  readonly halls: number;
  readonly hallNames: readonly string[];
  readonly counts: ProcessCounts;
}

export function packingProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  if (!isPackingEnabled(spec)) return [];
  const packing = packingOf(spec);
  return [
    ...numberProblems(spec, packing),
    ...requiredProblems(spec, packing),
    ...nameProblems(spec, packing),
    ...parameterProblems(spec),
    ...variableProblems(spec),
  ];
}

/** Packed, but not as well as it could be. */
export function packingWarnings(spec: ClusterSpec): readonly ValidationProblem[] {
  if (!isPackingEnabled(spec)) return [];
  const { domains, hasHalls } = packingOf(spec);
  if (!hasHalls || domains !== 2) return [];
  const message = "with two logical fault domains per hall a hall and one more zone cannot be lost";
  return [problem(desiredField, domains, message, "set it to 3")];
}

const desiredField = "spec.distributionConfig.desiredFaultDomains";

function packingOf(spec: ClusterSpec): Packing {
  const redundancy = redundancyForCounts(spec.databaseConfiguration?.redundancy_mode);
  const hallKey = redundancy.spreadLocality;
  const hall = hallKey === undefined ? undefined : localityOf(spec, hallKey);
  const isSpread = hall?.source === "topologyKey";
  return {
    domains: domainCount(spec),
    hasHalls: hallKey !== undefined,
    halls: isSpread ? hallCount : 1,
    hallNames: isSpread ? hall.values : [],
    counts: wantedCounts(spec),
  };
}

function numberProblems(spec: ClusterSpec, packing: Packing): readonly ValidationProblem[] {
  const redundancy = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  const least = packing.hasHalls ? 2 : redundancy.minimumFaultDomains;
  if (packing.domains < least) {
    const place = packing.hasHalls ? " in each hall" : "";
    const message = `${redundancy.mode} needs at least ${least} fault domains${place}`;
    return [problem(desiredField, packing.domains, message, `set it to ${least} or more`)];
  }
  return coordinatorProblems(spec, packing, redundancy.coordinators);
}

/**
 * Coordinators sit in different zones; a resource that shares its database may find some elsewhere.
 */
function coordinatorProblems(
  spec: ClusterSpec,
  packing: Packing,
  coordinators: number,
): readonly ValidationProblem[] {
  const isShared =
    (spec.seedConnectionString ?? "") !== "" ||
    (spec.databaseConfiguration?.regions?.length ?? 0) > 1 ||
    (packing.hasHalls && packing.halls === 1);
  if (isShared) return [];
  const chosen = (spec.coordinatorSelection ?? []).map(({ processClass }) => processClass);
  const zonesPerHall = Object.entries(packing.counts)
    .filter(([processClass]) => isStateful(processClass))
    .filter(([processClass]) => chosen.length === 0 || chosen.includes(processClass))
    .reduce(
      (sum, [, count]) => sum + Math.min(packing.domains, Math.ceil(count / packing.halls)),
      0,
    );
  const needed = packing.hasHalls ? 2 : coordinators;
  if (zonesPerHall >= needed) return [];
  const place = packing.hasHalls ? " in each hall" : "";
  const message = `coordinators need ${needed} zones${place}, and there are only ${zonesPerHall}`;
  return [problem(desiredField, packing.domains, message, "raise it, or allow more classes")];
}

const requiredClasses = ["storage", "log", "transaction"] as const;

function requiredProblems(spec: ClusterSpec, packing: Packing): readonly ValidationProblem[] {
  if (spec.distributionConfig?.required !== true) return [];
  const least = packing.domains * packing.halls;
  return requiredClasses.flatMap((processClass) => {
    const count = packing.counts[processClass];
    if (count === undefined || count >= least) return [];
    const message = `${processClass} has ${count} process groups for ${least} required fault domains`;
    const remedy = `ask for at least ${least} in processCounts.${processClass}, or for fewer domains`;
    return [problem(`spec.processCounts.${processClass}`, count, message, remedy)];
  });
}

/** The name of a logical domain is the value of a label. */
function nameProblems(spec: ClusterSpec, packing: Packing): readonly ValidationProblem[] {
  const prefix = spec.processGroupIDPrefix ?? "";
  const hall = packing.hallNames.toSorted((a, b) => b.length - a.length)[0];
  const names = Object.keys(packing.counts).map((processClass) =>
    [prefix, processClass, hall ?? "", String(packing.domains - 1)]
      .filter((part) => part !== "")
      .join("-"),
  );
  const longest = names.toSorted((a, b) => b.length - a.length)[0] ?? "";
  if (longest.length <= labelValueMaxLength) return [];
  const message = `the logical fault domain ${longest} has more than ${labelValueMaxLength} characters`;
  if (prefix === "") {
    return [problem("spec.localities", hall, message, "choose halls with shorter names")];
  }
  return [problem("spec.processGroupIDPrefix", prefix, message, "choose a shorter prefix")];
}

function parameterProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  return Object.entries(spec.processes ?? {}).flatMap(([processClass, settings]) =>
    (settings.customParameters ?? []).flatMap((parameter, index) => {
      if (parameterValue(parameter, "locality_zoneid") === undefined) return [];
      const field = `spec.processes.${processClass}.customParameters[${index}]`;
      const message = "distributionConfig names the zones itself";
      return [problem(field, parameter, message, "remove locality_zoneid")];
    }),
  );
}

/** A variable of the user wins over the operator's, so that one of this name would take the zone away from it. */
function variableProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  return Object.entries(spec.processes ?? {}).flatMap(([processClass, settings]) => {
    const { containers = [], initContainers = [] } = settings.podTemplate?.spec ?? {};
    const lists = { containers, initContainers };
    return Object.entries(lists).flatMap(([list, found]) =>
      found.flatMap(({ env = [] }, place) =>
        env.flatMap(({ name }, index) => {
          if (name !== "FDB_ZONE_ID") return [];
          const template = `spec.processes.${processClass}.podTemplate.spec`;
          const field = `${template}.${list}[${place}].env[${index}]`;
          const message = "distributionConfig names the zones itself";
          return [problem(field, name, message, "remove FDB_ZONE_ID")];
        }),
      ),
    );
  });
}
