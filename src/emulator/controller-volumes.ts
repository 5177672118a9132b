// Binds claims to volumes, makes volumes for claims (zonal ones, on the zone of the chosen node),
// and takes them away again when the claim is gone. Carries rules KUBELET51 to KUBELET54 and KUBELET78.
import { randomInteger, randomPick } from "../env/random.ts";
import { isKubeError } from "../kube/error.ts";
import { EventRecorder } from "../kube/event-recorder.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../kube/generated/types.ts";
import { keyOf, keyText, parseKeyText } from "../kube/path.ts";
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { KeyedWork } from "./controller-part.ts";
import type { ControllerParts } from "./controller-part.ts";
import type { DelayRange } from "./kubelet-container.ts";
import { findStaticVolume, staticProvisioner } from "./scheduler-volumes.ts";
import { selectedNodeAnnotation } from "./scheduler.ts";

export interface VolumeControllerOptions {
  readonly provisionMs: DelayRange;
  /** False beside a real controller manager, which binds by itself: this one then makes volumes and takes them away. */
  readonly isBinding?: boolean;
}

type Claim = Stored<PersistentVolumeClaim>;
type Volume = Stored<PersistentVolume>;

const zoneKey = "topology.kubernetes.io/zone";
/** Of a class with the parameter `place: node`, whose volumes are disks of the nodes themselves. */
const hostKey = "kubernetes.io/hostname";
const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";
const nothingToBind = "no persistent volumes available for this claim and no storage class is set";
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner";

export class VolumeController {
  readonly #parts: ControllerParts;
  readonly #options: VolumeControllerOptions;
  readonly #isBinding: boolean;
  readonly #claims: KeyedWork;
  readonly #volumes: KeyedWork;
  readonly #events: EventRecorder;
  /** Volumes that belong to a claim, by the claim's uid. */
  readonly #reserved = new Map<string, Volume>();
  /** Names of volumes that were deleted. */
  readonly #gone = new Set<string>();
  /** When the volume of a claim will have been made. */
  readonly #readyAtMs = new Map<string, number>();

  constructor(parts: ControllerParts, options: VolumeControllerOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#isBinding = options.isBinding ?? true;
    this.#events = new EventRecorder({ ...parts, component: "persistentvolume-controller" });
    this.#claims = new KeyedWork(parts, "volume binder", 20, (key) => this.#syncClaim(key));
    this.#volumes = new KeyedWork(parts, "volume reclaimer", 20, (key) => this.#syncVolume(key));
  }

  start(): void {
    const { informers } = this.#parts;
    informers.of(persistentVolumeClaims).onChange(({ type, object }) => {
      const key = keyText(keyOf(object));
      if (type === "DELETED") this.#readyAtMs.delete(object.metadata.uid ?? "");
      else this.#claims.add(key);
      if (object.spec?.volumeName !== undefined) this.#volumes.add(object.spec.volumeName);
    });
    informers.of(persistentVolumes).onChange(({ type, object }) => {
      if (type !== "DELETED") this.#volumes.add(object.metadata.name ?? "");
      const claimRef = object.spec?.claimRef;
      if (type === "DELETED") this.#gone.add(object.metadata.name ?? "");
      if (claimRef?.uid !== undefined) {
        if (type === "DELETED") this.#reserved.delete(claimRef.uid);
        else this.#reserved.set(claimRef.uid, object);
      }
      if (claimRef?.name === undefined) this.#wakePending(object.spec?.storageClassName ?? "");
      else this.#claims.add(`${claimRef.namespace ?? ""}/${claimRef.name}`);
    });
    informers.of(storageClasses).onChange(({ object }) => {
      this.#wakePending(object.metadata.name ?? "");
      this.#wakePending("");
    });
  }

