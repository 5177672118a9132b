// The status that the kubelet reports for a pod, computed from the states of its containers. Pure.
// Carries rules KUBELET5 to KUBELET7.
import type {
  ContainerState,
  ContainerStatus,
  Pod,
  PodCondition,
  ResourceRequirements,
} from "../kube/generated/types.ts";
import { formatTime } from "../kube/time.ts";

export interface ContainerResources {
  /** What the kubelet has given to the container. */
  readonly allocated: ResourceRequirements;
  /** What it runs with. */
  readonly applied: ResourceRequirements;
}

/** That a resize is not done yet, as a condition says it. */
export interface ResizeState {
  readonly type: "PodResizePending" | "PodResizeInProgress";
  readonly reason?: "Infeasible" | "Deferred";
  readonly message?: string;
}

const resizeTypes = ["PodResizePending", "PodResizeInProgress"] as const;

export interface ContainerReport {
  readonly name: string;
  readonly image: string;
  readonly isInit: boolean;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly restartCount: number;
  /** Of init containers: what comes after it may start. */
  readonly isInitialized: boolean;
  readonly isReady: boolean;
  readonly isStarted: boolean;
  readonly containerId: string | undefined;
  /** Of a container that ran before this kubelet was there and runs on: what was said of it then. */
  readonly recorded?: ContainerStatus;
}

export interface PodReport {
  readonly pod: Pod;
  readonly containers: readonly ContainerReport[];
  readonly podIps: readonly string[];
  readonly hostIp: string;
  readonly startedAtMs: number;
  /** Set when the pod as a whole has failed, for example because it was evicted. */
  readonly failure?: { readonly reason: string; readonly message: string };
  readonly isTerminating: boolean;
  readonly resources: (containerName: string) => ContainerResources | undefined;
  readonly resize: ResizeState | undefined;
}

export type PodStatusReport = ReturnType<typeof buildPodStatus>;

export function buildPodStatus(report: PodReport, nowMs: number) {
  const phase = podPhase(report);
  const { podIps, hostIp, failure } = report;
  const statuses = (isInit: boolean) =>
    report.containers
      .filter((one) => one.isInit === isInit)
      .map((one) => ({
        ...containerStatus(one),
        ...resourcesIn(report.resources(one.name)),
      }));
  const initStatuses = statuses(true);
  return {
    phase,
    observedGeneration: report.pod.metadata.generation,
    conditions: [...conditions(report, phase, nowMs), ...resizeConditions(report, nowMs)],
    ...(failure === undefined ? {} : { reason: failure.reason, message: failure.message }),
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...(podIps.length === 0 ? {} : { podIP: podIps[0], podIPs: podIps.map((ip) => ({ ip })) }),
    startTime: formatTime(report.startedAtMs),
    ...(initStatuses.length === 0 ? {} : { initContainerStatuses: initStatuses }),
    containerStatuses: statuses(false),
  };
}

export function podPhase(report: PodReport): string {
  if (report.failure !== undefined) return "Failed";
  const policy = report.pod.spec?.restartPolicy ?? "Always";
  const inits = report.containers.filter((one) => one.isInit);
  const mains = report.containers.filter((one) => !one.isInit);
  const failed = (one: ContainerReport) => (one.state.terminated?.exitCode ?? 0) !== 0;
  const isOver = policy === "Never" || report.isTerminating;
  if (isOver && inits.some(failed)) return "Failed";
  if (mains.some((one) => one.state.running !== undefined)) return "Running";
  if (mains.every((one) => one.state.terminated !== undefined) && mains.length > 0) {
    if (isOver) return mains.some(failed) ? "Failed" : "Succeeded";
    if (policy === "OnFailure" && !mains.some(failed)) return "Succeeded";
    return "Running";
  }
  const hasRun = mains.some(
    (one) => one.restartCount > 0 || one.state.terminated !== undefined || one.lastState.terminated,
  );
  return hasRun ? "Running" : "Pending";
}

