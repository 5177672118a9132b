// The command lines that the processes of a pod must show once they run its present configuration.
// Carries the rules B35 to B38 of spec/build.md.
import { canonicalIp } from "../model/ip-address.ts";
import { monitorConfiguration } from "./monitor-configuration.ts";
import type { MonitorArgument, MonitorTarget } from "./monitor-configuration.ts";
import type { NormalCluster } from "./normalise.ts";

export type Substitutions = Readonly<Record<string, string>>;

/** The text of one argument; a variable without a value stays visible as `$NAME`. */
export function renderArgument(
  argument: MonitorArgument,
  processNumber: number,
  substitutions: Substitutions,
): string {
  switch (argument.type) {
    case "Concatenate":
      return argument.values
        .map((value) => renderArgument(value, processNumber, substitutions))
        .join("");
    case "Environment":
      return substitutions[argument.source] ?? `$${argument.source}`;
    case "IPList":
      return (
        addressOfFamily(substitutions[argument.source], argument.ipFamily) ?? `$${argument.source}`
      );
    case "ProcessNumber":
      return String(processNumber * (argument.multiplier || 1) + (argument.offset ?? 0));
    default:
      return argument.value;
  }
}

/** The first address of a family in a list that is separated by commas. */
function addressOfFamily(list: string | undefined, family: number): string | undefined {
  return list?.split(",").find((text) => {
    const ip = canonicalIp(text);
    return ip !== undefined && ip.includes(":") === (family === 6);
  });
}

/** `known` are the arguments of the target, where somebody has made them already. */
export function expectedCommandLine(
  cluster: NormalCluster,
  target: MonitorTarget,
  processNumber: number,
  substitutions: Substitutions,
  known: readonly MonitorArgument[] = commandArguments(cluster, target),
): string {
  const texts = known.map((argument) => renderArgument(argument, processNumber, substitutions));
  // The unified monitor keeps the order of its configuration, fdbmonitor sorts.
  if (target.imageType !== "unified") texts.sort();
  return [`${substitutions["BINARY_DIR"] ?? ""}/fdbserver`, ...texts].join(" ");
}

/** The same for all processes of a kind. */
export function commandArguments(
  cluster: NormalCluster,
  target: MonitorTarget,
): readonly MonitorArgument[] {
  return monitorConfiguration(cluster, target).arguments;
}
