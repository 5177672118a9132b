// `kubectl fdb plan`. Rules: spec/plugin.md [VW13].
import { readExplainInput } from "../explain/read.ts";
import type { OutputForm } from "../flags.ts";
import { print } from "../print.ts";
import type { Session } from "../session.ts";
import { planText } from "./plan-text.ts";
import { planPage } from "./plan-view.ts";

export async function runPlan(
  session: Session,
  { output }: { output: OutputForm },
  name: string,
): Promise<void> {
  const { client, namespace, server } = session;
  const input = await readExplainInput(client, { namespace, name }, server);
  const page = planPage(input, session.serverNowMs());
  print(session, output, page, () => planText(page, session.out));
}
