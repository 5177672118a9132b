// Events of a watch that are held back until a promise says go, and then arrive in their order.
import type { KubeRequest, KubeTransport, WatchEvent } from "../../kube/transport.ts";

/** `held` is asked for each event: what to wait for, undefined when it may pass. */
export async function inOrder(
  transport: KubeTransport,
  request: KubeRequest,
  onEvent: (event: WatchEvent) => void,
  held: () => Promise<void> | undefined,
): Promise<void> {
  const isOpen = (): boolean => request.signal?.aborted !== true;
  const queue: WatchEvent[] = [];
  let isDraining = false;
  const drain = async (): Promise<void> => {
    isDraining = true;
    for (let wait = held(); queue.length > 0; wait = held()) {
      await wait;
      if (wait !== undefined) continue;
      const event = queue.shift();
      if (event !== undefined && isOpen()) onEvent(event);
    }
    isDraining = false;
  };
  await transport.watch(request, (event) => {
    if (!isDraining && held() === undefined) return onEvent(event);
    queue.push(event);
    if (!isDraining) void drain();
  });
}
