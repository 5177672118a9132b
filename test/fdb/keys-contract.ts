// All statements about the clients of the operator's keys. They hold on the simulated database and on a real one
// alike; those that need commits to go wrong on demand run where that is possible.
import type { KeysCase } from "./keys-case.ts";
import { listCases } from "./list-cases.ts";
import { lockCases } from "./lock-cases.ts";
import { restartCases } from "./restart-cases.ts";
import { setCases } from "./set-cases.ts";

export const allKeysCases: readonly KeysCase[] = [
  ...lockCases,
  ...listCases,
  ...setCases,
  ...restartCases,
];
