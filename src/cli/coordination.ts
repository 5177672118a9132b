// `coordination show` and `coordination clear`, of `fdb-operator` and `kubectl fdb`: asks the operator of a cluster by an
// annotation and waits for its answer, so that it works wherever kubectl works. Rules: spec/coordination.md [CO54]-[CO58].
import { foundationDbClusters } from "../api/cluster.ts";
import { answerAnnotation, parseAnswer, requestAnnotation } from "../api/coordination-request.ts";
import type { CoordinationAnswer, CoordinationRequest } from "../api/coordination-request.ts";
import { sleep } from "../env/clock.ts";
import type { Clock } from "../env/clock.ts";
import { CommandError } from "../env/command-error.ts";
import { machineRandom, randomUuid } from "../env/random.ts";
import type { KubeClient } from "../kube/client.ts";
import { readNamed } from "../plugin/read-named.ts";
import type { Session } from "../plugin/session.ts";

export interface CoordinationOptions {
  output: "text" | "json";
  prefix?: string;
  abandoned?: boolean;
}

const answerMs = 30_000;

export async function runCoordination(
  { client, clock, namespace, server, out }: Session,
  verb: CoordinationRequest["verb"],
  name: string,
  options: CoordinationOptions,
): Promise<void> {
  const { prefix, abandoned } = options;
  const request = {
    ...{ id: randomUuid(machineRandom()), verb },
    ...(prefix === undefined ? {} : { prefix }),
    ...(abandoned === true ? { isAbandoned: true } : {}),
  };
  await readNamed(client, foundationDbClusters, { namespace, name }, server);
  const answer = await askOperator(client, clock, { name, namespace }, request);
  if (answer.problem !== undefined) throw new CommandError(refusalText(answer, answer.problem));
  out.write(answerText(verb, answer, options));
}

/** Leaves no trace on the resource, whether somebody answers or not. */
export async function askOperator(
  client: KubeClient,
  clock: Clock,
  key: { namespace: string; name: string },
  request: CoordinationRequest,
): Promise<CoordinationAnswer> {
  const annotate = async (annotations: Record<string, string | null>): Promise<void> => {
    await client.patch(foundationDbClusters, key, { metadata: { annotations } }, { type: "merge" });
  };
  const beganMs = clock.nowMs();
  await annotate({ [requestAnnotation]: JSON.stringify(request) });
  try {
    while (clock.nowMs() - beganMs < answerMs) {
      await sleep(clock, 200);
      const { metadata } = await client.get(foundationDbClusters, key);
      const answer = parseAnswer(metadata.annotations?.[answerAnnotation]);
      if (answer?.id === request.id) return answer;
    }
  } finally {
    await annotate({ [requestAnnotation]: null, [answerAnnotation]: null });
  }
  throw new CommandError(
    "no answer within 30 s: is an operator running that looks after this cluster, and is spec.skip off?",
  );
}

/** With what would have been taken out. */
export function refusalText({ entries, leftOut }: CoordinationAnswer, problem: string): string {
  const more = leftOut === 0 ? [] : [`and ${leftOut} more`];
  return [`nothing is changed: ${problem}`, ...entries.map((entry) => `  ${entry}`), ...more].join(
    "\n",
  );
}

export function answerText(
  verb: CoordinationRequest["verb"],
  { entries, leftOut }: CoordinationAnswer,
  { output, prefix = "" }: Pick<CoordinationOptions, "output" | "prefix">,
): string {
  if (output === "json") return `${JSON.stringify({ entries, leftOut }, null, 2)}\n`;
  const more = leftOut === 0 ? [] : [`and ${leftOut} more`];
  if (verb === "clear") {
    const head = `Took ${entries.length + leftOut} entries of ${prefix === "" ? "the empty prefix" : prefix} out of the coordination sets.`;
    return `${[head, ...entries.map((entry) => `  ${entry}`), ...more].join("\n")}\n`;
  }
  if (entries.length === 0) return "The coordination sets are empty.\n";
  return `${[...entries, ...more].join("\n")}\n`;
}
