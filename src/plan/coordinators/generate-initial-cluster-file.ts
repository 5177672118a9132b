// Step generateInitialClusterFile: chooses the first coordinators among the running pods, spread over zones,
// and makes up the connection string. It is chosen once in a database's life. Rules: spec/plan.md [P54]-[P58].
import { leastOf } from "../../env/long-lists.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf, faultDomainOf, routingOf } from "../../api/effective.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import { dataCenterOf } from "../../api/localities.ts";
import { alphanumerics, randomText, seededRandom } from "../../env/random.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { addressesOf, formatAddress } from "../../model/address.ts";
import {
  defaultDescription,
  formatConnectionString,
  generationIdLength,
  parseConnectionString,
} from "../../model/connection-string.ts";
import {
  choiceRules,
  coordinatorHardLimits,
  desiredCoordinatorCount,
  isEligibleClass,
} from "../../model/coordinator-choice.ts";
import { zoneVariableOf } from "../../model/fault-domain.ts";
import { localityKeys } from "../../model/locality.ts";
import { hallOf, isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { candidateFor, chooseAmong } from "./coordinator-candidates.ts";
import type { CoordinatorCandidate } from "./coordinator-candidates.ts";
import { coordinatorWish } from "./coordinator-wish.ts";
import { machinesProblem } from "./coordinator-hosts.ts";
import { substitutionsOf } from "../view/pod-configuration.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { ownTimeMs } from "../view/server-time.ts";
import { viewOf } from "../view/cluster-view.ts";

const step = "generateInitialClusterFile";

/** Nothing after this step makes sense without a connection string, so it ends the pass until there is one. */
export function generateInitialClusterFile(snapshot: Snapshot, draft: Draft): StepResult {
  if ((draft.status.connectionString ?? "") !== "") return nothing;
  const survey = surveyPods(snapshot, draft);
  const attempts = initialRules(snapshot, draft);
  const least = leastOf(attempts.map(({ count }) => count));
  const wait = startingWait(survey, least);
  if (wait !== undefined) return { waits: [wait], stop: true };

  const { spec } = snapshot.cluster;
  const choices = attempts.map((rules) => chooseAmong(spec, survey.candidates, rules));
  const choice = choices.find(({ missing, machinesMissing }) => missing + machinesMissing === 0);
  const machinesMissing = choices.at(-1)?.machinesMissing ?? 0;
  if (choice === undefined && machinesMissing > 0) {
    return { waits: [machinesWait(least, machinesMissing)], stop: true };
  }
  if (choice === undefined) {
    const zones = new Set(survey.candidates.map((one) => one.localities[localityKeys.zone])).size;
    return { waits: [zonesWait(least, zones)], stop: true };
  }
  const connectionString = newConnectionString(snapshot, choice.chosen);
  if (!parseConnectionString(connectionString).ok) {
    return { waits: [unusableWait(connectionString)], stop: true };
  }
  const message = `Choosing ${choice.chosen.map((one) => one.id).join(", ")} as coordinators`;
  return {
    status: { connectionString },
    events: [{ type: "Normal", reason: "GenerateInitialCoordinators", message }],
    stop: true,
  };
}

interface PodSurvey {
  candidates: CoordinatorCandidate[];
  /** Pods that are still starting and worth waiting for, so that the choice is made among all zones. */
  starting: number;
}

function surveyPods(snapshot: Snapshot, draft: Draft): PodSurvey {
  const { spec } = snapshot.cluster;
  const { ignorePendingPodsMs } = automationOf(spec);
  const survey: PodSurvey = { candidates: [], starting: 0 };
  for (const group of draft.groups) {
    if (isMarkedForRemoval(group)) continue;
    if (!isEligibleClass(group.processClass, spec.coordinatorSelection)) continue;
    const pod = viewOf(snapshot).of(group).pod;
    const candidate =
      pod?.status?.phase === "Running" ? candidateOf(snapshot, draft, group, pod) : undefined;
    const madeMs = ownTimeMs(snapshot, pod?.metadata.creationTimestamp) ?? snapshot.nowMs;
    if (candidate !== undefined) survey.candidates.push(candidate);
    else if (snapshot.nowMs - madeMs < ignorePendingPodsMs) survey.starting += 1;
  }
  return survey;
}

function candidateOf(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: Stored<Pod>,
): CoordinatorCandidate | undefined {
  const { spec } = snapshot.cluster;
  const spread = hallSpreadOf(spec);
  const values = substitutionsOf(snapshot, pod).values;
  const zone = group.distributionKey || values?.[zoneVariableOf(faultDomainOf(spec))];
  if (values === undefined || zone === undefined || zone === "") return undefined;
  const dnsName = routingOf(spec).useDnsInClusterFile ? values["FDB_DNS_NAME"] : undefined;
  const host = dnsName ?? shapeOfPod(snapshot, pod).publicIps[0];
  if (host === undefined) return undefined;
  const [address] = addressesOf(host, 1, draft.status.requiredAddresses ?? { nonTLS: true });
  if (address === undefined) return undefined;
  const { processGroupID: id, processClass } = group;
  const localities = {
    [localityKeys.zone]: zone,
    [localityKeys.machine]: pod.spec?.nodeName,
    [localityKeys.dataCenter]: dataCenterOf(spec),
    ...(spread === undefined ? {} : { [spread.key]: hallOf(group) }),
  };
  return candidateFor(spec, { id, processClass, localities, address: formatAddress(address) });
}

/**
 * The ways to choose, the best one first. With halls that the operator chooses itself, all coordinators are spread over
 * them at once; where they are unknown before the processes run, or one is missing, a hall mode starts with three.
 */
function initialRules(snapshot: Snapshot, draft: Draft): readonly ReturnType<typeof choiceRules>[] {
  const configuration = draft.desired.configuration;
  const { spreadLocality } = redundancyOf(configuration.redundancy_mode);
  if (spreadLocality === undefined) {
    const count = desiredCoordinatorCount(configuration);
    return [choiceRules(configuration, count, coordinatorHardLimits(configuration))];
  }
  const zone = { [localityKeys.zone]: 1 };
  const few = choiceRules(configuration, initialCount, zone);
  if (hallSpreadOf(snapshot.cluster.spec) === undefined) return [few];
  const { count, hardLimits } = coordinatorWish(snapshot, draft, configuration, undefined);
  const onePerHall = choiceRules(configuration, initialCount, { ...zone, [spreadLocality]: 1 });
  return [choiceRules(configuration, count, hardLimits), onePerHall, few];
}

const initialCount = 3;

function newConnectionString(snapshot: Snapshot, chosen: readonly CoordinatorCandidate[]): string {
  const { metadata, spec } = snapshot.cluster;
  const given = spec.partialConnectionString;
  // Another stream than that of the ids, which the same seed has fed in this pass.
  const random = seededRandom(snapshot.seed ^ 0x5eed);
  return formatConnectionString({
    description: given?.databaseName || defaultDescription(metadata.name ?? ""),
    generationId: given?.generationID || randomText(random, generationIdLength, alphanumerics),
    coordinators: chosen.map((one) => one.address),
  });
}

function startingWait(survey: PodSurvey, wanted: number): NewWait | undefined {
  const running = survey.candidates.length;
  if (running >= wanted && survey.starting === 0) return undefined;
  return {
    step,
    reason: "CoordinatorsNotRunning",
    message:
      running < wanted
        ? `Coordinators need ${wanted} running pods that report their zone`
        : "Coordinators are chosen when the pods that are still starting run",
    retryAfterMs: 15_000,
    remedy: "Look at the pods that do not run (kubectl describe pod); the cause is named there.",
  };
}

function zonesWait(wanted: number, zones: number): NewWait {
  return {
    step,
    reason: "CoordinatorsNotRunning",
    message: `Coordinators need ${wanted} zones, but the running pods are in ${zones}`,
    retryAfterMs: 30_000,
    remedy: "Add nodes in other zones, or choose a redundancy mode that needs fewer zones.",
  };
}

function machinesWait(wanted: number, machinesMissing: number): NewWait {
  return {
    step,
    reason: "CoordinatorsNotRunning",
    message: machinesProblem(wanted, machinesMissing),
    retryAfterMs: 30_000,
    remedy: "Add nodes, so that the loss of one leaves a majority of the coordinators.",
  };
}

function unusableWait(connectionString: string): NewWait {
  return {
    step,
    reason: "CoordinatorsNotRunning",
    message: `The connection string would be unusable: ${connectionString}`,
    retryAfterMs: 60_000,
    remedy: "Correct spec.partialConnectionString.",
  };
}
