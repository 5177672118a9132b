// What the nodes offer to whoever wants into a pod: commands beside a container's program, its output as it comes, and
// connections to its ports. Rules: spec/streams.md [WS10] [WS17] [WS18].
import type { RunningCommand } from "../pod/container-command.ts";
import type { PodNetwork } from "../pod/network.ts";
import type { ContainerRunner } from "./kubelet-container.ts";
import type { LogLine } from "./kubelet-log-ring.ts";
import type { PodWorker } from "./kubelet-pod.ts";
import { openPort } from "./port-connection.ts";
import type { PortConnection, PortListener } from "./port-connection.ts";

export interface ContainerPlace {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** Why the node cannot do it, in the words of a kubelet. */
export interface StreamProblem {
  readonly problem: string;
}

export interface AskedCommand {
  readonly words: readonly string[];
  readonly hasTerminal: boolean;
  /** No more is written until what it returns is done. */
  write(stream: "stdout" | "stderr", bytes: Uint8Array): void | Promise<void>;
}

export interface FollowedLog {
  /** Lines that are there already. */
  readonly lines: readonly LogLine[];
  stop(): void;
}

/** The door of the nodes for the API server. */
export interface NodeStreams {
  exec(place: ContainerPlace, asked: AskedCommand): RunningCommand | StreamProblem;
  /**
   * The lines of the present run and those to come, until the container ends; for one that has ended only those that are
   * there. Undefined when there is no such container, or it has not run.
   */
  followLog(
    place: ContainerPlace,
    onLine: (line: LogLine) => void,
    onEnd: () => void,
  ): FollowedLog | undefined;
  openPort(
    namespace: string,
    pod: string,
    port: number,
    listener: PortListener,
  ): PortConnection | StreamProblem;
  /** Calls back when the pod's containers have all ended or its node is gone; returns what forgets it. */
  onPodEnd(namespace: string, pod: string, ended: () => void): () => void;
}

export function kubeletStreams(
  find: (namespace: string, pod: string) => PodWorker | undefined,
  network: PodNetwork,
): NodeStreams {
  const reach = ({
    namespace,
    pod,
  }: Pick<ContainerPlace, "namespace" | "pod">): { worker: PodWorker } | StreamProblem => {
    const worker = find(namespace, pod);
    if (worker === undefined) return { problem: `pod "${pod}" not found on its node` };
    if (worker.node.isConnected) return { worker };
    return { problem: `error dialing backend: dial tcp ${worker.node.ip}:10250: i/o timeout` };
  };
  return {
    exec(place, asked) {
      const reached = reach(place);
      if ("problem" in reached) return reached;
      const runner = reached.worker.container(place.container);
      const absent = `unable to upgrade connection: container not found ("${place.container}")`;
      return runner?.exec(asked) ?? { problem: absent };
    },
    followLog(place, onLine, onEnd) {
      const reached = reach(place);
      const runner = "problem" in reached ? undefined : reached.worker.container(place.container);
      return runner === undefined ? undefined : follow(runner, onLine, onEnd);
    },
    openPort(namespace, pod, port, listener) {
      const reached = reach({ namespace, pod });
      if ("problem" in reached) return reached;
      const [ip] = reached.worker.ips;
      if (ip === undefined) return { problem: `pod "${pod}" has no address yet` };
      return openPort({ ip, port, network }, listener);
    },
    onPodEnd(namespace, pod, ended) {
      return find(namespace, pod)?.onEnd(ended) ?? (() => {});
    },
  };
}

function follow(
  runner: ContainerRunner,
  onLine: (line: LogLine) => void,
  onEnd: () => void,
): FollowedLog | undefined {
  const lines = runner.logs.lines();
  if (!runner.isRunning) {
    if (runner.exitCode === undefined && lines.length === 0) return undefined;
    // Nothing comes any more; whoever asked gets the lines first.
    queueMicrotask(onEnd);
    return { lines, stop: () => {} };
  }
  const forgetLines = runner.logs.onLine(onLine);
  const forgetEnd = runner.onEnd(() => {
    forgetLines();
    onEnd();
  });
  const stop = (): void => {
    forgetLines();
    forgetEnd();
  };
  return { lines, stop };
}
