// Custom parameters of fdbserver and of the backup programs.
import { reservedLocalityKeys } from "./placement-options.ts";
import { problem, type ValidationProblem } from "./problem.ts";

export interface ParameterOwners {
  /** Names that the operator sets itself. */
  readonly protectedNames: readonly string[];
}

export const serverParameterOwners: ParameterOwners = {
  protectedNames: ["datadir", ...reservedLocalityKeys.map((key) => `locality_${key}`)],
};

export const backupParameterOwners: ParameterOwners = {
  protectedNames: ["locality_zoneid", "locality_machineid", "locality_dcid"],
};

/** Settings of fdbmonitor or of the whole pod; they are no arguments of a process. */
const generalNames = [
  "cluster-file",
  "delete-envvars",
  "kill-on-configuration-change",
  "disable-lifecycle-logging",
  "restart-delay",
  "initial-restart-delay",
  "restart-backoff",
  "restart-delay-reset-interval",
  "user",
  "group",
];

/**
 * A command line of more than 10000 characters may be shown cut short in a status; it would then never look right, and
 * its process would be restarted for ever. The rest of the line needs less than 2000.
 */
const lengthMax = 8_000;

export function parameterProblems(
  parameters: readonly string[],
  path: string,
  owners: ParameterOwners,
): readonly ValidationProblem[] {
  const length = parameters.reduce((sum, parameter) => sum + parameter.length + 3, 0);
  const remedy = "use fewer or shorter parameters";
  const long = problem(path, length, `all of it together is ${length} characters long`, remedy);
  const seen = new Set<string>();
  const problems = parameters.flatMap((parameter, index) => {
    const field = `${path}[${index}]`;
    const formProblem = parameterFormProblem(parameter, field);
    if (formProblem !== undefined) return [formProblem];
    const [name = ""] = parameter.split("=");
    const normalName = normalized(name);
    if (seen.has(normalName)) {
      return [problem(field, parameter, `${name} is given twice`, "keep one of the two")];
    }
    seen.add(normalName);
    if (owners.protectedNames.some((each) => normalized(each) === normalName)) {
      return [problem(field, parameter, `${name} is set by the operator`, "remove it")];
    }
    if (generalNames.includes(normalName)) {
      const message = `${name} is a setting of fdbmonitor, not of a process`;
      return [problem(field, parameter, message, "remove it")];
    }
    return [];
  });
  return length > lengthMax ? [...problems, long] : problems;
}

/** Of fdbserver: sizes, which it does not start with when it cannot read them. */
const sizeNames = ["memory", "memory-vsize", "storage-memory", "cache-memory"];
const sizePattern = /^\d+(B|KB|KiB|MB|MiB|GB|GiB|TB|TiB)?$/;

/** Another version may read more than this one knows, so nothing is refused. */
export function sizeWarnings(
  parameters: readonly string[],
  path: string,
): readonly ValidationProblem[] {
  return parameters.flatMap((parameter, index) => {
    const [name = "", ...rest] = parameter.split("=");
    const value = rest.join("=");
    const isVariable = value.startsWith("$");
    if (!sizeNames.includes(normalized(name)) || isVariable || sizePattern.test(value)) return [];
    const message = `fdbserver cannot read "${value}" as a size, and would not start`;
    const remedy = "write a whole number and one of B, KB, KiB, MB, MiB, GB, GiB, TB, TiB";
    return [problem(`${path}[${index}]`, parameter, message, remedy)];
  });
}

function parameterFormProblem(parameter: string, field: string): ValidationProblem | undefined {
  const remedy = "write it as name=value";
  const name = parameter.slice(0, Math.max(0, parameter.indexOf("=")));
  if (!parameter.includes("=")) {
    return problem(field, parameter, `"${parameter}" has no "="`, remedy);
  }
  if (!/^[A-Za-z0-9_][-A-Za-z0-9_.]*$/.test(name)) {
    const message = `"${name}" is no name of a parameter`;
    const letters = "letters, digits, dashes and underscores";
    return problem(field, parameter, message, `${remedy}, with a name of ${letters}`);
  }
  // Such a value would end its line in the configuration of fdbmonitor.
  if (/[\r\n\0]/.test(parameter)) {
    return problem(field, parameter, "a value cannot hold a line break", "write it in one line");
  }
  return undefined;
}

/** FoundationDB reads a dash and an underscore in a name as the same. */
function normalized(name: string): string {
  return name.replaceAll("_", "-").toLowerCase();
}
