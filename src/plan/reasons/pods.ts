// Reasons around pods, their volumes, services and nodes.
import type { Reason } from "./reason.ts";

const minuteMs = 60_000;

export const podReasons = {
  VolumesGrowing: {
    concern: "passing",
    page: "volumes",
    meaning:
      "`volumeClaimTemplate` asks for larger volumes, and their storage class can make them larger in place: claims are told " +
      "to ask for more, one fault domain after the other. No pod is replaced and no data moves.",
    remedy: "Nothing: it goes on by itself. `kubectl get pvc` shows the sizes.",
  },
  PodsResizing: {
    concern: "passing",
    page: "pod-resize",
    meaning:
      "A `podTemplate` asks for other CPU or memory, and running pods get them in place, one fault domain after the other: " +
      "nothing starts again. A kubelet without room on its node says Deferred, one whose node can never hold it Infeasible; " +
      "such pods are made again after ten minutes, or one.",
    remedy: "Nothing: it goes on by itself. `kubectl describe pod` shows what the kubelet says.",
  },
  PodResizeImpossible: {
    concern: "passing",
    page: "pod-resize",
    meaning:
      "Pods should have other CPU or memory and cannot get them in place: the message says why. They are made again instead, " +
      "as for any other change of their template: one fault domain after the other, when the database can spare them.",
    remedy:
      "Nothing, if they may be made again. Otherwise put the resources back in the template; where the right to pods/resize is " +
      "missing, give it to the operator's role.",
  },
  AdoptionRefused: {
    concern: "person",
    rank: "volume",
    page: "adoption",
    meaning:
      "`spec.adopt` names volume claims that cannot all hold the data of this cluster: of another cluster, without a process " +
      "group, with another name or prefix, of another resource, without a volume, or two of one process group; or it leaves one " +
      "of this cluster out, whose server would start as well. The message names the first and why. Nothing is done for any of " +
      "them. Or volumes hold different connection strings: the message tells each, with its volumes and how many of its own " +
      "coordinators are among them, and the one that the database used last belongs into `spec.seedConnectionString`.",
    remedy:
      "Make the selector of spec.adopt narrower, correct the labels of the claim that is named, or delete it if it is not needed.",
  },
  VolumesBeingRead: {
    concern: "passing",
    rank: "volume",
    page: "adoption",
    meaning:
      "`spec.adopt` brings a database back whose connection string is in no status, ConfigMap or seed. A short-lived pod for each " +
      "volume reads it from the file that lies beside the data, and ends; nothing else runs on the volumes until all have ended.",
    remedy:
      "Nothing, as a rule. A reader that stays pending has the cause in its events (kubectl describe pod); who knows the " +
      "connection string puts it into spec.seedConnectionString, and nothing more is read.",
  },
  AdoptionIncomplete: {
    concern: "person",
    rank: "volume",
    page: "adoption",
    meaning:
      "`spec.adopt` names fewer volume claims than the resource asks for, or too few of them are those of the coordinators. A " +
      "database that starts without some of its disks may miss data, so nothing is started.",
    remedy:
      "Bring the missing claims back. Those that are lost for good: lower processCounts to what is there, and raise it when the " +
      "database serves.",
  },
  VolumeInQuarantine: {
    concern: "person",
    page: "quarantine",
    meaning:
      "A process group has the id of one that was removed, and the volume of that one still waits in quarantine. A pod would " +
      "start on old data, so none is started. The operator itself never gives such an id to a new process group: the status " +
      "was edited, or brought back from elsewhere.",
    remedy:
      "Give the volume back (kubectl fdb quarantine restore), or delete its claim if nobody needs it, or remove the process " +
      "group (kubectl fdb remove process-groups).",
  },
  VolumeGrowthFailed: {
    concern: "person",
    page: "volumes",
    meaning:
      "The API server has taken a larger size for a volume claim, and the storage driver cannot make the volume that large. " +
      "The message is the driver's. The volume keeps the size that it has, its pod runs on, and volumes of other fault domains " +
      "wait.",
    remedy:
      "Look at the events of the claim (kubectl describe pvc) and at the log of the storage driver; give it what it misses, " +
      "for example free space or quota.",
  },
  VolumeShrinkRefused: {
    concern: "person",
    page: "volumes",
    meaning:
      "`volumeClaimTemplate` asks for less than volumes have. A volume cannot be made smaller in place, so nothing is done to " +
      "them; new process groups get the smaller size.",
    remedy:
      "Put the size back to what the volumes have, or set automationOptions.volumeSizeChange to Replace: then every process " +
      "group gets a new, smaller volume, and all its data moves there.",
  },
  ClusterFileOutdated: {
    concern: "look",
    usualMs: 10 * minuteMs,
    rank: "process",
    meaning:
      "A process keeps the coordinators that it knows in a cluster file beside its data, and follows every change while it " +
      "runs. This one was down, for a setting that ended it, a fence or a node that was away, while all of them were replaced, " +
      "and those of before, who would tell it where the others are, are gone. It cannot find the database any more; the " +
      "database makes new copies of what it held. After five minutes its process group is replaced, a few at a time as " +
      "with any failure. A person can bring it back before that, or where replacements are switched off, by writing " +
      "`status.connectionString` into the file.",
    remedy:
      "Nothing: its process group is replaced after five minutes. To keep it instead, or where replacements are off: kubectl exec " +
      "POD -c foundationdb -- bash -c 'echo CONNECTION_STRING > /var/fdb/data/fdb.cluster && pkill fdbserver', with the " +
      "connectionString of the status.",
  },
  ConfigMapOutdated: {
    concern: "look",
    rank: "start",
    meaning:
      "The ConfigMap of the cluster names only former coordinators, none of which serves any more, because the operator could not " +
      "change it. A process that starts with it keeps them in its cluster file and would never find the database. So no pod " +
      "that has no cluster file on a volume is made until the ConfigMap is written.",
    remedy:
      "Usually the ConfigMap is written within seconds. If not, another wait says what the API server answered: give the operator " +
      "the right to update ConfigMaps again, or take away what refuses the change.",
  },
  ConfigurationNotInPod: {
    concern: "look",
    usualMs: 3 * minuteMs,
    meaning:
      "The ConfigMap has changed and pods have been told, but they do not run with it yet. A " +
      "kubelet refreshes mounted files within seconds of being told, at the latest after a minute " +
      "or two. If it takes longer, the log of the monitor (unified image) or sidecar (split " +
      "image) says why it does not accept the configuration: a variable without value, a binary " +
      "that is missing.",
    remedy:
      "Usually it arrives within seconds. If not, look at the log of the pod's monitor or " +
      "sidecar.",
  },
  FaultDomainNeedsNode: {
    concern: "look",
    rank: "start",
    meaning:
      "A pod waits for a node because of [logical fault domains](bin-packing.md): pods of one " +
      "class that keeps data share a host only within a domain, and packed and unpacked pods " +
      "never do. Every node that could take the pod has one it must not meet. Add a node, or ask " +
      "for fewer `desiredFaultDomains`. While domains change, the removal of a replaced pod often " +
      "frees one; the database keeps all copies of its data meanwhile. Packing that waits for its " +
      "first node can be turned off again without one.",
    remedy:
      "Add a node, or ask for fewer distributionConfig.desiredFaultDomains. In a migration one " +
      "may become free by itself.",
  },
  NodeNotReady: {
    concern: "look",
    rank: "node",
    meaning:
      "The node of the pods is not ready or does not exist any more. The message is what " +
      "Kubernetes says of the node. Bring it back; if it is gone for good, delete its Node " +
      "object, so that Kubernetes lets go of its pods.",
    remedy: "Bring the node back. One that is gone for good: delete its Node object.",
  },
  PodChangePending: {
    concern: "person",
    meaning:
      "Pods were made from an older version of their specification, have to leave a node or have " +
      "to start again for a larger file system, and " +
      "`automationOptions.deletionMode: None` leaves it to a person to delete them. Delete those " +
      "of one fault domain at a time and wait until the database is healthy before the next; or " +
      "choose another mode.",
    remedy:
      "Delete them one fault domain at a time, or choose another automationOptions.deletionMode.",
  },
  PodCrashLooping: {
    concern: "look",
    rank: "start",
    meaning:
      "A container of the pod ends shortly after each start. `kubectl logs --previous` shows its " +
      "last words. (An `fdbserver` that ends is started again inside its container and makes no " +
      "crash loop of the pod: see ProcessesMissing and CanaryFailed.)",
    remedy: "Look at its log (kubectl logs --previous): it tells there why it ends.",
  },
  PodImageUnavailable: {
    concern: "look",
    rank: "start",
    meaning:
      "The image of a container cannot be pulled. The message is the container runtime's. Check " +
      "name and version, the registry, and the pull secrets of the service account.",
    remedy: "Check the image name and version, the registry and its credentials.",
  },
  PodNotReady: {
    concern: "look",
    usualMs: 3 * minuteMs,
    rank: "pod",
    meaning: "A container of a running pod is not ready.",
    remedy: "Look at the pod and its containers' logs.",
  },
  PodPending: {
    concern: "passing",
    meaning: "The pod has a node and starts: images are pulled, volumes are attached.",
    remedy: "Nothing for a while; then look at the pods (kubectl describe pod).",
  },
  PodTemplateUnusable: {
    concern: "person",
    rank: "start",
    meaning:
      "No pod can be built from the template of this class. The message names the field and its " +
      "value, for example an image with a tag: the tag is always the version of the cluster.",
  },
  PodTerminal: {
    concern: "passing",
    meaning:
      "A pod ended for good (phase Failed or Succeeded). It is deleted and recreated when it is " +
      "old enough for others to have noticed.",
    remedy: "Nothing: they are deleted and recreated as soon as they are old enough.",
  },
  PodTerminating: {
    concern: "look",
    meaning:
      "The pod is being deleted. Its successor is made when it is gone. If that takes long, its " +
      "node may be unreachable.",
    remedy:
      "If it takes long, look at the node, whose kubelet may be down, and at the pod's " +
      "finalizers.",
  },
  PodUnschedulable: {
    concern: "look",
    rank: "start",
    meaning:
      "The scheduler finds no node. The message is the scheduler's: too little CPU or memory, " +
      "taints, affinity, nodes that are cordoned, or a volume in another zone.",
    remedy:
      "Uncordon or add nodes, free resources, or change the pod template's requests, selectors and " +
      "tolerations.",
  },
  PodUpdateHeld: {
    concern: "look",
    meaning:
      "Pods were made from an older version of their specification, have to leave a node or have " +
      "to start again for a larger file system, and are recreated one fault " +
      "domain after the other. The message says what the next one waits for: a pod that is still " +
      "coming back, a database that has fewer copies or coordinators than it should, another " +
      "change that must be complete first, or the limit `maxZonesWithUnavailablePods`. A database " +
      "with one copy of its data tolerates no loss: its pods are replaced, or with " +
      "`podUpdateStrategy: Delete` recreated with a Warning; a coordinator that is known by its " +
      "address then stays until DNS names are used.",
  },
  ProcessesMissing: {
    concern: "look",
    usualMs: 3 * minuteMs,
    rank: "process",
    meaning:
      "The pod runs, but the database does not see its processes, or a new database waits for " +
      "them. Usual for some seconds after a start. A new database is created without the missing " +
      "ones after a minute. When it lasts, look at the pod's log: an `fdbserver` that ends at its " +
      "start says there why. Among `customParameters` an option that does not exist ends it " +
      "(`knobb_x=1`), and a few values do (`knob_cache_eviction_policy=fifo`, a `memory` that " +
      "cannot be read). A knob that does not exist, or a value that is no number, does not: the " +
      "process runs with the default, and only a `WARNING` in the pod's log tells.",
    remedy:
      "Nothing for two minutes; then look at the pod's log (kubectl logs POD -c foundationdb; " +
      "fdbserver says there why it ends) and at the network.",
  },
  ServiceAddressMissing: {
    concern: "look",
    rank: "start",
    meaning:
      "With `publicIPSource: service` a pod is made when its service has an address. None has " +
      "been given yet.",
    remedy: "Look at the services' events: the cluster may have run out of service addresses.",
  },
  ServiceNotOwned: {
    concern: "person",
    meaning:
      "The headless service is not needed any more, or has to be recreated for another IP family, " +
      "but it does not belong to this cluster, so that only a person can know whether " +
      "somebody uses it.",
    remedy: "Delete it if nobody needs it.",
  },
  ServiceSurplus: {
    concern: "passing",
    meaning:
      "The headless service is not needed any more, or has to be recreated for another IP family, " +
      "but it stays as long as a coordinator is known by a name that it gives, or a process may " +
      "still look for coordinators by its names.",
  },
  SidecarUnreachable: {
    concern: "look",
    usualMs: 3 * minuteMs,
    rank: "pod",
    meaning:
      "The sidecar of a split pod does not answer on port 8080, so that nobody knows with which " +
      "configuration the pod runs. Look at its log and at network policies between the operator " +
      "and the pod.",
    remedy: "Look at the sidecar's log and at network policies between the operator and the pod.",
  },
  VolumeAtRisk: {
    concern: "look",
    rank: "volume",
    meaning:
      "The volume claim of a running pod is being deleted, is gone, or has lost its volume. " +
      "Kubernetes keeps the volume only as long as the pod runs, so its data is lost when the pod " +
      "ends. The operator does not touch these pods any more; it replaces their process groups, " +
      "so that the database moves the data to new volumes first. Until that is over, do not " +
      "delete these pods, do not drain their nodes, and see to it that new pods find room. The " +
      "deletion of a claim cannot be taken back.",
    remedy: "Leave the pod alone until its process group has been replaced.",
  },
  VolumeLost: {
    concern: "look",
    rank: "volume",
    meaning:
      "The volume of a process group is gone, or its process came back on another one: a copy of " +
      "data is lost. The other copies serve, and the database makes new ones. The process group " +
      "is replaced; it goes when the database has confirmed that nothing that was on the old " +
      "volume is missing. If the database is not available, more was lost than it can bear: bring " +
      "back the old volumes (with the reclaim policy `Retain` they still exist), or restore a " +
      "backup.",
    remedy:
      "Nothing, while data moves: the other copies serve. If the database is not available, its " +
      "data must come from a backup or from volumes that were kept.",
  },
  VolumePending: {
    concern: "look",
    rank: "start",
    meaning:
      "The volume claim of the pod is not bound, or has lost its volume. `kubectl describe pvc` " +
      "says why: usually the storage class is missing or cannot make a volume in that zone.",
    remedy: "Look at the claims (kubectl describe pvc): the storage class may not exist.",
  },
} as const satisfies Readonly<Record<string, Reason>>;
