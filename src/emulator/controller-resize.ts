// Makes volumes larger when their claims ask for more. A class with the parameter `resize: at-start` has a driver that
// enlarges the file system only when a pod starts: until then the claim waits with the condition FileSystemResizePending.
// With `resize: never` the driver fails. Carries rules KUBELET101 and KUBELET102.
import { randomInteger } from "../env/random.ts";
import { EventRecorder } from "../kube/event-recorder.ts";
import type { PersistentVolumeClaim, Pod } from "../kube/generated/types.ts";
import { keyOf, keyText, parseKeyText } from "../kube/path.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { formatTime } from "../kube/time.ts";
import { compareQuantities } from "../model/quantity.ts";
import { KeyedWork } from "./controller-part.ts";
import type { ControllerParts } from "./controller-part.ts";
import type { DelayRange } from "./kubelet-container.ts";

type Claim = Stored<PersistentVolumeClaim>;

const failedType = "ControllerResizeError";
const failedMessage = "rpc error: code = OutOfRange desc = the pool has no room for it";
const pendingType = "FileSystemResizePending";
const pendingMessage =
  "Waiting for user to (re-)start a pod to finish file system resize of volume on node.";

export class VolumeResizer {
  readonly #parts: ControllerParts;
  readonly #resizeMs: DelayRange;
  readonly #claims: KeyedWork;
  readonly #events: EventRecorder;
  /** When the volume of a claim will be as large as its claim asks. */
  readonly #readyAtMs = new Map<string, number>();

  constructor(parts: ControllerParts, resizeMs: DelayRange) {
    this.#parts = parts;
    this.#resizeMs = resizeMs;
    this.#events = new EventRecorder({ ...parts, component: "volume_expand" });
    this.#claims = new KeyedWork(parts, "volume resizer", 20, (key) => this.#sync(key));
  }

  start(): void {
    const { informers } = this.#parts;
    informers.of(persistentVolumeClaims).onChange(({ type, object }) => {
      if (type === "DELETED") this.#readyAtMs.delete(object.metadata.uid ?? "");
      else if (isToGrow(object)) this.#claims.add(keyText(keyOf(object)));
    });
    informers.of(pods).onChange(({ type, object }) => {
      if (type === "DELETED" || object.status?.phase !== "Running") return;
      for (const name of claimsIn(object)) {
        const key = { namespace: object.metadata.namespace ?? "", name };
        const claim = informers.of(persistentVolumeClaims).get(key);
        if (claim !== undefined && pendingSince(claim) !== undefined)
          this.#claims.add(keyText(key));
      }
    });
  }

  async #sync(key: string): Promise<void> {
    const { informers, clock, random } = this.#parts;
    const claim = informers.of(persistentVolumeClaims).get(parseKeyText(key));
    if (claim === undefined || !isToGrow(claim)) return;
    if (pendingSince(claim) !== undefined) {
      return this.#hasNewPod(claim) ? this.#finish(claim) : undefined;
    }
    const uid = claim.metadata.uid ?? "";
    const nowMs = clock.nowMs();
    let readyAtMs = this.#readyAtMs.get(uid);
    if (readyAtMs === undefined) {
      readyAtMs = nowMs + randomInteger(random, this.#resizeMs.min, this.#resizeMs.max);
      this.#readyAtMs.set(uid, readyAtMs);
    }
    if (readyAtMs > nowMs) return this.#claims.add(key, readyAtMs - nowMs);
    this.#readyAtMs.delete(uid);
    await this.#enlarge(claim);
  }

  async #enlarge(claim: Claim): Promise<void> {
    const { client, informers } = this.#parts;
    const className = claim.spec?.storageClassName ?? "";
    const { parameters } = informers.of(storageClasses).get({ name: className }) ?? {};
    if (parameters?.["resize"] === "never") {
      return this.#note(claim, "Warning", "VolumeResizeFailed", failedType, failedMessage);
    }
    const capacity = { storage: sizeWanted(claim) };
    const volume = { name: claim.spec?.volumeName ?? "" };
    await client.patch(persistentVolumes, volume, { spec: { capacity } }, { type: "merge" });
    if (parameters?.["resize"] !== "at-start") return this.#finish(claim);
    await this.#note(claim, "Normal", "FileSystemResizeRequired", pendingType, pendingMessage);
  }

  async #note(
    claim: Claim,
    level: "Normal" | "Warning",
    reason: string,
    type: string,
    message: string,
  ): Promise<void> {
    if (claim.status?.conditions?.some((condition) => condition.type === type)) return;
    const lastTransitionTime = formatTime(this.#parts.clock.nowMs());
    const condition = { type, status: "True", lastTransitionTime, message };
    await this.#patchStatus(claim, { conditions: [condition] });
    this.#events.record(claim, level, reason, message);
  }

  async #finish(claim: Claim): Promise<void> {
    const capacity = { storage: sizeWanted(claim) };
    await this.#patchStatus(claim, { capacity, conditions: null });
    const message = "MountVolume.NodeExpandVolume succeeded for volume";
    this.#events.record(claim, "Normal", "FileSystemResizeSuccessful", message);
  }

  #hasNewPod(claim: Claim): boolean {
    const sinceMs = Date.parse(pendingSince(claim) ?? "");
    const { name = "", namespace } = claim.metadata;
    return this.#parts.informers
      .of(pods)
      .list()
      .some(
        (pod) =>
          pod.metadata.namespace === namespace &&
          pod.status?.phase === "Running" &&
          claimsIn(pod).includes(name) &&
          Date.parse(pod.status.startTime ?? "") > sinceMs,
      );
  }

  #patchStatus(claim: Claim, status: object): Promise<Claim> {
    const options = { type: "merge", subresource: "status" } as const;
    return this.#parts.client.patch(persistentVolumeClaims, keyOf(claim), { status }, options);
  }
}

function sizeWanted({ spec }: Claim): string {
  return String(spec?.resources?.requests?.["storage"] ?? "0");
}

function isToGrow(claim: Claim): boolean {
  if (claim.status?.phase !== "Bound" || claim.metadata.deletionTimestamp !== undefined)
    return false;
  const has = claim.status.capacity?.["storage"];
  const wanted = sizeWanted(claim);
  return has !== undefined && has !== wanted && compareQuantities(wanted, String(has)) > 0;
}

function pendingSince({ status }: Claim): string | undefined {
  return status?.conditions?.find(({ type }) => type === pendingType)?.lastTransitionTime;
}

function claimsIn(pod: Stored<Pod>): string[] {
  return (pod.spec?.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );
}
