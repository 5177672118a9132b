// How much of the machines something takes: pods, CPU, memory, volume space. Pure. Rule PV5.
import type { PersistentVolumeClaim, Pod } from "../kube/generated/types.ts";
import { nanosOf } from "../model/quantity.ts";

export interface Amounts {
  readonly pods: number;
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly volumeBytes: number;
}

export const noAmounts: Amounts = { pods: 0, cpuMillis: 0, memoryBytes: 0, volumeBytes: 0 };

export function amountsOfPod({ spec }: Pod): Amounts {
  const sum = (name: "cpu" | "memory"): bigint =>
    (spec?.containers ?? []).reduce(
      (total, { resources }) => total + nanosOf(String(resources?.requests?.[name] ?? "0")),
      0n,
    );
  return {
    pods: 1,
    cpuMillis: Number(sum("cpu") / 1_000_000n),
    memoryBytes: Number(sum("memory") / 1_000_000_000n),
    volumeBytes: 0,
  };
}

export function amountsOfClaim({ spec }: PersistentVolumeClaim): Amounts {
  const asked = nanosOf(String(spec?.resources?.requests?.["storage"] ?? "0"));
  return { ...noAmounts, volumeBytes: Number(asked / 1_000_000_000n) };
}

export function addAmounts(list: readonly Amounts[]): Amounts {
  return list.reduce((sum, one) => combine(sum, one, (left, right) => left + right), noAmounts);
}

export function largerAmounts(left: Amounts, right: Amounts): Amounts {
  return combine(left, right, Math.max);
}

function combine(
  left: Amounts,
  right: Amounts,
  by: (left: number, right: number) => number,
): Amounts {
  return {
    pods: by(left.pods, right.pods),
    cpuMillis: by(left.cpuMillis, right.cpuMillis),
    memoryBytes: by(left.memoryBytes, right.memoryBytes),
    volumeBytes: by(left.volumeBytes, right.volumeBytes),
  };
}
export function lessAmounts(left: Amounts, right: Amounts): Amounts {
  return combine(left, right, (from, taken) => from - taken);
}
