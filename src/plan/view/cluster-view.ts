// What belongs together: each process group with its pod, claim, node, service and processes. A snapshot is joined once, for all
// steps and for the guard; nobody else looks for an object by the name of a process group. Each part is looked up when it is
// first asked for. Rules: spec/plan.md [P111].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Node, PersistentVolumeClaim, Pod, Service } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { processesOfInstance } from "../../model/locality.ts";
import { podNameOf, volumeClaimNameOf } from "../../model/process-group-id.ts";
import { shapeOfPod } from "./pod-shape.ts";
import type { PodShape } from "./pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";

/** What can be joined: a whole snapshot, or as much of it as somebody has. */
export type Joinable = Pick<Snapshot, "cluster" | "pods" | "memory"> &
  Partial<Pick<Snapshot, "pvcs" | "nodes" | "services" | "database">>;

type GroupIdentity = Pick<ProcessGroup, "processGroupID" | "processClass">;

/** The same for as long as the snapshot is the same object. */
export function viewOf(snapshot: Joinable): ClusterView {
  const { lastView, views } = snapshot.memory;
  if (lastView?.snapshot === snapshot) return lastView.view;
  let view = views.get(snapshot);
  if (view === undefined) {
    view = new ClusterView(snapshot, lastView?.view.names);
    views.set(snapshot, view);
  }
  snapshot.memory.lastView = { snapshot, view };
  return view;
}

/** The same snapshot with other entries of process groups: what belongs to each of them stays. */
export function withGroups<S extends Joinable>(snapshot: S, groups: readonly ProcessGroup[]): S {
  const { cluster, memory } = snapshot;
  const status = { ...cluster.status, processGroups: groups };
  const changed = { ...snapshot, cluster: { ...cluster, status } };
  memory.views.set(changed, viewOf(snapshot));
  return changed;
}

/** What objects of a process group are called. */
interface Names {
  readonly clusterName: string;
  readonly processClass: string;
  readonly podName: string;
  readonly claimName: string;
}

export class ClusterView {
  readonly #snapshot: Joinable;
  readonly #clusterName: string;
  /** By id. Names stay the same from pass to pass, and those of process groups that are gone are not handed on. */
  readonly names = new Map<string, Names>();
  readonly #namesBefore: ReadonlyMap<string, Names> | undefined;
  readonly #groups = new Map<string, GroupView>();
  readonly #ofDraft = new Map<unknown, { readonly draft: object; readonly value: unknown }>();

  constructor(snapshot: Joinable, namesBefore?: ReadonlyMap<string, Names>) {
    this.#snapshot = snapshot;
    this.#clusterName = snapshot.cluster.metadata.name ?? "";
    this.#namesBefore = namesBefore;
  }

  of(group: GroupIdentity): GroupView {
    const { processGroupID: id, processClass } = group;
    let found = this.#groups.get(id);
    if (found === undefined || found.processClass !== processClass) {
      const names = this.#namesOf(id, processClass);
      this.#groups.set(id, (found = new GroupView(this.#snapshot, id, names)));
    }
    return found;
  }

  #namesOf(id: string, processClass: string): Names {
    const clusterName = this.#clusterName;
    const before = this.#namesBefore?.get(id);
    const isSame = before?.clusterName === clusterName && before.processClass === processClass;
    const podName = isSame ? before.podName : podNameOf(clusterName, processClass, id);
    const names = isSame
      ? before
      : { clusterName, processClass, podName, claimName: volumeClaimNameOf(podName) };
    this.names.set(id, names);
    return names;
  }

  /** What `find` says of what the steps have decided so far, found once as long as none of them changes it. */
  ofDraft<S extends Joinable, D extends object, V>(
    find: (snapshot: S, draft: D) => V,
    snapshot: S,
    draft: D,
  ): V {
    const known = this.#ofDraft.get(find);
    if (known !== undefined && known.draft === draft) return known.value as V;
    const value = find(snapshot, draft);
    this.#ofDraft.set(find, { draft, value });
    return value;
  }
}

interface Finding {
  readonly group: ProcessGroup;
  readonly value: unknown;
}

/** What belongs to one process group. */
export class GroupView {
  readonly #snapshot: Joinable;
  readonly #id: string;
  readonly processClass: string;
  readonly podName: string;
  /** What its claim is called, unless its pod mounts another one. */
  readonly ownClaimName: string;
  readonly pod: Stored<Pod> | undefined;
  #shape: PodShape | undefined = undefined;
  #claim: Stored<PersistentVolumeClaim> | null | undefined = undefined;
  #processes: readonly StatusProcess[] | undefined = undefined;
  #findings: Map<unknown, Finding> | undefined = undefined;

  constructor(snapshot: Joinable, id: string, { processClass, podName, claimName }: Names) {
    this.#snapshot = snapshot;
    this.#id = id;
    this.processClass = processClass;
    this.podName = podName;
    this.ownClaimName = claimName;
    this.pod = snapshot.pods.get(podName);
  }

  /** What its pod says about itself. */
  get shape(): PodShape | undefined {
    if (this.pod === undefined) return undefined;
    return (this.#shape ??= shapeOfPod(this.#snapshot, this.pod));
  }

  /** The node of its pod. */
  get node(): Stored<Node> | undefined {
    const { nodes } = this.#snapshot;
    return nodes === undefined ? undefined : nodes.get(this.pod?.spec?.nodeName ?? "");
  }

  /** The claim that its pod mounts for its data, or would mount. Undefined when it keeps its data elsewhere. */
  get claimName(): string | undefined {
    const { shape } = this;
    return shape?.dataVolume === undefined ? this.ownClaimName : shape.dataVolume.claimName;
  }

  get claim(): Stored<PersistentVolumeClaim> | undefined {
    if (this.#claim === undefined) {
      this.#claim = this.#snapshot.pvcs?.get(this.claimName ?? "") ?? null;
    }
    return this.#claim ?? undefined;
  }

  /** The one that gives its pod an address of its own. */
  get service(): Stored<Service> | undefined {
    return this.#snapshot.services?.get(this.podName);
  }

  /** In the newest status, also those of an earlier pod that linger there. */
  get processes(): readonly StatusProcess[] {
    if (this.#processes !== undefined) return this.#processes;
    const { database } = this.#snapshot;
    const found =
      database?.kind === "seen"
        ? processesOfInstance(this.#snapshot, database.status, this.#id)
        : [];
    return (this.#processes = found);
  }

  /**
   * What `find` says of the process group as it stands, found once as long as its entry is the same. It may look at everything
   * but the entries of others.
   */
  finding<S extends Joinable, V>(
    find: (snapshot: S, group: ProcessGroup) => V,
    snapshot: S,
    group: ProcessGroup,
  ): V {
    this.#findings ??= new Map();
    const known = this.#findings.get(find);
    if (known !== undefined && known.group === group) return known.value as V;
    const value = find(snapshot, group);
    this.#findings.set(find, { group, value });
    return value;
  }
}