  #wakePending(className: string): void {
    for (const claim of this.#parts.informers.of(persistentVolumeClaims).list()) {
      const isPending = claim.status?.phase !== "Bound";
      if (isPending && (claim.spec?.storageClassName ?? "") === className) {
        this.#claims.add(keyText(keyOf(claim)));
      }
    }
  }

  async #syncClaim(key: string): Promise<void> {
    const claim = this.#parts.informers.of(persistentVolumeClaims).get(parseKeyText(key));
    if (claim === undefined) return;
    if (claim.metadata.deletionTimestamp !== undefined) return;
    const volumeName = claim.spec?.volumeName ?? "";
    if (!this.#isBinding && volumeName !== "") return;
    if (claim.status?.phase === "Bound") {
      return this.#gone.has(volumeName) ? this.#declareLost(claim) : undefined;
    }
    if (volumeName !== "") {
      const volume = this.#parts.informers.of(persistentVolumes).get({ name: volumeName });
      if (volume !== undefined && mayBind(volume, claim)) await this.#bind(claim, volume);
      return;
    }
    const reserved = this.#reserved.get(claim.metadata.uid ?? "");
    if (reserved !== undefined) return this.#bind(claim, reserved);
    if (claim.spec?.storageClassName === undefined) return this.#useDefaultClass(claim);
    const name = claim.spec.storageClassName;
    await this.#serve(claim, this.#parts.informers.of(storageClasses).get({ name }));
  }

  /** Its volume was deleted under it, against all protection. */
  async #declareLost(claim: Claim): Promise<void> {
    const message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
    const options = { type: "merge", subresource: "status" } as const;
    const patch = { status: { phase: "Lost" } };
    await this.#parts.client.patch(persistentVolumeClaims, keyOf(claim), patch, options);
    this.#events.record(claim, "Warning", "ClaimLost", message);
  }

  /** A free volume will do even when nobody knows its class. */
  async #serve(claim: Claim, storageClass: Stored<StorageClass> | undefined): Promise<void> {
    const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
    const nodeName = claim.metadata.annotations?.[selectedNodeAnnotation];
    if (waits && nodeName === undefined) {
      const message = "waiting for first consumer to be created before binding";
      return this.#events.record(claim, "Normal", "WaitForFirstConsumer", message);
    }
    if (!waits) {
      const free = findStaticVolume(claim, this.#parts.informers.of(persistentVolumes).list());
      if (free !== undefined) return this.#bind(claim, free as Volume);
    }
    const className = claim.spec?.storageClassName ?? "";
    if (className === "" || storageClass?.provisioner === staticProvisioner) {
      return this.#events.record(claim, "Normal", "FailedBinding", nothingToBind);
    }
    if (storageClass === undefined) {
      const message = `storageclass.storage.k8s.io "${className}" not found`;
      return this.#events.record(claim, "Warning", "ProvisioningFailed", message);
    }
    await this.#provisionLater(claim, storageClass, nodeName);
  }

  async #provisionLater(
    claim: Claim,
    storageClass: Stored<StorageClass>,
    nodeName: string | undefined,
  ): Promise<void> {
    const uid = claim.metadata.uid ?? "";
    const nowMs = this.#parts.clock.nowMs();
    let readyAtMs = this.#readyAtMs.get(uid);
    if (readyAtMs === undefined) {
      const { min, max } = this.#options.provisionMs;
      readyAtMs = nowMs + randomInteger(this.#parts.random, min, max);
      this.#readyAtMs.set(uid, readyAtMs);
    }
    if (readyAtMs > nowMs) return this.#claims.add(keyText(keyOf(claim)), readyAtMs - nowMs);
    await this.#bind(claim, await this.#provision(claim, storageClass, nodeName));
  }

  /** A claim that names no class gets the default one, also when the default came later. */
  async #useDefaultClass(claim: Claim): Promise<void> {
    const chosen = this.#parts.informers
      .of(storageClasses)
      .list()
      .filter((one) => one.metadata.annotations?.[defaultClassAnnotation] === "true")
      .toSorted((left, right) =>
        (left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1,
      )[0];
    if (chosen !== undefined) {
      const spec = { storageClassName: chosen.metadata.name };
      await this.#patchClaim(claim, { spec });
      return;
    }
    await this.#serve(claim, undefined);
  }

  async #provision(
    claim: Claim,
    storageClass: Stored<StorageClass>,
    nodeName: string | undefined,
  ): Promise<Volume> {
    const name = `pvc-${claim.metadata.uid ?? ""}`;
    const isOnNode = storageClass.parameters?.["place"] === "node";
    const place = isOnNode ? nodeName : this.#zoneFor(nodeName);
    const key = isOnNode ? hostKey : zoneKey;
    const nodeSelectorTerms = [
      { matchExpressions: [{ key, operator: "In", values: [place ?? ""] }] },
    ];
    const volume: Volume = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: {
        name,
        annotations: { "pv.kubernetes.io/provisioned-by": storageClass.provisioner },
      },
      spec: {
        capacity: { storage: claim.spec?.resources?.requests?.["storage"] ?? "0" },
        accessModes: claim.spec?.accessModes,
        volumeMode: claim.spec?.volumeMode ?? "Filesystem",
        storageClassName: storageClass.metadata.name,
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
        claimRef: claimReference(claim),
        csi: { driver: storageClass.provisioner, volumeHandle: name },
        ...(place === undefined ? {} : { nodeAffinity: { required: { nodeSelectorTerms } } }),
      },
    };
    const message = `Successfully provisioned volume ${name}`;
    try {
      const created = await this.#parts.client.create(persistentVolumes, volume);
      this.#events.record(claim, "Normal", "ProvisioningSucceeded", message);
      return created;
    } catch (error) {
      if (!isKubeError(error, "AlreadyExists")) throw error;
      return this.#parts.client.get(persistentVolumes, { name });
    }
  }

  /** The zone of the chosen node; with immediate binding any zone, by chance. */
  #zoneFor(nodeName: string | undefined): string | undefined {
    const known = this.#parts.informers.of(nodes);
    if (nodeName !== undefined) return known.get({ name: nodeName })?.metadata.labels?.[zoneKey];
    const zones = new Set(known.list().flatMap((node) => node.metadata.labels?.[zoneKey] ?? []));
    return zones.size === 0 ? undefined : randomPick(this.#parts.random, [...zones].toSorted());
  }

  async #bind(claim: Claim, volume: Volume): Promise<void> {
    // A claim that names a volume of which a real controller manager has not heard yet is declared lost by it.
    if (!this.#isBinding) return;
    const name = volume.metadata.name ?? "";
    const { client } = this.#parts;
    if (volume.spec?.claimRef?.uid === undefined) {
      const spec = { claimRef: claimReference(claim) };
      await client.patch(persistentVolumes, { name }, { spec }, { type: "merge" });
    }
    const status = { phase: "Bound" };
    if (volume.status?.phase !== "Bound") {
      const options = { type: "merge", subresource: "status" } as const;
      await client.patch(persistentVolumes, { name }, { status }, options);
    }
    const bound = await this.#patchClaim(claim, {
      metadata: {
        annotations: {
          "pv.kubernetes.io/bind-completed": "yes",
          "pv.kubernetes.io/bound-by-controller": "yes",
          [provisionerAnnotation]: volume.spec?.csi?.driver,
        },
      },
      spec: { volumeName: name },
    });
    const options = { type: "merge", subresource: "status" } as const;
    await client.patch(
      persistentVolumeClaims,
      keyOf(bound),
      {
        status: {
          ...status,
          capacity: volume.spec?.capacity,
          accessModes: volume.spec?.accessModes,
        },
      },
      options,
    );
    this.#readyAtMs.delete(claim.metadata.uid ?? "");
  }

  #patchClaim(claim: Claim, patch: { metadata?: object; spec?: object }): Promise<Claim> {
    const metadata = { ...patch.metadata, uid: claim.metadata.uid };
    const body = { ...patch, metadata };
    return this.#parts.client.patch(persistentVolumeClaims, keyOf(claim), body, { type: "merge" });
  }

  /** A volume without its claim is deleted, or kept as released. */
  async #syncVolume(name: string): Promise<void> {
    const volume = this.#parts.informers.of(persistentVolumes).get({ name });
    if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return;
    const claimRef = volume.spec?.claimRef;
    const { client } = this.#parts;
    const setPhase = (phase: string) =>
      client.patch(
        persistentVolumes,
        { name },
        { status: { phase } },
        { type: "merge", subresource: "status" },
      );
    if (claimRef === undefined) {
      if (volume.status?.phase !== "Available") await setPhase("Available");
      return;
    }
    if (claimRef.uid === undefined) return;
    const claimKey = { namespace: claimRef.namespace ?? "", name: claimRef.name ?? "" };
    const claim = this.#parts.informers.of(persistentVolumeClaims).get(claimKey);
    if (claim?.metadata.uid === claimRef.uid) return;
    // The cache may not have a young claim yet, so the server has the last word.
    const actual = await client.find(persistentVolumeClaims, claimKey);
    if (actual?.metadata.uid === claimRef.uid) return;
    if (volume.status?.phase !== "Released") await setPhase("Released");
    if (volume.spec?.persistentVolumeReclaimPolicy === "Delete") {
      await client.delete(persistentVolumes, { name });
    }
  }
}

function mayBind(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const claimRef = volume.spec?.claimRef;
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) return true;
  const { namespace, name } = claim.metadata;
  return claimRef.uid === undefined && claimRef.namespace === namespace && claimRef.name === name;
}

function claimReference(claim: Claim) {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion };
}
