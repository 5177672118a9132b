// `kubectl fdb top`. Rules: spec/plugin.md [VW7], [VW8].
import { CommandError } from "../../env/command-error.ts";
import { formatTime } from "../../kube/time.ts";
import { readDatabase } from "../database/read-database.ts";
import type { OutputForm } from "../flags.ts";
import { formatted } from "../print.ts";
import { redrawn } from "../redraw.ts";
import type { Session } from "../session.ts";
import { topLines } from "./top-text.ts";
import { topView } from "./top-view.ts";
import type { SortKey, TopView } from "./top-view.ts";

export interface TopFlags {
  output: OutputForm;
  sort: SortKey;
  class?: string;
  interval: number;
  once?: boolean;
}

export async function runTop(session: Session, flags: TopFlags, name: string): Promise<void> {
  const { out, namespace } = session;
  const read = async (): Promise<TopView> => {
    const { answer } = await readDatabase(session, name);
    if (answer.kind === "silent") {
      throw new CommandError(
        `the database of ${name} cannot be asked: ${answer.why} (kubectl fdb explain ${name} says how the cluster is)`,
      );
    }
    const choice = flags.class === undefined ? {} : { processClass: flags.class };
    return topView(answer.status, { sort: flags.sort, ...choice });
  };
  const linesOf = (view: TopView, heightMax?: number): string[] => {
    const asOf = formatTime(session.serverNowMs());
    const room = heightMax === undefined ? {} : { heightMax };
    return topLines(view, { title: `${namespace}/${name}`, asOf, ...room }, out);
  };
  const isOnce = flags.once === true || flags.output !== "text" || !out.isTerminal;
  if (isOnce) {
    const view = await read();
    out.write(formatted(flags.output, view, () => `${linesOf(view).join("\n")}\n`));
    return;
  }
  // The first picture may fail; later ones say why there is none, since whoever watches wants to see it come back.
  let view = await read();
  let isFirst = true;
  await redrawn(session, flags.interval, async () => {
    if (isFirst) {
      isFirst = false;
      return { lines: linesOf(view, out.height - 1), key: "" };
    }
    try {
      view = await read();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return { lines: [...linesOf(view, out.height - 2), error.message], key: "" };
    }
    return { lines: linesOf(view, out.height - 1), key: "" };
  });
}