function containerStatus(report: ContainerReport): ContainerStatus {
  const { recorded } = report;
  if (recorded !== undefined) {
    return { ...recorded, ready: report.isReady, started: report.isStarted };
  }
  return {
    name: report.name,
    image: report.image,
    imageID: report.containerId === undefined ? "" : `emulated://${report.image}`,
    ...(report.containerId === undefined ? {} : { containerID: report.containerId }),
    state: report.state,
    lastState: report.lastState,
    ready: report.isReady,
    started: report.isStarted,
    restartCount: report.restartCount,
  };
}

function resourcesIn(found: ContainerResources | undefined): Partial<ContainerStatus> {
  if (found === undefined) return {};
  const { requests } = found.allocated;
  const { applied } = found;
  return {
    ...(requests === undefined ? {} : { allocatedResources: requests }),
    resources: applied,
  };
}

/** Conditions that are only there while a resize is not done: a patch has to name those that go. */
function resizeConditions({ pod, resize }: PodReport, nowMs: number) {
  return resizeTypes.flatMap((type): object[] => {
    const before = pod.status?.conditions?.find((one) => one.type === type);
    if (resize?.type !== type) return before === undefined ? [] : [{ type, $patch: "delete" }];
    const { reason, message } = resize;
    const condition = {
      ...{ type, status: "True", ...(reason === undefined ? {} : { reason, message }) },
      observedGeneration: pod.metadata.generation,
      lastTransitionTime: before?.lastTransitionTime ?? formatTime(nowMs),
    };
    return [condition];
  });
}

/** Keeps the time of a condition's last transition from the pod while its status stays the same. */
function conditions(report: PodReport, phase: string, nowMs: number) {
  const { pod, containers } = report;
  const isInitialized = containers.every((one) => !one.isInit || one.isInitialized);
  const unready = containers.filter((one) => !one.isInit && !one.isReady).map((one) => one.name);
  const isOver = phase === "Succeeded" || phase === "Failed";
  const because = (): Partial<PodCondition> => {
    if (phase === "Succeeded") return { reason: "PodCompleted" };
    if (phase === "Failed") return { reason: "PodFailed" };
    return {
      reason: "ContainersNotReady",
      message: `containers with unready status: [${unready.join(" ")}]`,
    };
  };
  const incomplete = containers
    .filter((one) => one.isInit && !one.isInitialized)
    .map((one) => one.name);
  const areReady = unready.length === 0 && isInitialized && !isOver;
  const rows: [string, boolean, Partial<PodCondition>][] = [
    ["PodReadyToStartContainers", report.podIps.length > 0 && !isOver, {}],
    [
      "Initialized",
      isInitialized,
      {
        reason: "ContainersNotInitialized",
        message: `containers with incomplete status: [${incomplete.join(" ")}]`,
      },
    ],
    ["Ready", areReady, because()],
    ["ContainersReady", areReady, because()],
  ];
  const known = new Map((pod.status?.conditions ?? []).map((one) => [one.type, one]));
  const build = (type: string, isTrue: boolean, reason: Partial<PodCondition>) => {
    const status = isTrue ? "True" : "False";
    const before = known.get(type);
    const isSame = before?.status === status;
    return {
      type,
      status,
      ...(isTrue ? forget(before) : reason),
      observedGeneration: pod.metadata.generation,
      lastTransitionTime: isSame ? before.lastTransitionTime : formatTime(nowMs),
    };
  };
  return rows.map(([type, isTrue, reason]) => build(type, isTrue, reason));
}

/** A patch keeps what it does not name, so a reason that no longer holds is taken away by name. */
function forget(before: PodCondition | undefined): Partial<Record<"reason" | "message", null>> {
  return {
    ...(before?.reason === undefined ? {} : { reason: null }),
    ...(before?.message === undefined ? {} : { message: null }),
  };
}

export function recordedStatus(pod: Pod, name: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  return [...containerStatuses, ...initContainerStatuses].find((one) => one.name === name);
}

/** Restart counts go on after the kubelet or the node was restarted. */
export function earlierRestarts(pod: Pod, name: string): number {
  const known = recordedStatus(pod, name);
  // A container that had an id ran before: what starts is a restart.
  return known?.containerID === undefined ? 0 : known.restartCount + 1;
}
