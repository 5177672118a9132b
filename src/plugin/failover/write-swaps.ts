// Writes the swapped priorities into all resources: each write is tried before the first one is made, so that only chance
// can stop it half-way, and then it is said how to go on. Rules: spec/failover.md [FO6].
import { foundationDbClusters } from "../../api/cluster.ts";
import { CommandError } from "../../env/command-error.ts";
import { isKubeError } from "../../kube/error.ts";
import { mergePatchOf } from "../merge-patch.ts";
import { memberName, swapped } from "./members.ts";
import type { Member } from "./members.ts";

const attemptsMax = 5;

export async function writeSwaps(
  members: readonly Member[],
  to: string,
  from: string,
  isDryRun: boolean,
): Promise<void> {
  for (const member of members) await write(member, to, true).catch(failing([], member, to, from));
  if (isDryRun) return;
  const done: Member[] = [];
  for (const member of members) {
    await write(member, to, false).catch(failing(done, member, to, from));
    done.push(member);
  }
}

/** A status that was written meanwhile changes nothing; a spec that was is not the one that was looked at. */
async function write(member: Member, to: string, dryRun: boolean): Promise<void> {
  const { client } = member.session;
  const { namespace = "", name = "" } = member.cluster.metadata;
  let { cluster } = member;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const patch = mergePatchOf(cluster.spec, swapped({ cluster }, to));
    if (patch === undefined) return;
    const { resourceVersion } = cluster.metadata;
    const body = { metadata: { resourceVersion }, spec: patch };
    try {
      await client.patch(foundationDbClusters, { namespace, name }, body, {
        type: "merge",
        dryRun,
      });
      return;
    } catch (error) {
      if (!isKubeError(error, "Conflict")) throw error;
    }
    cluster = await client.get(foundationDbClusters, { namespace, name });
    mustBeAsSeen(member, cluster);
  }
  throw new CommandError(`it was changed by others ${attemptsMax} times while this was tried`);
}

function mustBeAsSeen({ cluster: seen }: Member, now: Member["cluster"]): void {
  const [before, after] = [seen.metadata, now.metadata];
  if (before.uid !== after.uid) throw new CommandError("it was deleted and made again meanwhile");
  if (after.deletionTimestamp !== undefined) throw new CommandError("it is being deleted");
  if (before.generation === after.generation) return;
  throw new CommandError(
    `somebody has edited it since it was looked at (generation ${before.generation ?? 0}, and ${after.generation ?? 0} now)`,
  );
}

function failing(done: readonly Member[], member: Member, to: string, from: string) {
  return (error: unknown): never => {
    if (!isKubeError(error) && !(error instanceof CommandError)) throw error;
    const isRefused = isKubeError(error, "Forbidden");
    const why = `${isRefused ? "not allowed: " : ""}${memberName(member)} cannot be written: ${error.message}`;
    if (done.length === 0) throw new CommandError(`${why}; nothing was changed`);
    throw new CommandError(
      `${why}. ${done.map(memberName).join(", ")} ${done.length === 1 ? "has" : "have"} ${to} first already: ` +
        `run the command again to finish, or with --to ${from} to take it back`,
    );
  };
}
