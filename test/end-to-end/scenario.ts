// What every end-to-end scenario gets: a real control plane of its own, a client with all rights, and patience.
import { KubeClient } from "../../src/kube/client.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { startControlPlane } from "../control-plane.ts";
import { eventually } from "../eventually.ts";
import type { ControlPlane, ControlPlaneOptions } from "../control-plane.ts";

export interface EndToEnd {
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
  readonly run: (world: EndToEnd) => Promise<void>;
}

export interface Opened {
  readonly world: EndToEnd;
  /** Ends all programs and the control plane. */
  readonly end: () => Promise<void>;
}

export async function openWorld(
  say: (line: string) => void,
  options: Pick<ControlPlaneOptions, "audits"> = {},
): Promise<Opened> {
  const controlPlane = await startControlPlane({ withControllerManager: true, say, ...options });
  const endings: (() => void)[] = [];
  const atEnd = (act: () => void): void => void endings.push(act);
  const { url: server, caPem: certificateAuthority } = controlPlane;
  const token = controlPlane.token("admin");
  const transport = httpsTransport({ server, certificateAuthority, token }, { maxSockets: 20 });
  atEnd(() => transport.close());
  const client = new KubeClient(transport, { userAgent: "person" });
  return {
    world: { controlPlane, client, transport, say, eventually, atEnd },
    end: async () => {
      for (const act of endings.toReversed()) act();
      await controlPlane.stop();
    },
  };
}

export async function runScenario(scenario: Scenario, say: (line: string) => void): Promise<void> {
  const { world, end } = await openWorld(say, { audits: true });
  try {
    await scenario.run(world);
  } finally {
    await end();
  }
}
