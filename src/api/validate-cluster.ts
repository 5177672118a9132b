// What the operator says of a cluster's spec beyond what the API server can judge. Nothing of a
// cluster with such a problem is changed. Carries the rules API20 to API29 and API40.
import { append } from "../env/long-lists.ts";
import { durationMs } from "../model/duration.ts";
import { isProcessClass, isStateful, generalClass } from "../model/process-class.ts";
import { parseConnectionString } from "../model/connection-string.ts";
import { compareQuantities } from "../model/quantity.ts";
import { redundancyOf } from "../model/redundancy.ts";
import {
  canReadFilesOf,
  compareVersions,
  formatVersion,
  isKnownLine,
  isSupported,
  minimumVersion,
  newestKnownLine,
  parseVersion,
  supportsStorageEngine,
  tellsStorageEngines,
} from "../model/version.ts";
import { isAdopting } from "./adoption.ts";
import type { ClusterStatus } from "./cluster-status.ts";
import type { NamedCluster } from "./effective.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { isGivenByValue, localityOf, parameterValue } from "./localities.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { windowProblems, windowWarnings } from "./maintenance-windows.ts";
import { countWarnings } from "./validate-counts.ts";
import { labelProblems } from "./validate-labels.ts";
import { limitProblems } from "./validate-limits.ts";
import { localityProblems } from "./validate-localities.ts";
import { packingProblems, packingWarnings } from "./validate-packing.ts";
import { parameterProblems, serverParameterOwners, sizeWarnings } from "./validate-parameters.ts";
import {
  noPodTemplateLimits,
  podTemplateProblems,
  type PodTemplateLimits,
} from "./validate-pod-template.ts";
import { networkPolicyProblems } from "./validate-network-policy.ts";
import { nameProblems } from "./validate-names.ts";

export interface ClusterValidationOptions {
  readonly podTemplateLimits?: PodTemplateLimits;
}

export function validateCluster(
  cluster: NamedCluster,
  options: ClusterValidationOptions = {},
): readonly ValidationProblem[] {
  const { spec } = cluster;
  const problems = [
    ...limitProblems(spec),
    ...versionProblems(spec),
    ...settingProblems(spec),
    ...connectionProblems(spec),
    ...configurationProblems(spec),
    ...processProblems(spec, options.podTemplateLimits ?? noPodTemplateLimits),
    ...localityProblems(spec),
    ...packingProblems(spec),
    ...windowProblems(spec),
    ...networkPolicyProblems(spec),
    ...nameProblems(cluster),
    ...labelProblems(cluster),
  ];
  return problems.slice(0, problemsMaximum);
}

/** Nobody reads more; a list of 100,000 wrong entries is one mistake. */
const problemsMaximum = 100;

/** Worth saying, but no reason to stop. */
export function clusterWarnings(
  cluster: NamedCluster & { readonly status?: ClusterStatus },
): readonly ValidationProblem[] {
  const { spec } = cluster;
  return [
    ...versionWarnings(spec.version, "spec.version"),
    ...triedVersionWarnings(cluster),
    ...countWarnings(spec),
    ...unknownClassWarnings(spec),
    ...hallWarnings(spec),
    ...packingWarnings(spec),
    ...windowWarnings(spec),
    ...engineWarnings(spec),
    ...Object.entries(spec.processes ?? {}).flatMap(([processClass, { customParameters = [] }]) =>
      sizeWarnings(customParameters, `spec.processes.${processClass}.customParameters`),
    ),
  ];
}

export function versionProblem(text: string, field: string): ValidationProblem | undefined {
  const version = parseVersion(text);
  if (version === undefined) {
    return problem(field, text, `"${text}" is no version`, "write it as major.minor.patch");
  }
  if (isSupported(version)) return undefined;
  const minimum = formatVersion(minimumVersion);
  const message = `FoundationDB ${text} is not supported`;
  return problem(field, text, message, `use ${minimum} or newer`);
}

/** It may exist by now, so nothing is stopped; but it is more often a slip of the keyboard. */
export function versionWarnings(text: string, field: string): readonly ValidationProblem[] {
  const version = parseVersion(text);
  if (version === undefined || isKnownLine(version)) return [];
  const newest = `${newestKnownLine.major}.${newestKnownLine.minor}`;
  const message = `this operator knows FoundationDB up to ${newest}, and ${text} is newer`;
  return [problem(field, text, message, "make sure that this version and its images exist")];
}

