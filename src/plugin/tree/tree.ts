// `kubectl fdb tree`. Rules: spec/plugin.md [VW9], [VW10].
import { isKubeError } from "../../kube/error.ts";
import type { Node } from "../../kube/generated/types.ts";
import { nodes } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import { readDatabase } from "../database/read-database.ts";
import type { OutputForm } from "../flags.ts";
import { print } from "../print.ts";
import type { Session } from "../session.ts";
import { treeLines } from "./tree-text.ts";
import { treeView } from "./tree-view.ts";

export async function runTree(
  session: Session,
  { output }: { output: OutputForm },
  name: string,
): Promise<void> {
  const { cluster, pods, answer } = await readDatabase(session, name);
  const known = await readNodes(session);
  const view = treeView(
    { cluster, pods, ...(answer.kind === "answered" ? { status: answer.status } : {}) },
    {
      ...(answer.kind === "silent" ? { silent: answer.why } : {}),
      ...(known === undefined ? {} : { nodes: known }),
    },
  );
  print(session, output, view, () => `${treeLines(view, session.out).join("\n")}\n`);
}

/** Many people may not look at nodes; their names are in the pods. */
async function readNodes({ client }: Session): Promise<readonly Stored<Node>[] | undefined> {
  try {
    return (await client.listAll(nodes)).items;
  } catch (error) {
    if (isKubeError(error)) return undefined;
    throw error;
  }
}
