// Reasons that backups have, and restores, which share agents, commands and stores with them.
import type { Reason } from "./reason.ts";

export const backupReasons = {
  BackupAgentsForeign: {
    concern: "person",
    meaning:
      "A Deployment with the name of the agents' one exists and does not belong to this " +
      "resource, so it is not touched. Delete it if nobody needs it, or make the resource under " +
      "another name.",
  },
  BackupAgentsNotReady: {
    concern: "look",
    meaning:
      "Fewer agents are ready than `spec.agentCount` says. The backup goes on with those that " +
      "are. `kubectl describe deployment` and the pods of it say what the others lack: room, an " +
      "image, a Secret.",
  },
  BackupAgentsSilent: {
    concern: "look",
    meaning:
      "The backup runs, and no agent has told the database of itself for two minutes: nothing is " +
      "written. The agents do not run, have another version than the database, lack its " +
      "certificates, or hold a cluster file whose coordinators are all gone. Their logs say " +
      "which. After ten minutes agents that look ready are replaced once, with the cluster file " +
      "of that time.",
  },
  BackupBeingRestored: {
    concern: "passing",
    meaning:
      "Data of the backup is to be deleted or expired, and a restore reads it: without it the " +
      "restore would stand still with its destination locked. It goes on when the restore has " +
      "ended, or when the FoundationDBRestore that the message names is deleted.",
  },
  BackupClusterAsleep: {
    concern: "look",
    usualMs: Infinity,
    meaning:
      "The database of the backup, or the destination of the restore, was stopped on purpose (`spec.hibernate`), " +
      "or wakes from that. What was to be started, changed, followed or ended waits until it serves again. " +
      "A backup that ran goes on by itself then.",
    page: "hibernation",
  },
  BackupClusterMissing: {
    concern: "person",
    meaning:
      "There is no FoundationDBCluster of the name in `spec.clusterName`, of a restore in " +
      "`spec.destinationClusterName`, in this namespace, or this operator does not look after it. " +
      "The agents' pods wait for its ConfigMap.",
  },
  BackupClusterSkipped: {
    concern: "person",
    meaning:
      "`spec.skip` of the cluster is true, so the operator leaves its database alone. Agents " +
      "that run go on, and nothing is started, changed, followed or ended until `skip` is false " +
      "again. A restore that has not begun does not begin.",
  },
  BackupCommandFailed: {
    concern: "look",
    meaning:
      "A command of `fdbbackup` or `fdbrestore` failed with something that the operator does not know; the " +
      "message quotes it. The pod of the command is kept for ten minutes; its log has all of it. " +
      "It is tried again after pauses from ten seconds to five minutes.",
  },
  BackupCommandRunning: {
    concern: "passing",
    meaning:
      "A command of `fdbbackup` or `fdbrestore` runs in a pod of its own, or has ended and the database is being " +
      "read for what came of it. When the pod has not started, the message says why in the words " +
      "of Kubernetes. It has a deadline.",
  },
  BackupCredentialsMissing: {
    concern: "person",
    meaning:
      "The store did not answer, and nothing in the template could be credentials: `accountName` " +
      "holds no secret and the container `foundationdb` has no `FDB_BLOB_CREDENTIALS`. " +
      "FoundationDB's tools wait in silence then. Mount a Secret with a credentials file.",
    page: "backup",
  },
  BackupDataDamaged: {
    concern: "person",
    meaning:
      "FoundationDB's tools say that files of the backup are missing in the store or cannot be " +
      "read as what they were written as. No later try helps. Look for who has deleted objects in the bucket, " +
      "a life-cycle rule for example. Restore to another point, or from another backup, and let " +
      "the backup begin again under another `backupName`.",
    page: "restore",
  },
  BackupDestinationInUse: {
    concern: "person",
    meaning:
      "Another backup writes to the same host, bucket and name. Two backups in one place damage " +
      "each other, and FoundationDB does not notice. Give one of them a `backupName` of its own. " +
      "When a backup is being deleted with its data, the data stays for the same reason, also while " +
      "another backup lies below it: `a/b` would go along with `a`.",
  },
  BackupDestinationNotEmpty: {
    concern: "person",
    meaning:
      "In the destination of a new backup, or of one that is to move, something lies already that " +
      "this database has not written under this tag. A backup of another database, or of an " +
      "earlier life of this one, mixed with a new one can be restored to nonsense. Choose another " +
      "`backupName`, or delete what lies there. It is looked at again every ten minutes.",
  },
  BackupDrillForbidden: {
    concern: "person",
    meaning:
      "A drill of `spec.verification` makes a FoundationDBCluster and a FoundationDBRestore and removes them, " +
      "and the API server does not let the operator do so: that right is not among those of the roles by " +
      "default. Set `drillAccess: true` in the values of the chart, or apply `deploy/kustomize/namespaced-drills` " +
      "or `cluster-wide-drills`. The drill goes on as soon as it may, and has failed if that is not before its deadline.",
    page: "backup",
  },
  BackupDrillRunning: {
    concern: "passing",
    meaning:
      "A drill of `spec.verification` is under way, or what it has made is being removed. The message says " +
      "how far it is, `status.drill` names its cluster and its restore. The backup itself is not affected. " +
      "A drill has a deadline.",
    page: "backup",
  },
  BackupDrillTooSmall: {
    concern: "person",
    meaning:
      "The volumes of the storage processes of `spec.verification.template` would not hold what the database " +
      "holds: a restore needs about twice its bytes in all copies. Nothing was made. Give the template larger " +
      "volumes or more storage processes, or `redundancy_mode: single`. The drill goes on as soon as there " +
      "is room, and has failed if that is not before its deadline.",
    page: "backup",
  },
  BackupErrors: {
    concern: "look",
    meaning:
      "Agents met errors since the last point that can be restored; the message is the newest. " +
      "They try again by themselves. When it lasts, look at the store: credentials, free space, " +
      "quota, reachability from the agents' pods.",
  },
  BackupExpiryRefused: {
    concern: "look",
    meaning:
      "`spec.retention` wanted old data expired, and FoundationDB refused: too little could be " +
      "restored afterwards. Nothing was deleted. It is tried again after `retention.interval`, with " +
      "a fresh look at the store. When it lasts, `fdbbackup describe --deep` shows what is missing there: a " +
      "snapshot or a log that was lost.",
  },
  BackupGap: {
    concern: "person",
    meaning:
      "The backup was stopped and started again in the same place. Between the two nothing was " +
      "written, so the logs in the store have a gap. Some versions of FoundationDB's tools " +
      "restore nothing behind it, so it counts as not restorable until the store itself says " +
      "otherwise; it is asked once an hour. A `backupName` of its own for what is written from " +
      "now on ends it.",
    page: "backup",
  },
  BackupOutputUnreadable: {
    concern: "look",
    meaning:
      "A command has ended well, and what it printed cannot be read: most of the time the node of its pod does not " +
      "answer, and the message has the words of Kubernetes. Nothing is decided without it. It is tried again; ten " +
      "minutes after its end the pod goes, and the command runs again in another one.",
  },
  BackupIsLast: {
    concern: "person",
    meaning:
      "The resource is being deleted with `deletionPolicy: cleanup`, and it is the only backup of " +
      "its database that can be restored. Its data is deleted only if the annotation " +
      "`foundationdb.org/delete-last-backup` holds the name of the backup. To keep the data, set " +
      "`deletionPolicy` to `stop`.",
  },
  BackupKeyUnusable: {
    concern: "person",
    meaning:
      "The file of `spec.encryptionKeyPath` is missing in the container or is no key of 32 bytes. " +
      "It has to be mounted into the container `foundationdb` of the template, where agents and " +
      "commands read it.",
  },
  BackupPauseDisputed: {
    concern: "person",
    meaning:
      "Agents are paused for a whole database. Two of its backups want different things, so " +
      "nothing is changed. Set both to the same `backupState`, or one of them to `Stopped`.",
  },
  BackupStopping: {
    concern: "passing",
    meaning:
      "The backup was told to stop before it could be restored. FoundationDB lets it go on until " +
      "it can, which takes half a minute when agents run.",
  },
  BackupStoreRefused: {
    concern: "person",
    meaning:
      "The store answered with a refusal, and FoundationDB does not tell which: a wrong key or " +
      "secret, a bucket or region that does not exist, or a clock that is off by more than some " +
      "minutes. A tool that crashes with a signal has met a bucket that does not exist.",
  },
  BackupStoreUnreachable: {
    concern: "look",
    meaning:
      "The store gave no answer in time. The host cannot be resolved or reached, TLS is expected " +
      "where there is none (or the other way round: `sc=0`), the certificate is not trusted " +
      "(`FDB_TLS_CA_FILE`), or the credentials file has no entry for the account; entries are " +
      "named `account@host`, without the port.",
  },
  BackupSuspended: {
    concern: "look",
    meaning:
      "`spec.suspendOnUnhealthy` is true and the database is short of its fault tolerance; the " +
      "message says what is missing. When that lasts half a minute, all agents of the database are " +
      "paused, so that their reads and writes leave it to its repair. They go on by themselves.",
  },
  BackupTagInUse: {
    concern: "person",
    meaning:
      "A tag is the name of one backup inside the database. Another resource has it, or somebody " +
      "runs a backup under it that this resource did not start. Nothing is done to that one. Make " +
      "the resource again with a `spec.tag` of its own, or end the other backup.",
  },
  BackupUrlInvalid: {
    concern: "person",
    meaning:
      "FoundationDB does not accept the URL that `spec.blobStoreConfiguration` makes; the message " +
      "is its own. Often `region=` is missing, which requests with AWS signatures need, or a " +
      "parameter is misspelt.",
  },
  BackupVersionMismatch: {
    concern: "person",
    meaning:
      "The agents' version speaks another protocol than the database. After an upgrade of the " +
      "database to another minor version set `spec.version` of its backups too.",
  },
} as const satisfies Readonly<Record<string, Reason>>;
