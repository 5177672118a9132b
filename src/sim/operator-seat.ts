// The place of an operator in a world: one runs at a time, and each draws its own chances, as a new process would. Seats
// that share a Lease are instances of one operator, of which one works.
import type { EmulatedPodNetwork } from "../emulator/pod-network.ts";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import type { AdminClientFactory } from "../fdb/admin.ts";
import { KubeClient } from "../kube/client.ts";
import type { RequestRecord } from "../kube/client.ts";
import { LeaderElector } from "../kube/lease.ts";
import type { KubeTransport } from "../kube/transport.ts";
import type { Activity } from "../operate/activity.ts";
import type { PodNetwork } from "../pod/network.ts";
import { runTerms } from "../operate/terms.ts";
import type { Operator, OperatorInput, OperatorOptions } from "../operate/operator.ts";

export interface OperatorSeatOptions {
  operator?: OperatorOptions;
  /** Only the operator goes by it; the clock of the world when absent. */
  operatorClock?: Clock;
  /** Stands between the operator and the API server; called at each start of an operator. */
  wrapTransport?: (transport: KubeTransport) => KubeTransport;
  /** Stands between the operator and the database. */
  wrapAdmin?: (admin: AdminClientFactory) => AdminClientFactory;
  /** Stands between the operator and its pods. */
  wrapNetwork?: (network: PodNetwork) => PodNetwork;
  onActivity?: (activity: Activity) => void;
  onRequest?: (record: RequestRecord) => void;
  /** The name of this instance, where a Lease decides which of several works. */
  instance?: string;
  /** All of them when absent. */
  checks?: OperatorInput["checks"];
  /** What runs in the place of the operator of this number, counted from one: another version of it. */
  programOf?: (number: number) => typeof runTerms;
  stopwatch?: OperatorInput["stopwatch"];
}

export interface OperatorSurroundings {
  clock: Clock;
  network: EmulatedPodNetwork;
  admin: AdminClientFactory;
  log: Log;
  /** Of the operator of this number, counted from one. */
  random: (number: number) => Random;
  transport: () => KubeTransport;
  noteAction: (text: string, error: string | undefined) => void;
}

export interface OperatorSeat {
  /** The operator that runs, or ran last. */
  latest(): Operator;
  start(): Operator;
  /** Tells the operator to stop and waits until it has. */
  stop(): Promise<void>;
}

/** Where operators of worlds run, so that policies for the network know it. */
export const seatNamespace = "fdb-operator";

function optionsOf({ operator }: OperatorSeatOptions): OperatorOptions {
  return { ...operator, plan: { operatorNamespace: seatNamespace, ...operator?.plan } };
}

export function operatorSeat(
  options: OperatorSeatOptions,
  around: OperatorSurroundings,
): OperatorSeat {
  let number = 0;
  let ending = new AbortController();
  let operator: Operator | undefined;
  let stopped: Promise<void> = Promise.resolve();
  const latest = (): Operator => {
    if (operator === undefined) throw new Error("no operator has been started");
    return operator;
  };
  const start = (): Operator => {
    number += 1;
    ending = new AbortController();
    const served = around.transport();
    const transport = options.wrapTransport?.(served) ?? served;
    const clock = options.operatorClock ?? around.clock;
    const random = around.random(number);
    const { signal } = ending;
    const input: Omit<OperatorInput, "signal"> = {
      transport,
      admin: options.wrapAdmin?.(around.admin) ?? around.admin,
      podNetwork: options.wrapNetwork?.(around.network) ?? around.network,
      ...{ clock, random, log: around.log, options: optionsOf(options) },
      onRequest: options.onRequest,
      checks: options.checks,
      stopwatch: options.stopwatch,
      onActivity(activity) {
        if (activity.type === "action") around.noteAction(activity.text, activity.error);
        options.onActivity?.(activity);
      },
    };
    const elector =
      options.instance === undefined
        ? undefined
        : new LeaderElector({
            ...{ client: new KubeClient(transport, { userAgent: "fdb-operator" }), clock, random },
            ...{ log: around.log, lease: { namespace: "default" } },
            identity: `${options.instance}-${number}`,
          });
    // Each term begins with an operator that knows nothing; the first is there at once.
    const onOperator = (started: Operator): void => {
      operator = started;
    };
    const program = options.programOf?.(number) ?? runTerms;
    stopped = program({ ...{ operator: input, elector, log: around.log, signal }, onOperator });
    return latest();
  };
  const stop = async (): Promise<void> => {
    ending.abort();
    await stopped;
  };
  return { latest, start, stop };
}
