// Runs contract cases on a real control plane. The scheduler starts after the other cases, since it would
// touch their pods; its own cases run one by one, since each counts the nodes that it sees.
import { httpsTransport } from "../../src/kube/https.ts";
import type { ControlPlane } from "../control-plane.ts";
import type { ContractCase, Need } from "./case.ts";
import { realTargets } from "./real-target.ts";
import { runCases } from "./run-cases.ts";
import type { CaseResult, MakeTarget } from "./run-cases.ts";
import { clearCluster } from "./scheduling.ts";
import type { Target } from "./target.ts";

const parallelMax = 8;

export interface RealRun {
  readonly results: readonly CaseResult[];
  /** Cases that need a part which this control plane does not have. */
  readonly skipped: readonly ContractCase[];
}

export async function runOnControlPlane(
  controlPlane: ControlPlane,
  cases: readonly ContractCase[],
  namespacePrefix = "case",
): Promise<RealRun> {
  const transport = httpsTransport(
    {
      server: controlPlane.url,
      certificateAuthority: controlPlane.caPem,
      token: controlPlane.token("admin"),
    },
    { maxSockets: 100 },
  );
  const makeTarget = realTargets(controlPlane, transport, namespacePrefix);
  const isPossible = (need: Need): boolean => {
    const hasControllers = controlPlane.has("kube-controller-manager");
    if (need === "nothing") return true;
    return hasControllers && (need !== "scheduler" || controlPlane.has("kube-scheduler"));
  };
  const possible = cases.filter((each) => isPossible(each.needs));
  // The slowest cases wait for controllers, so these come first.
  const ordinary = [
    ...possible.filter((each) => each.needs === "controller-manager"),
    ...possible.filter((each) => each.needs === "nothing"),
  ];
  const results = await runCases(ordinary, makeTarget, parallelMax);
  const scheduling = possible.filter((each) => each.needs === "scheduler");
  if (scheduling.length > 0) {
    const makeNext: MakeTarget = async (index, each) => {
      const target = await makeTarget(cases.length + index, each);
      if (index === 0) {
        await clearCluster(target);
        await controlPlane.startScheduler();
      }
      return target;
    };
    const clean = scheduling.map((each) => ({
      ...each,
      run: async (target: Target) => {
        try {
          await each.run(target);
        } finally {
          await clearCluster(target);
        }
      },
    }));
    results.push(...(await runCases(clean, makeNext, 1)));
  }
  transport.close();
  return { results, skipped: cases.filter((each) => !isPossible(each.needs)) };
}