/** A database that comes back from its disks was tried with a newer version first: the status still has it in this moment. */
function triedVersionWarnings({ spec, status }: Adoptable): readonly ValidationProblem[] {
  const [version, tried] = [spec.version, status?.runningVersion ?? ""].map(parseVersion);
  if (!isAdopting({ spec, status }) || version === undefined || tried === undefined) return [];
  if (compareVersions(tried, version) <= 0 || canReadFilesOf(version, tried)) return [];
  const [older, newer] = [formatVersion(version), formatVersion(tried)];
  const message =
    `servers that have found their data with ${newer} may have written what ${older} does not read, and do not start with it; ` +
    `${newer} reads what ${older} has written`;
  const remedy = `set spec.version to ${newer} again, unless no server has found its data yet`;
  return [problem("spec.version", spec.version, `${message}: ${remedy}`, remedy)];
}

type Adoptable = Parameters<typeof isAdopting>[0];

function versionProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  const found = versionProblem(spec.version, "spec.version");
  if (found !== undefined) return [found];
  const version = parseVersion(spec.version);
  const configuration = spec.databaseConfiguration;
  const engines = ["storage_engine", "perpetual_storage_wiggle_engine"] as const;
  return engines.flatMap((name) => {
    const engine = configuration?.[name];
    if (engine === undefined || version === undefined) return [];
    if (engine === "custom") {
      const message =
        "FoundationDB calls an engine custom whose name it does not know, and none can be asked for by it";
      const remedy = "name the engine, such as ssd-2, ssd-redwood-1 or ssd-rocksdb-v1";
      return [problem(`spec.databaseConfiguration.${name}`, engine, message, remedy)];
    }
    if (supportsStorageEngine(version, engine)) return [];
    const message = `FoundationDB ${spec.version} has no storage engine ${engine}`;
    const remedy = "choose another engine or a newer version";
    return [problem(`spec.databaseConfiguration.${name}`, engine, message, remedy)];
  });
}

/** Not before 7.3 does the status say which engine a storage server runs. */
function engineWarnings({ version, databaseConfiguration }: ClusterSpec): ValidationProblem[] {
  const type = databaseConfiguration?.storage_migration_type;
  if (type !== "gradual" && type !== "aggressive") return [];
  const parsed = parseVersion(version);
  if (parsed === undefined || tellsStorageEngines(parsed)) return [];
  const field = "spec.databaseConfiguration.storage_migration_type";
  const message = `FoundationDB ${version} does not tell which engine a storage server runs, so nobody sees when all have changed`;
  return [problem(field, type, message, "upgrade to 7.3 before you change the storage engine")];
}

const [quarantineMinimumMs, quarantineMaximumMs] = [60_000, 365 * 86_400_000];

/** Shorter ones would be over before anybody looks, longer ones never end. */
function quarantineProblems(given: string | undefined): readonly ValidationProblem[] {
  if (given === undefined || given === "0") return [];
  const ms = durationMs(given);
  if (ms !== undefined && ms >= quarantineMinimumMs && ms <= quarantineMaximumMs) return [];
  const field = "spec.automationOptions.volumeQuarantine";
  const message = `volumes cannot wait for ${given}`;
  return [problem(field, given, message, "use a time from 1m to 365d such as 24h, or 0 for none")];
}

/** No label would name every claim of the namespace. */
function adoptProblems(adopt: ClusterSpec["adopt"]): readonly ValidationProblem[] {
  if (adopt === undefined || Object.keys(adopt.volumes.matchLabels).length > 0) return [];
  const field = "spec.adopt.volumes.matchLabels";
  const remedy = "name the claims, such as by foundationdb.org/fdb-cluster-name: NAME";
  return [problem(field, "{}", "no label says which volume claims are meant", remedy)];
}

const interactionModes = ["fdbcli", "managementapi"];

function settingProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  const problems: ValidationProblem[] = [];
  const mode = spec.automationOptions?.databaseInteractionMode;
  if (mode !== undefined && !interactionModes.includes(mode)) {
    const field = "spec.automationOptions.databaseInteractionMode";
    problems.push(
      problem(field, mode, `"${mode}" is unknown`, `use ${interactionModes.join(" or ")}`),
    );
  }
  const family = spec.routing?.podIPFamily;
  if (family !== undefined && ![0, 4, 6].includes(family)) {
    problems.push(
      problem("spec.routing.podIPFamily", family, "there is no such IP family", "use 4 or 6"),
    );
  }
  const share = spec.automationOptions?.replacements?.maxFaultDomainsWithTaintedProcessGroups;
  if (share !== undefined && !/^[0-9]{1,9}%?$/.test(String(share))) {
    const field = "spec.automationOptions.replacements.maxFaultDomainsWithTaintedProcessGroups";
    const message = `"${share}" is neither a number nor a share`;
    problems.push(problem(field, share, message, "use a number such as 2, or a share such as 10%"));
  }
  append(problems, adoptProblems(spec.adopt));
  append(problems, quarantineProblems(spec.automationOptions?.volumeQuarantine));
  for (const [index, { processClass }] of (spec.coordinatorSelection ?? []).entries()) {
    if (isStateful(processClass ?? "")) continue;
    const field = `spec.coordinatorSelection[${index}].processClass`;
    const message = `${processClass ?? "no class"} keeps no data and cannot hold a coordinator`;
    problems.push(
      problem(field, processClass, message, "use storage, log, transaction or coordinator"),
    );
  }
  return problems;
}

function connectionProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  const problems: ValidationProblem[] = [];
  const seed = spec.seedConnectionString ?? "";
  const connection = seed === "" ? undefined : parseConnectionString(seed);
  if (connection?.ok === false) {
    const remedy = "copy the cluster file of the database";
    problems.push(problem("spec.seedConnectionString", seed, connection.error, remedy));
  }
  const { databaseName = "", generationID = "" } = spec.partialConnectionString ?? {};
  const path = "spec.partialConnectionString";
  if (!/^[a-zA-Z0-9_]*$/.test(databaseName)) {
    const message = "a database name has letters, digits and underscores";
    problems.push(problem(`${path}.databaseName`, databaseName, message, "choose such a name"));
  }
  if (!/^[a-zA-Z0-9]*$/.test(generationID)) {
    const message = "a generation id has letters and digits";
    problems.push(problem(`${path}.generationID`, generationID, message, "choose such an id"));
  }
  return problems;
}

/**
 * The configuration goes into one command line of fdbcli, where these would start another command.
 */
function configurationProblems(spec: ClusterSpec): readonly ValidationProblem[] {
  const regions = spec.databaseConfiguration?.regions ?? [];
  const path = "spec.databaseConfiguration.regions";
  return regions.flatMap((region, index) => {
    const texts: (readonly [string, string | undefined])[] = [
      [`${path}[${index}].satellite_redundancy_mode`, region.satellite_redundancy_mode],
      ...(region.datacenters ?? []).map(
        (dataCenter, place) =>
          [`${path}[${index}].datacenters[${place}].id`, dataCenter.id] as const,
      ),
    ];
    return texts
      .filter(([, text]) => /[;\r\n]/.test(text ?? ""))
      .map(([field, text]) =>
        problem(field, text, "semicolons and line breaks are not allowed", "remove them"),
      );
  });
}

function processProblems(
  spec: ClusterSpec,
  limits: PodTemplateLimits,
): readonly ValidationProblem[] {
  return Object.entries(spec.processes ?? {}).flatMap(([processClass, settings]) => {
    const path = `spec.processes.${processClass}`;
    return [
      ...podTemplateProblems(settings.podTemplate, `${path}.podTemplate`, limits),
      ...parameterProblems(
        settings.customParameters ?? [],
        `${path}.customParameters`,
        serverParameterOwners,
      ),
      ...volumeSizeProblems(processClass, settings, path),
    ];
  });
}

/** Elsewhere zero means "no volume", and a text that cannot be read counts as zero: neither may become 128G. */
function volumeSizeProblems(
  processClass: string,
  { volumeClaimTemplate }: NonNullable<ClusterSpec["processes"]>[string],
  path: string,
): readonly ValidationProblem[] {
  const size = volumeClaimTemplate?.spec?.resources?.requests?.["storage"];
  const isUsed = processClass === generalClass || isStateful(processClass);
  if (size === undefined || !isUsed || compareQuantities(size, 0) > 0) return [];
  const field = `${path}.volumeClaimTemplate.spec.resources.requests.storage`;
  const message = `a volume cannot have the size ${size}`;
  return [problem(field, size, message, "give a size such as 128G, or none for 128G")];
}

function unknownClassWarnings(spec: ClusterSpec): readonly ValidationProblem[] {
  return Object.keys(spec.processes ?? {})
    .filter((name) => name !== generalClass && !isProcessClass(name))
    .map((name) =>
      problem(
        `spec.processes.${name}`,
        name,
        `there is no process class ${name}: these settings have no effect`,
        "correct the name",
      ),
    );
}

/** Without halls such a database cannot place its data. */
function hallWarnings(spec: ClusterSpec): readonly ValidationProblem[] {
  const { mode, spreadLocality } = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  if (spreadLocality === undefined) return [];
  const isGiven =
    isGivenByValue(spec, spreadLocality) ||
    localityOf(spec, spreadLocality) !== undefined ||
    Object.values(spec.processes ?? {}).some((settings) =>
      (settings.customParameters ?? []).some(
        (parameter) => parameterValue(parameter, `locality_${spreadLocality}`) !== undefined,
      ),
    );
  if (isGiven) return [];
  const message = `${mode} needs a ${spreadLocality} locality, and none is given`;
  return [problem("spec.localities", spec.localities, message, `add one for ${spreadLocality}`)];
}
