// `kubectl fdb get configuration`: what `configure` of fdbcli would say, also with the priorities of the regions swapped.
// Rules: spec/plugin.md [PL45], [PL46].
import type { ClusterSpec } from "../api/cluster.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import { configureArguments } from "../model/configure-command.ts";
import { desiredConfiguration } from "../model/database-configuration.ts";
import { changeCluster } from "./change-cluster.ts";
import type { OutputForm, WriteFlags } from "./flags.ts";
import { print } from "./print.ts";
import { isAgreed } from "./prompt.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

export interface ConfigurationFlags extends WriteFlags {
  output: OutputForm;
  failOver?: boolean;
  /** The datacenter that is to be the primary one. */
  to?: string;
  update?: boolean;
}

type Configuration = NonNullable<ClusterSpec["databaseConfiguration"]>;
type Center = NonNullable<NonNullable<Configuration["regions"]>[number]["datacenters"]>[number];

export async function runGetConfiguration(
  session: Session,
  flags: ConfigurationFlags,
  names: readonly string[],
): Promise<void> {
  const mistake = mistakeOf(flags, names);
  if (mistake !== undefined) throw new UsageError(mistake);
  const found: { cluster: string; configuration: Configuration; configure: string }[] = [];
  let target = flags.to ?? "";
  for (const name of names) {
    const { spec, status } = await readCluster(session, name);
    const given = spec.databaseConfiguration ?? {};
    let configuration = given;
    if (flags.failOver === true) {
      const { primary, other } = mainsOf(given, name);
      target = flags.to ?? other.id ?? "";
      if (flags.update === true && flags.to === undefined) {
        mustBeSettled(status?.databaseConfiguration ?? {}, name, primary.id ?? "");
      }
      configuration = failedOver(given, name, target);
    }
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
  const [name = ""] = names;
  if (flags.update === true) await makePrimary(session, name, target, flags);
}

/** Why the flags cannot be meant. */
function mistakeOf(flags: ConfigurationFlags, names: readonly string[]): string | undefined {
  const { update, failOver, to } = flags;
  if (update === true && failOver !== true) {
    return "--update writes what --fail-over changes: give both";
  }
  if (to !== undefined && failOver !== true) return "--to says where --fail-over goes: give both";
  if (update === true && names.length > 1) return "--update changes one cluster at a time";
  if (update === true && to === undefined && isAgreed(flags) && flags.dryRun !== true) {
    return "nobody is asked: say with --to DATACENTER which one is to be the primary, since a second run would swap the regions back";
  }
  return undefined;
}

/** Whatever others write meanwhile: this datacenter becomes the primary one, and is never swapped back. */
async function makePrimary(
  session: Session,
  name: string,
  target: string,
  flags: WriteFlags,
): Promise<void> {
  const place = `${session.namespace}/${name}`;
  const isChanged = await changeCluster(
    session,
    {
      ...{ name, text: `Make ${target} the primary datacenter of ${place}` },
      change: ({ spec }) => ({
        ...spec,
        databaseConfiguration: failedOver(spec.databaseConfiguration ?? {}, name, target),
      }),
    },
    flags,
  );
  if (!isChanged) {
    session.out.note(`${place}: ${target} is the primary datacenter already\n`);
    return;
  }
  const verb = flags.dryRun === true ? "would be" : "are";
  session.out.note(`${place}: the priorities ${verb} swapped, ${target} comes first\n`);
}

/** The main datacenters of the two regions, the one with the higher priority first. */
function mainsOf(
  { regions = [] }: Configuration,
  name: string,
): { readonly primary: Center; readonly other: Center } {
  const mains = mainsIn(regions);
  const [first, second] = mains;
  if (regions.length !== 2 || mains.length !== 2 || first === undefined || second === undefined) {
    throw new CommandError(
      `${name} has no two regions to swap: spec.databaseConfiguration.regions has ${regions.length} regions with ${mains.length} main datacenters`,
    );
  }
  const [left, right] = [first.priority ?? 0, second.priority ?? 0];
  if (left === right) {
    throw new CommandError(
      `${name}: both regions have the priority ${left}: there is nothing to swap`,
    );
  }
  return left > right ? { primary: first, other: second } : { primary: second, other: first };
}

function mainsIn(regions: NonNullable<Configuration["regions"]>): Center[] {
  return regions.flatMap(({ datacenters = [] }) =>
    datacenters.filter((each) => (each.satellite ?? 0) === 0),
  );
}

/** While the database has not followed the last change, nobody can say what the other region is. */
function mustBeSettled(running: Configuration, name: string, wanted: string): void {
  const priority = (center: Center | undefined): number => center?.priority ?? 0;
  const mains = mainsIn(running.regions ?? []).toSorted((a, b) => priority(b) - priority(a));
  const [first, second] = mains;
  if (mains.length !== 2 || first?.id === wanted || priority(first) === priority(second)) return;
  throw new CommandError(
    `${name}: a fail-over is under way: the resource makes ${wanted} the primary, and the database still has ${first?.id}; say with --to DATACENTER which one it is to be`,
  );
}

/** The main datacenters of two regions swap their priorities unless `target` comes first already; satellites keep theirs. */
export function failedOver(
  configuration: Configuration,
  name: string,
  target: string,
): Configuration {
  const { primary, other } = mainsOf(configuration, name);
  if (primary.id === target) return configuration;
  if (other.id !== target) {
    throw new CommandError(
      `${name} has no main datacenter ${target}: there are ${primary.id} and ${other.id}`,
    );
  }
  const priorityOf = (center: Center): number | undefined =>
    center === primary ? other.priority : center === other ? primary.priority : center.priority;
  return {
    ...configuration,
    regions: (configuration.regions ?? []).map((region) => ({
      ...region,
      datacenters: (region.datacenters ?? []).map((center) => {
        const { priority: _before, ...rest } = center;
        const priority = priorityOf(center);
        return priority === undefined ? rest : { ...rest, priority };
      }),
    })),
  };
}
