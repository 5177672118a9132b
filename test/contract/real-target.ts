// Contract targets on a real control plane: each case gets a fresh namespace of the same server.
import { machineClock, sleep } from "../../src/env/clock.ts";
import type { HttpsTransport } from "../../src/kube/https.ts";
import type { ControlPlane } from "../control-plane.ts";
import type { MakeTarget } from "./run-cases.ts";
import { Target } from "./target.ts";
import type { TargetBase } from "./target.ts";

const clock = machineClock();

export function realTargets(
  controlPlane: ControlPlane,
  transport: HttpsTransport,
  namespacePrefix = "case",
): MakeTarget {
  const base: Omit<TargetBase, "pausesMax"> = {
    kind: "real",
    transport,
    pods: transport.pods,
    pause: () => sleep(clock, 50),
    compact: () => controlPlane.compact(),
    end: async () => {},
  };
  return async (index, contractCase) => {
    // The real garbage collector looks for new kinds every 30 s only.
    const pausesMax = contractCase.needs === "controller-manager" ? 2400 : 600;
    const target = new Target({ ...base, pausesMax }, `${namespacePrefix}-${index}`);
    await target.createNamespace();
    if (controlPlane.has("kube-controller-manager")) {
      // Pods are forbidden until their namespace has this account.
      const path = target.path("serviceaccounts", "default");
      await target.eventually("the default account", async () => {
        const response = await target.send("GET", path);
        return response.status === 200 ? true : undefined;
      });
    }
    return target;
  };
}
