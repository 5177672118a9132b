// `kubectl fdb remove process-groups`: through the resource, so that the operator decides what is safe and when.
// Rules: spec/plugin.md [PL40]-[PL43].
import type { WriteFlags } from "./flags.ts";
import { changeCluster } from "./change-cluster.ts";
import { confirmByName } from "./prompt.ts";
import { readSelection } from "./read-selection.ts";
import { lossText, removalOf } from "./removal.ts";
import type { SelectionFlags } from "./selection.ts";
import type { Session } from "./session.ts";

export interface RemovalFlags extends WriteFlags {
  exclusion: boolean;
  confirm?: string;
}

export async function runRemove(
  session: Session,
  flags: SelectionFlags & RemovalFlags,
  names: readonly string[],
): Promise<void> {
  let count = 0;
  for (const { cluster, ids } of await readSelection(session, flags, names)) {
    count += await removeGroups(session, cluster.metadata.name ?? "", ids, flags);
  }
  const verb = flags.dryRun === true ? "Would remove" : "Asked the operator to remove";
  session.out.write(`${verb} ${count} process group${count === 1 ? "" : "s"}.\n`);
}

/** How many are new on the list. */
export async function removeGroups(
  session: Session,
  name: string,
  asked: readonly string[],
  flags: RemovalFlags,
): Promise<number> {
  const { out } = session;
  let ids: readonly string[] = [];
  const place = `${session.namespace}/${name}`;
  const text = `Remove ${asked.join(", ")} from ${place}, data moved away first`;
  const change = {
    ...{ name, text },
    change: (cluster: Parameters<typeof removalOf>[0]) => {
      const removal = removalOf(cluster, asked, flags.exclusion);
      ids = removal.ids;
      return removal.spec;
    },
    ...(flags.exclusion
      ? {}
      : {
          agree: (cluster: Parameters<typeof lossText>[0]) => {
            const loss = lossText(cluster, asked).map((line) => `  ${line}\n`);
            out.note(
              `Remove ${asked.join(", ")} from ${place} WITHOUT exclusion:\n${loss.join("")}`,
            );
            return confirmByName(session, "This cannot be taken back.", name, {
              ...flags,
              ...(flags.confirm === undefined ? {} : { name: flags.confirm }),
              flag: "--confirm",
            });
          },
        }),
  };
  const isChanged = await changeCluster(session, change, flags);
  const left = asked.filter((id) => !ids.includes(id));
  if (left.length > 0) out.write(`${place}: on its way already: ${left.join(", ")}\n`);
  if (!isChanged || ids.length === 0) return 0;
  const how = flags.exclusion ? "with exclusion" : "without exclusion";
  out.write(
    `${place}: ${flags.dryRun === true ? "would remove" : "removes"} ${ids.join(", ")} ${how}\n`,
  );
  return ids.length;
}
