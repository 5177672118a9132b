// How well a process class suits a role. Lower is better; `never` is out of the question. [FDB12]

export const never = 100;
/** Excluded processes are taken for stateless roles only when there is nobody else. */
export const excludedFit = 50;

const logFitness: Readonly<Record<string, number>> = {
  log: 0,
  transaction: 1,
  unset: 3,
  storage: 5,
};

/** Fitness for a transaction log. */
export function fitnessForLog(processClass: string): number {
  return logFitness[processClass] ?? never;
}

/** Storage classes proper; log processes are only borrowed (storage-servers.ts). */
export function isStorageClass(processClass: string): boolean {
  return processClass === "storage" || processClass === "unset";
}

/** Log processes can lend a storage role. */
export function mayLendStorage(processClass: string): boolean {
  return processClass === "log" || processClass === "transaction";
}

export function mayStore(processClass: string): boolean {
  return isStorageClass(processClass) || mayLendStorage(processClass);
}

const statelessFitness: Readonly<Record<string, number>> = {
  stateless: 1,
  unset: 3,
  transaction: 4,
  log: 4,
  storage: 5,
};

const ownClasses: Readonly<Record<StatelessRole, readonly string[]>> = {
  cluster_controller: ["cluster_controller"],
  master: ["master"],
  commit_proxy: ["commit_proxy", "proxy"],
  grv_proxy: ["grv_proxy", "proxy"],
  resolver: ["resolution"],
  router: ["router", "log_router"],
  data_distributor: ["data_distributor"],
};

export type StatelessRole =
  | "cluster_controller"
  | "master"
  | "commit_proxy"
  | "grv_proxy"
  | "resolver"
  | "router"
  | "data_distributor";

export function fitnessForStateless(role: StatelessRole, processClass: string): number {
  if (ownClasses[role].includes(processClass)) return 0;
  return statelessFitness[processClass] ?? never;
}
