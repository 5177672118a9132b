// A whole picture around the status of a real FoundationDB, of which only the status was captured: the operator builds the
// cluster in a world, with as many processes of each class, and the real status is put in the place of the simulated one.
// What the operator decides (addresses, places, coordinators, counts of roles) is taken from the world; all else is what
// the real database said. For tests.
import { strict as assert } from "node:assert";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { Picture } from "../../src/preview/picture.ts";

type Processes = Readonly<Record<string, StatusProcess>>;

export function pictureWithStatus(picture: Picture, captured: DatabaseStatus): Picture {
  const world = picture.databaseStatus as DatabaseStatus;
  const own = Object.values(world.cluster?.processes ?? {});
  const pairs = pairsOf(captured.cluster?.processes ?? {}, own, placeNames(captured, world));
  const moved = withAddresses(captured, pairs);
  const processes = Object.fromEntries(
    pairs.map(([id, there, here]) => [
      id,
      processAt(id, moved.cluster?.processes?.[id] ?? there, here),
    ]),
  );
  const { cluster } = moved;
  const databaseStatus: DatabaseStatus = {
    ...moved,
    client: { ...moved.client, coordinators: world.client?.coordinators } as never,
    cluster: {
      ...cluster,
      processes,
      configuration: { ...cluster?.configuration, ...world.cluster?.configuration },
      connection_string: world.cluster?.connection_string ?? "",
    },
  };
  return { ...picture, databaseStatus };
}

type Pair = readonly [id: string, there: StatusProcess, here: StatusProcess];

/** A hall, or a datacenter; in one place neither matters. */
function placeOf({ locality }: StatusProcess): string | undefined {
  return locality?.["data_hall"] ?? locality?.["dcid"];
}

/** Each real process stands for one of the same class, in the same hall or datacenter where there are such. */
function pairsOf(
  captured: Processes,
  own: readonly StatusProcess[],
  nameOf: (place: string | undefined) => string | undefined,
): Pair[] {
  const free = [...own];
  return Object.entries(captured)
    .toSorted(([, left], [, right]) => ((left.address ?? "") < (right.address ?? "") ? -1 : 1))
    .map(([id, there]) => {
      const place = nameOf(placeOf(there));
      const at = free.findIndex(
        (here) =>
          here.class_type === there.class_type && (place === undefined || placeOf(here) === place),
      );
      const [here] = at < 0 ? [] : free.splice(at, 1);
      assert.ok(here, `no ${there.class_type} in ${place} for ${there.address}`);
      return [id, there, here] as const;
    });
}

/** The places of both in the order of how many processes they have, so that those of one size meet. */
function placeNames(
  captured: DatabaseStatus,
  world: DatabaseStatus,
): (place: string | undefined) => string | undefined {
  const places = ({ cluster }: DatabaseStatus): string[] => {
    const counts = new Map<string, number>();
    for (const process of Object.values(cluster?.processes ?? {})) {
      const place = placeOf(process);
      if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    return [...counts]
      .toSorted(([left, many], [right, more]) => more - many || (left < right ? -1 : 1))
      .map(([place]) => place);
  };
  const [there, here] = [places(captured), places(world)];
  return (place) => (place === undefined ? undefined : here[there.indexOf(place)]);
}

function withAddresses(captured: DatabaseStatus, pairs: readonly Pair[]): DatabaseStatus {
  let text = JSON.stringify(captured);
  for (const [, there, here] of pairs) {
    text = text.replaceAll(`"${there.address}"`, `"${here.address}"`);
  }
  return JSON.parse(text) as DatabaseStatus;
}

function processAt(id: string, there: StatusProcess, here: StatusProcess): StatusProcess {
  const isCoordinator = (here.roles ?? []).some(({ role }) => role === "coordinator");
  const roles = (there.roles ?? []).filter(({ role }) => role !== "coordinator");
  return {
    ...there,
    address: here.address,
    class_source: here.class_source,
    command_line: here.command_line,
    fault_domain: here.fault_domain,
    machine_id: here.machine_id,
    locality: { ...here.locality, processid: id },
    version: here.version,
    roles: isCoordinator ? [{ role: "coordinator" }, ...roles] : roles,
  } as StatusProcess;
}
