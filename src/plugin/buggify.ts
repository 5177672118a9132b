// `kubectl fdb buggify`: faults for tests, set and taken back in spec.buggify. Rules: spec/plugin.md [PL50]-[PL52].
import type { ClusterSpec } from "../api/cluster.ts";
import { imageTypeOf } from "../api/effective.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import { changeCluster } from "./change-cluster.ts";
import type { WriteFlags } from "./flags.ts";
import { readSelection } from "./read-selection.ts";
import type { SelectionFlags } from "./selection.ts";
import type { Session } from "./session.ts";

type Buggify = NonNullable<ClusterSpec["buggify"]>;

export interface FaultFlags extends SelectionFlags, WriteFlags {
  containerName: string;
  /** Takes the named ones back. */
  clear?: boolean;
  /** Takes all back. */
  clean?: boolean;
}

/** The lists with these process groups in them, or without them, or empty. */
export function withNoSchedule(
  buggify: Buggify,
  ids: readonly string[],
  flags: FaultFlags,
): Buggify {
  const noSchedule = changedList(buggify.noSchedule ?? [], ids, flags);
  return withList(buggify, "noSchedule", noSchedule);
}

/** Of one container; the lists of others stay. */
export function withCrashLoop(
  buggify: Buggify,
  ids: readonly string[],
  flags: FaultFlags,
): Buggify {
  const { containerName } = flags;
  const all = buggify.crashLoopContainers ?? [];
  const own = all.find((each) => each.containerName === containerName);
  const targets = changedList(own?.targets ?? [], ids, flags);
  const others = all.filter((each) => each.containerName !== containerName);
  const list = targets.length === 0 ? others : [...others, { containerName, targets }];
  return withList(buggify, "crashLoopContainers", list);
}

function changedList(
  list: readonly string[],
  ids: readonly string[],
  { clear, clean }: FaultFlags,
): string[] {
  if (clean === true) return [];
  if (clear === true) return list.filter((id) => !ids.includes(id));
  return [...new Set([...list, ...ids])].toSorted();
}

/** An empty list is none. */
function withList<K extends keyof Buggify>(
  buggify: Buggify,
  key: K,
  list: Buggify[K] & unknown[],
): Buggify {
  const { [key]: _before, ...rest } = buggify;
  return list.length === 0 ? rest : { ...rest, [key]: list };
}

export async function runFault(
  session: Session,
  flags: FaultFlags,
  names: readonly string[],
  fault: "crash-loop" | "no-schedule",
): Promise<void> {
  const change = fault === "crash-loop" ? withCrashLoop : withNoSchedule;
  if (flags.clear === true && flags.clean === true) {
    throw new UsageError("--clear takes the named ones back, --clean all: give one of them");
  }
  if (flags.clean === true) {
    const { fdbCluster } = flags;
    if (fdbCluster === undefined) throw new UsageError("--clean needs a cluster: add -c NAME");
    if (names.length > 0) throw new UsageError("--clean takes all back: give no names");
    return write(session, fdbCluster, flags, `Take every ${fault} back from`, (buggify) =>
      change(buggify, [], flags),
    );
  }
  for (const { cluster, ids } of await readSelection(session, flags, names)) {
    const verb = flags.clear === true ? `Take the ${fault} back from` : `Set a ${fault} for`;
    const text = `${verb} ${ids.join(", ")} of`;
    await write(session, cluster.metadata.name ?? "", flags, text, (buggify) =>
      change(buggify, ids, flags),
    );
  }
}

export async function runEmptyMonitorConf(
  session: Session,
  flags: WriteFlags & { fdbCluster: string; setValue: boolean },
): Promise<void> {
  const { fdbCluster, setValue } = flags;
  const text = setValue
    ? "Take the configuration of the processes away, so that every process stops: the database goes down. Of"
    : "Give the processes their configuration back, of";
  await write(session, fdbCluster, flags, text, (buggify, spec) => {
    if (setValue && imageTypeOf(spec) === "unified") {
      throw new CommandError(
        `${fdbCluster} runs the unified image, on which this has no effect: buggify crash-loop stops its processes; nothing was changed`,
      );
    }
    return { ...buggify, emptyMonitorConf: setValue };
  });
}

async function write(
  session: Session,
  name: string,
  flags: WriteFlags,
  text: string,
  change: (buggify: Buggify, spec: ClusterSpec) => Buggify,
): Promise<void> {
  const place = `${session.namespace}/${name}`;
  const isChanged = await changeCluster(
    session,
    {
      ...{ name, text: `${text} ${place}` },
      change: ({ spec }) => withBuggify(spec, change(spec.buggify ?? {}, spec)),
    },
    flags,
  );
  if (!isChanged) throw new CommandError(`${place} is so already; nothing was changed`);
  session.out.write(
    `${place}: spec.buggify ${flags.dryRun === true ? "would be" : "is"} changed\n`,
  );
}

function withBuggify(spec: ClusterSpec, buggify: Buggify): ClusterSpec {
  const { buggify: _before, ...rest } = spec;
  const isOff = Object.values(buggify).every((value) => value === false);
  if (Object.keys(buggify).length > 0 && !(isOff && spec.buggify === undefined)) {
    return { ...rest, buggify };
  }
  return rest;
}
