// `kubectl fdb get configuration`: what `configure` of fdbcli would say, also with the priorities of the regions swapped.
// Rules: spec/plugin.md [PL45], [PL46].
import type { ClusterSpec } from "../api/cluster.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import { configureArguments } from "../model/configure-command.ts";
import { desiredConfiguration } from "../model/database-configuration.ts";
import { changeCluster } from "./change-cluster.ts";
import type { OutputForm, WriteFlags } from "./flags.ts";
import { print } from "./print.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

export interface ConfigurationFlags extends WriteFlags {
  output: OutputForm;
  failOver?: boolean;
  update?: boolean;
}

type Configuration = NonNullable<ClusterSpec["databaseConfiguration"]>;
type Center = NonNullable<NonNullable<Configuration["regions"]>[number]["datacenters"]>[number];

export async function runGetConfiguration(
  session: Session,
  flags: ConfigurationFlags,
  names: readonly string[],
): Promise<void> {
  if (flags.update === true && flags.failOver !== true) {
    throw new UsageError("--update writes what --fail-over changes: give both");
  }
  if (flags.update === true && names.length > 1) {
    throw new UsageError("--update changes one cluster at a time");
  }
  const found: { cluster: string; configuration: Configuration; configure: string }[] = [];
  for (const name of names) {
    const { spec } = await readCluster(session, name);
    const given = spec.databaseConfiguration ?? {};
    const configuration = flags.failOver === true ? failedOver(given, name) : given;
    const told = configureArguments(desiredConfiguration(configuration));
    if (!told.ok) throw new CommandError(`${name}: ${told.error}`);
    found.push({ cluster: name, configuration, configure: told.value });
  }
  print(session, flags.output, found.length === 1 ? found[0] : found, () =>
    found
      .map(({ cluster, configure }) =>
        found.length === 1 ? configure : `${cluster}: ${configure}`,
      )
      .map((line) => `${line}\n`)
      .join(""),
  );
  if (flags.update !== true) return;
  const [name = ""] = names;
  const isChanged = await changeCluster(
    session,
    {
      ...{ name, text: `Make the other region of ${session.namespace}/${name} the primary one` },
      change: ({ spec }) => ({
        ...spec,
        databaseConfiguration: failedOver(spec.databaseConfiguration ?? {}, name),
      }),
    },
    flags,
  );
  if (!isChanged) {
    throw new CommandError(`${name}: both regions have the same priority: nothing was swapped`);
  }
  const verb = flags.dryRun === true ? "would be" : "are";
  session.out.note(`${session.namespace}/${name}: the priorities ${verb} swapped\n`);
}

/** The main datacenters of two regions swap their priorities; satellites keep theirs. */
export function failedOver(configuration: Configuration, name: string): Configuration {
  const regions = configuration.regions ?? [];
  const mains = regions.flatMap(({ datacenters = [] }) =>
    datacenters.filter((each) => (each.satellite ?? 0) === 0),
  );
  const [first, second] = mains;
  if (regions.length !== 2 || mains.length !== 2 || first === undefined || second === undefined) {
    throw new CommandError(
      `${name} has no two regions to swap: spec.databaseConfiguration.regions has ${regions.length} regions with ${mains.length} main datacenters`,
    );
  }
  const priorityOf = (center: Center): number | undefined =>
    center === first ? second.priority : center === second ? first.priority : center.priority;
  return {
    ...configuration,
    regions: regions.map((region) => ({
      ...region,
      datacenters: (region.datacenters ?? []).map((center) => ({
        ...center,
        ...(priorityOf(center) === undefined ? {} : { priority: priorityOf(center) }),
      })),
    })),
  };
}
