// Reasons around the database: its configuration, its coordinators, and what it says of itself.
import type { Reason } from "./reason.ts";

const minuteMs = 60_000;

export const databaseReasons = {
  ConfigurationConflict: {
    concern: "person",
    meaning:
      "Several resources share one database, and another one has set a redundancy mode, regions, a " +
      "storage engine or settings of the storage wiggle that differ from what this resource wants. An instance that was satisfied before does not " +
      "undo what another one did. Give all resources of the database the same " +
      "`databaseConfiguration`; the resource whose spec changed last is the one that acts.",
    remedy: "Give all resources of the database the same databaseConfiguration.",
  },
  ConfigurationStaged: {
    concern: "passing",
    meaning:
      "Regions are changed in several steps, since FoundationDB accepts them in one order only. " +
      "The next step follows when the database has taken this one.",
    remedy: "Nothing: the next step follows when the database has taken this one.",
  },
  ConfigurationUnsafe: {
    concern: "look",
    usualMs: 5 * minuteMs,
    meaning:
      "The database configuration has to change, but not in the present state: data is not " +
      "healthy, the last recovery is too fresh, a server lags, or, for `three_data_hall` and " +
      "`three_datacenter`, there are not enough processes in three halls or datacenters. " +
      "FoundationDB itself would accept the change and might then be unavailable for good. The " +
      "message names what is missing.",
  },
  ConfigureDisabled: {
    concern: "person",
    meaning:
      "The database has to be created or configured, and `automationOptions.configureDatabase` is " +
      "`false`. Do it by hand with `fdbcli`, or allow it.",
    remedy: "Configure it by hand with fdbcli, or set automationOptions.configureDatabase.",
  },
  ConnectionStringLost: {
    concern: "person",
    meaning:
      "Pods or volumes of a database exist, but neither the status nor the ConfigMap knows its " +
      "connection string any more. Another one would tear the database apart, so nothing is done. " +
      "Put the text of `/var/fdb/data/fdb.cluster` of any pod into `spec.seedConnectionString`.",
  },
  CoordinatorsMoved: {
    concern: "person",
    rank: "coordinators",
    meaning:
      "With `routing.useDNSInClusterFile: false`, and while the IP family changes, coordinators are " +
      "known by the addresses of their pods. All of them, or most, have been deleted at once and came " +
      "back under other addresses. " +
      "Nothing is lost: what they know is on their volumes. But each process looks for them at " +
      "the old addresses, in a file on its own volume that the operator cannot write. The remedy " +
      "names the new connection string and two commands: one for the resource, one for each pod " +
      "of the database. Names instead of addresses keep it from happening again; during a change of " +
      "the IP family they come back when it is over.",
  },
  CoordinatorsNotRunning: {
    concern: "look",
    usualMs: 3 * minuteMs,
    meaning:
      "A new database needs its coordinators: running pods of classes that keep data, in as many " +
      "zones as the redundancy mode asks for. Either pods are still starting, or there are fewer " +
      "zones (by default: nodes) than needed.",
  },
  CoordinatorsUnfit: {
    concern: "look",
    usualMs: 10 * minuteMs,
    meaning:
      "The coordinators are not as they should be: a process is gone, two share a zone, their " +
      "number does not fit the redundancy mode, or they are known in another way (host name or " +
      "address, TLS or plain) than the resource wants. The database works as long as a majority " +
      "of them is there. The operator puts others in their place; the message says what it waits " +
      "for: a coordinator that is gone gets a minute to come back, a recovery gets a minute to " +
      "settle, a change between plain and TLS waits until every process listens in both ways, and " +
      "there must be enough processes in different fault domains.",
  },
  DatabaseForeign: {
    concern: "person",
    rank: "operator",
    meaning:
      "A database answers behind `status.connectionString`, but none of the processes of this " +
      "resource takes part in it, although their pods run. Somebody edited the connection string, " +
      "or restored the status of another resource. Its answers say nothing about this resource's " +
      "data, so nothing is replaced, removed or configured meanwhile. When the ConfigMap still " +
      "has the right connection string, it is taken from there by itself. Otherwise put the text " +
      "of `/var/fdb/data/fdb.cluster` of a storage pod into the status: `kubectl patch fdb sample " +
      "--subresource status --type merge -p " +
      '\'{"status":{"connectionString":"sample:abc@10.1.0.1:4501"}}\'`. If it is the same text, the ' +
      "processes have lost the rest of a database that several resources share: look at the logs " +
      "of the pods and at the network.",
    remedy:
      "Put the text of /var/fdb/data/fdb.cluster of a storage pod into status.connectionString " +
      "(kubectl patch --subresource status). If it is the same, look at the logs of the pods and " +
      "at the network between them and the rest of the database.",
  },
  OperatorTrustMissing: {
    concern: "person",
    rank: "operator",
    meaning:
      "`spec.operatorTrust` names a ConfigMap with the authorities that the operator's own client of this " +
      "database is to trust, and there is none of that name with that key and with the label " +
      "`foundationdb.org/fdb-cluster-name` that names the cluster. Nobody else is trusted in their place: a client that " +
      "trusted others before goes on with them, and an operator that has just started waits, asks the " +
      "database nothing and changes nothing in it. The database itself serves.",
    remedy:
      "Create the ConfigMap with that key and the label foundationdb.org/fdb-cluster-name, or take spec.operatorTrust away.",
    page: "certificates",
  },
  DatabaseNotReady: {
    concern: "look",
    meaning:
      "The coordinators or the database do not tell their state yet, which is usual while " +
      "processes start. Behind a `seedConnectionString` it means that nobody has created the " +
      "database there. Where `spec.adopt` brings a database back, servers may look elsewhere on their " +
      "volumes than where the data was written: the message names a claim that says another place than the spec.",
  },
  DatabaseUnavailable: {
    concern: "look",
    meaning:
      "The database answers, but does not serve reads and writes: it recovers, or too many " +
      "processes are gone. The message is its own description of the recovery. In the middle of " +
      "an upgrade between protocols it may need processes that restarted by themselves after " +
      "their pods were prepared, and so run the new version already. The operator restarts " +
      "nothing on a database that is not available; restart the others yourself with `fdbcli " +
      '--exec "kill; kill all; sleep 5"` in a pod that runs the old version, and the upgrade goes ' +
      "on. Where one coordinator runs the new version already and others are lost, that command " +
      "finds nobody to restart: the remedy names the pods of the coordinators that still answer, " +
      "for `kubectl exec POD -c foundationdb -- pkill fdbserver`.",
    remedy:
      "Look at the pods of the coordinators and at `fdbcli --exec 'status details'` in one of " +
      "them.",
  },
  DatabaseUnreachable: {
    concern: "look",
    meaning:
      "Nobody answered behind the connection string. Look at the pods of the coordinators, at " +
      "network policies between the operator and them, and at DNS if coordinators have host " +
      "names.",
    remedy:
      "Look at the pods of the coordinators and at `fdbcli --exec 'status details'` in one of " +
      "them.",
  },
  DiskSpaceLow: {
    concern: "look",
    rank: "start",
    meaning:
      "Storage processes have less than five percent of their disk free. FoundationDB moves no " +
      "data to them, so that exclusions, replacements and changes of redundancy do not come to an " +
      "end. Add storage processes (`processCounts.storage`): data moves to them by itself. Larger " +
      "volumes are no quick help, since a changed `volumeClaimTemplate` replaces every process " +
      "group that has one.",
    remedy:
      "Add storage processes (processCounts.storage). Larger volumes are no quick help: they " +
      "replace every storage process group, and all data moves.",
  },
  HallsMissing: {
    concern: "person",
    rank: "halls",
    meaning:
      "The redundancy mode spreads the database over three data halls or datacenters, and the " +
      "nodes do not offer them: there are fewer than three values of the label, more than three " +
      'and none were chosen, or a hall has fewer than two zones. The message names them ("hall ' +
      'az2 has 1 zone, at least 2 needed"). Before there is a database no process group is placed ' +
      "meanwhile; of one that runs it is told by the condition Warning. Add nodes, or choose " +
      "three halls with `spec.localities[].values` or a nodeAffinity.",
    page: "three-data-halls",
  },
  StatusIncomplete: {
    concern: "look",
    meaning:
      "The database does not tell everything about itself: no list of processes, no roles, an " +
      "unreachable process or a recovery that has not got far enough. Nothing is taken away from " +
      "a database that cannot be seen as a whole.",
    remedy:
      "Look at `fdbcli --exec 'status details'`: the database does not tell everything about " +
      "itself.",
  },
  StatusOutdated: {
    concern: "passing",
    meaning:
      "The last status was asked for before our own last change to the database. It proves " +
      "nothing, so a newer one is read first.",
    remedy: "Nothing: a newer status is being read.",
  },
  StatusUnreadable: {
    concern: "look",
    rank: "operator",
    meaning:
      "Parts of the status of the database have a shape that this operator does not know, for " +
      "example a process that is null or an address that is no text. The message names the first. " +
      "They are left out, and nothing disruptive is done on what is left: it could hit just what " +
      "could not be read. Pods and volumes that are missing are made all the same. If it lasts, " +
      "compare the named part in `fdbcli --exec 'status json'` with the version of FoundationDB; " +
      "a version that is newer than the operator may need a newer operator.",
    remedy:
      "Compare the named part in `fdbcli --exec 'status json'` with the version of FoundationDB: " +
      "an operator that knows it may be needed.",
  },
} as const satisfies Readonly<Record<string, Reason>>;
