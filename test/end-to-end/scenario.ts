// What every end-to-end scenario gets: a real control plane of its own, a client with all rights, and patience.
import { KubeClient } from "../../src/kube/client.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { startControlPlane } from "../control-plane.ts";
import { eventually } from "../eventually.ts";
import type { ControlPlane, ControlPlaneOptions } from "../control-plane.ts";

export interface EndToEnd {
  /** Tells Kubernetes clusters of one scenario apart; empty when there is only one. */
  readonly name: string;
  readonly controlPlane: ControlPlane;
  /** Of a person with all rights. */
  readonly client: KubeClient;
  readonly transport: KubeTransport;
  readonly say: (line: string) => void;
  /** Asks until there is an answer; what is waited for is named when it never comes. */
  readonly eventually: <T>(what: string, ask: () => Promise<T | undefined>) => Promise<T>;
  /** Is done when the scenario has ended, however it did. */
  atEnd(act: () => void): void;
}

export interface Scenario {
  readonly title: string;
  /** Names of the Kubernetes clusters it needs; one without a name when absent. */
  readonly clusters?: readonly string[];
  readonly run: (world: EndToEnd, ...others: readonly EndToEnd[]) => Promise<void>;
}

export interface Opened {
  readonly world: EndToEnd;
  /** Ends all programs and the control plane. */
  readonly end: () => Promise<void>;
}

export async function openWorld(
  say: (line: string) => void,
  options: Pick<ControlPlaneOptions, "audits" | "addressBlock"> & { name?: string } = {},
): Promise<Opened> {
  const { name = "", ...others } = options;
  const controlPlane = await startControlPlane({ withControllerManager: true, say, ...others });
  const endings: (() => void)[] = [];
  const atEnd = (act: () => void): void => void endings.push(act);
  const { url: server, caPem: certificateAuthority } = controlPlane;
  const token = controlPlane.token("admin");
  const transport = httpsTransport({ server, certificateAuthority, token }, { maxSockets: 20 });
  atEnd(() => transport.close());
  const client = new KubeClient(transport, { userAgent: "person" });
  return {
    world: { name, controlPlane, client, transport, say, eventually, atEnd },
    end: async () => {
      for (const act of endings.toReversed()) act();
      await controlPlane.stop();
    },
  };
}

export async function runScenario(scenario: Scenario, say: (line: string) => void): Promise<void> {
  const opened: Opened[] = [];
  try {
    for (const [addressBlock, name] of (scenario.clusters ?? [""]).entries()) {
      opened.push(await openWorld(say, { audits: true, addressBlock, name }));
    }
    const [first, ...others] = opened.map(({ world }) => world);
    if (first === undefined) throw new Error("a scenario needs a Kubernetes cluster");
    await scenario.run(first, ...others);
  } finally {
    for (const { end } of opened.toReversed()) await end();
  }
}
