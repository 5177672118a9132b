// Whether an act may begin now: in a maintenance window, when a person called the change urgent, or when it finishes what has
// begun. Asked for every action of every step, and by the guard again. Rules: spec/windows.md [WIN6]-[WIN12], [WIN26], [WIN27].
import { createHash } from "node:crypto";
import type { ClusterSpec, ClusterStatus } from "../../api/cluster.ts";
import { tagOf } from "../../build/images.ts";
import { mainContainerName } from "../../build/normalise.ts";
import { isProtocolCompatible, parseVersion } from "../../model/version.ts";
import type { Action, DisruptiveAction, PodOrder } from "../action.ts";
import { preparedVersions } from "./prepared-versions.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import type { SafetyView } from "./view.ts";
import { windowNeed } from "./window-need.ts";
import { windowState } from "./window-state.ts";

export type BegunWork = NonNullable<ClusterStatus["begunWork"]>;

type PodDeletion = DisruptiveAction & { type: "deletePods" };

export type Work = Omit<BegunWork, "since">;

/** Why the act has to wait for a window; undefined when it may begin, or go on. */
export function windowRefusal(view: SafetyView, action: Action): Refusal | undefined {
  const state = windowState(view);
  if (state.kind === "open") return undefined;
  const later = dividedByVersion(view, action).later;
  if (later === undefined || !needsWindow(view, later) || isBegun(view, later)) return undefined;
  return refusal("MaintenanceWindowClosed", `it waits for a maintenance window: ${state.text}`);
}

export function needsWindow(view: SafetyView, action: Action): action is DisruptiveAction {
  const need = windowNeed(view, action);
  return need === "recovery" || need === "faultDomain";
}

/** Whether it belongs to work that began before: by what was noted then, or by what the pods show. */
function isBegun(view: SafetyView, action: DisruptiveAction): boolean {
  const { spec, status } = view.cluster;
  const running = status?.runningVersion || spec.version;
  if (action.type === "killProcesses" && action.isUpgrade) {
    return preparedVersions(view, running).length > 0;
  }
  return isPartOf(status?.begunWork, workOf(view, action.type));
}

/** Whether the work that began is the one that is to be done. */
export function isPartOf(begun: BegunWork | undefined, work: Work): boolean {
  if (begun === undefined) return false;
  const names = ["processes", "configuration", "upgrade"] as const;
  return names.some((name) => work[name] !== undefined && begun[name] === work[name]);
}

/**
 * What need not wait for a window, and what may have to. The restart for a new version has happened: pods with programs of
 * the old one are in danger until they are made again. Of a deletion that excuses them alone.
 */
export function dividedByVersion(
  view: SafetyView,
  action: Action,
): { readonly now?: Action; readonly later?: Action } {
  if (action.type !== "deletePods") return { later: action };
  const between = action.pods.filter((order) => isBetweenVersions(view, order));
  if (between.length === 0) return { later: action };
  if (between.length === action.pods.length) return { now: action };
  const others = action.pods.filter((order) => !between.includes(order));
  return { now: onlyOf(action, between), later: onlyOf(action, others) };
}

function isBetweenVersions({ cluster, pods }: SafetyView, { basis }: PodOrder): boolean {
  const { spec, status } = cluster;
  const version = parseVersion(status?.runningVersion || spec.version);
  const containers = pods.get(basis.name)?.spec?.containers ?? [];
  const image = containers.find(({ name }) => name === mainContainerName)?.image ?? "";
  const own = parseVersion((tagOf(image) ?? "").replace(/-.*$/, ""));
  return version !== undefined && own !== undefined && !isProtocolCompatible(own, version);
}

/** The database is told only of pods that go. */
function onlyOf(action: PodDeletion, pods: PodDeletion["pods"]): PodDeletion {
  const { maintenance, ...rest } = action;
  const ids = new Set(pods.map(({ processGroupId }) => processGroupId));
  const processGroupIds = maintenance?.processGroupIds.filter((id) => ids.has(id)) ?? [];
  if (maintenance === undefined || processGroupIds.length === 0) return { ...rest, pods };
  return { ...rest, pods, maintenance: { ...maintenance, processGroupIds } };
}

/** By what the work is known that an act is part of. A change of the coordinators can be part of either kind. */
export function workOf(
  { cluster, storedSpec }: Pick<SafetyView, "cluster" | "storedSpec">,
  type: DisruptiveAction["type"] | "replacement",
): Work {
  // What is in force may change while the work is done; what the resource says does not.
  const spec = storedSpec ?? cluster.spec;
  const configuration = { configuration: fingerprint(spec.databaseConfiguration ?? {}) };
  if (type === "configureDatabase") return configuration;
  const processes = { processes: fingerprint(processesIn(spec)), upgrade: spec.version };
  return type === "changeCoordinators" ? { ...processes, ...configuration } : processes;
}

/** What does not say how a process runs: another number of them, or another window, does not end the work. */
function processesIn(spec: ClusterSpec): object {
  const {
    adopt: _o,
    automationOptions: _a,
    buggify: _b,
    databaseConfiguration: _d,
    fence: _f,
    hibernate: _h,
    hibernateDespite: _i,
    processCounts: _c,
    processGroupsToRemove: _r,
    processGroupsToRemoveWithoutExclusion: _e,
    seedConnectionString: _n,
    skip: _s,
    ...rest
  } = spec;
  return rest;
}

function fingerprint(value: object): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
