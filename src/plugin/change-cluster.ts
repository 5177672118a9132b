// Changes the spec of a cluster as a person wants it: shows the difference, asks, and writes only onto what was shown. When
// somebody else was quicker, the change is made again on what they wrote. Rules: spec/plugin.md [PL30]-[PL32].
import { foundationDbClusters } from "../api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../api/cluster.ts";
import { CommandError } from "../env/command-error.ts";
import { isKubeError } from "../kube/error.ts";
import type { Stored } from "../kube/resource.ts";
import { showDifference } from "./difference.ts";
import type { WriteFlags } from "./flags.ts";
import { mergePatchOf } from "./merge-patch.ts";
import { confirm } from "./prompt.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

/** The wanted spec. */
export type Change = (cluster: Stored<FoundationDBCluster>) => ClusterSpec;

export interface ChangeRequest {
  readonly name: string;
  readonly change: Change;
  /** Asks; agreed to when it resolves. Without it the question is `text`. */
  readonly agree?: (cluster: Stored<FoundationDBCluster>) => Promise<void>;
  readonly text: string;
}

const attemptsMax = 5;

/** Whether something was (or with --dry-run would be) written. */
export async function changeCluster(
  session: Session,
  { name, change, agree, text }: ChangeRequest,
  flags: WriteFlags,
): Promise<boolean> {
  let agreedTo: string | undefined;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const cluster = await readCluster(session, name);
    if (cluster.metadata.deletionTimestamp !== undefined) {
      throw new CommandError(`${name} is being deleted; nothing was changed`);
    }
    const wanted = change(cluster);
    const patch = mergePatchOf(cluster.spec, wanted);
    if (patch === undefined) return false;
    const difference = JSON.stringify(patch);
    if (difference !== agreedTo) {
      if (agreedTo !== undefined) session.out.note("Somebody else has changed it meanwhile.\n");
      showDifference(session, `${session.namespace}/${name}`, cluster.spec, wanted);
      await (agree?.(cluster) ?? confirm(session, text, flags));
      agreedTo = difference;
    }
    try {
      const { resourceVersion } = cluster.metadata;
      const body = { metadata: { resourceVersion }, spec: patch };
      const key = { namespace: session.namespace, name };
      const dryRun = flags.dryRun === true;
      await session.client.patch(foundationDbClusters, key, body, { type: "merge", dryRun });
      return true;
    } catch (error) {
      if (!isKubeError(error, "Conflict")) throw error;
    }
  }
  throw new CommandError(
    `${name} was changed by others ${attemptsMax} times while this was tried; try again`,
  );
}
