// The JSON process configuration of the unified image: reading it and turning it into the
// arguments of one fdbserver. Pure. Carries rules KUBELET31 to KUBELET33.
import { canonicalIp } from "../model/ip-address.ts";

export interface MonitorArgument {
  type?: string;
  value?: string;
  values?: readonly MonitorArgument[];
  source?: string;
  multiplier?: number;
  offset?: number;
  ipFamily?: number;
}

export interface MonitorConfiguration {
  version: string;
  runServers?: boolean;
  arguments?: readonly MonitorArgument[];
}

export type Resolved<T> = { value: T } | { problem: string };

export type Environment = Readonly<Record<string, string>>;

export function parseMonitorConfiguration(text: string): Resolved<MonitorConfiguration> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return { problem: `the configuration is no JSON: ${String(error)}` };
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return { problem: "the configuration is no JSON object" };
  }
  const configuration = parsed as MonitorConfiguration;
  const { version } = parsed as { version?: unknown };
  if (typeof version !== "string" || !/^\d+\.\d+\.\d+(-rc\d+)?$/.test(version)) {
    return { problem: `the configuration has no version: ${JSON.stringify(version)}` };
  }
  return { value: configuration };
}

export function resolveArguments(
  configuration: MonitorConfiguration,
  processNumber: number,
  environment: Environment,
): Resolved<string[]> {
  const resolved: string[] = [];
  for (const argument of configuration.arguments ?? []) {
    const result = resolveArgument(argument, processNumber, environment);
    if ("problem" in result) return result;
    resolved.push(result.value);
  }
  return { value: resolved };
}

/** The environment variables that the arguments use, as they use them. */
export function usedEnvironment(
  configuration: MonitorConfiguration,
  environment: Environment,
): Record<string, string> {
  const used: Record<string, string> = {};
  const visit = (argument: MonitorArgument): void => {
    for (const child of argument.values ?? []) visit(child);
    if (argument.type !== "Environment" && argument.type !== "IPList") return;
    const result = resolveArgument(argument, 1, environment);
    if ("value" in result && argument.source !== undefined) used[argument.source] = result.value;
  };
  for (const argument of configuration.arguments ?? []) visit(argument);
  return used;
}

function resolveArgument(
  argument: MonitorArgument,
  processNumber: number,
  environment: Environment,
): Resolved<string> {
  switch (argument.type ?? "") {
    case "":
    case "Literal":
      return { value: argument.value ?? "" };
    case "Concatenate": {
      let joined = "";
      for (const child of argument.values ?? []) {
        const result = resolveArgument(child, processNumber, environment);
        if ("problem" in result) return result;
        joined += result.value;
      }
      return { value: joined };
    }
    case "Environment":
      return lookUp(argument.source, environment);
    case "ProcessNumber": {
      const multiplier = argument.multiplier ?? 0;
      const number = multiplier === 0 ? processNumber : processNumber * multiplier;
      return { value: String(number + (argument.offset ?? 0)) };
    }
    case "IPList":
      return pickAddress(argument, environment);
    default:
      return { problem: `unsupported argument type ${argument.type}` };
  }
}

function lookUp(source: string | undefined, environment: Environment): Resolved<string> {
  const value = environment[source ?? ""];
  if (value === undefined) return { problem: `missing environment variable ${source ?? ""}` };
  return { value };
}

function pickAddress(argument: MonitorArgument, environment: Environment): Resolved<string> {
  const list = lookUp(argument.source, environment);
  if ("problem" in list) return list;
  const family = argument.ipFamily ?? 0;
  if (family !== 4 && family !== 6) return { problem: `unsupported IP family ${family}` };
  const address = firstAddressOfFamily(list.value, family);
  if (address !== undefined) return { value: address };
  return { problem: `no IPv${family} address in ${argument.source ?? ""}: ${list.value}` };
}

/** The first address of the family in a list with commas. */
export function firstAddressOfFamily(list: string, family: 4 | 6): string | undefined {
  return list
    .split(",")
    .map((text) => text.trim())
    .find((text) => {
      const canonical = canonicalIp(text);
      return canonical !== undefined && canonical.includes(":") === (family === 6);
    });
}
