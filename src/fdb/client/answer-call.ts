// Carries out one call of the parent about one database in the client process.
import { FdbError } from "../error.ts";
import type { CallName, ChildCalls, ChildMessage, ChildRequest } from "./child-messages.ts";
import type { OpenTransactions } from "./open-transactions.ts";
import type { Operations } from "./operations.ts";
import type { StatusSender } from "./status-transfer.ts";

/** Everything about one database. */
export interface CallTools {
  readonly operations: Operations;
  readonly transactions: OpenTransactions;
  readonly statuses: StatusSender;
}

type Handlers = {
  readonly [Name in CallName]: (
    tools: CallTools,
    input: ChildCalls[Name]["input"],
    timeoutMs: number,
  ) => Promise<ChildCalls[Name]["output"]>;
};

const handlers: Handlers = {
  status: async ({ operations, statuses }, { known, mostBytes }, timeoutMs) => {
    const { status, bytes } = await operations.measuredStatus(timeoutMs, mostBytes);
    return status === undefined ? { type: "large", bytes } : statuses.answer(known, status, bytes);
  },
  connectionString: ({ operations }, _, timeoutMs) => operations.connectionString(timeoutMs),
  excluded: ({ operations }, _, timeoutMs) => operations.excluded(timeoutMs),
  exclusionsInProgress: ({ operations }, _, timeoutMs) =>
    operations.exclusionsInProgress(timeoutMs),
  configure: ({ operations }, { text }, timeoutMs) => done(operations.configure(text, timeoutMs)),
  exclude: ({ operations }, { targets, wait }, timeoutMs) =>
    done(operations.exclude(targets, wait, timeoutMs)),
  include: ({ operations }, { targets }, timeoutMs) => done(operations.include(targets, timeoutMs)),
  kill: ({ operations }, { addresses }, timeoutMs) => done(operations.kill(addresses, timeoutMs)),
  changeCoordinators: ({ operations }, { addresses }, timeoutMs) =>
    operations.changeCoordinators(addresses, timeoutMs),
  setMaintenanceZone: ({ operations }, { zone, seconds }, timeoutMs) =>
    done(operations.setMaintenanceZone(zone, seconds, timeoutMs)),
  resetMaintenanceZone: ({ operations }, _, timeoutMs) =>
    done(operations.resetMaintenanceZone(timeoutMs)),
  read: async ({ transactions }, input, timeoutMs) =>
    (await transactions.at(input, timeoutMs).read(input.read)) ?? null,
  commit: ({ transactions }, input, timeoutMs) => done(transactions.at(input, timeoutMs).commit()),
  onError: ({ transactions }, { transaction, code }) => {
    const found = transactions.find(transaction);
    if (found === undefined) throw new FdbError(code, `there is no transaction ${transaction}`);
    return done(found.onError(code));
  },
  ping: async () => ownMemory(),
};

export function ownMemory(): { rssBytes: number } {
  return { rssBytes: process.memoryUsage.rss() };
}

export async function answerCall(tools: CallTools, request: ChildRequest): Promise<ChildMessage> {
  const handle = handlers[request.name] as (
    tools: CallTools,
    input: unknown,
    timeoutMs: number,
  ) => Promise<unknown>;
  const output = await handle(tools, request.input, request.timeoutMs);
  return { type: "answer", id: request.id, output };
}

async function done(work: Promise<void>): Promise<null> {
  await work;
  return null;
}
