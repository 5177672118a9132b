// The status of a FoundationDBBackup: what the operator has seen of the agents and of the backup, and what it waits for.
import { blockedBySchema } from "./blocked-by.ts";
import { conditionsSchema } from "./conditions.ts";
import {
  array,
  boolean,
  enumeration,
  integer,
  object,
  required,
  string,
  type Schema,
  type TypeOf,
} from "./schema.ts";

const generationAt = (meaning: string): Schema<number> =>
  integer(`Generation at which ${meaning}.`, { format: "int64" });

const pointOf = (description: string): Schema<{ version?: number; time?: string }> =>
  object(
    {
      version: integer("Version of the database.", { format: "int64" }),
      time: string("When the database had this version, by its own record of times.", {
        format: "date-time",
      }),
    },
    description,
  );

const bytesOf = (description: string): Schema<number> => integer(description, { format: "int64" });

/** Successful runs of a schedule that are listed. */
export const runsMax = 100;
/** Runs that failed, were skipped or have been removed. */
export const otherRunsMax = 20;

const runSchema = object(
  {
    time: required(string("When the run was due.", { format: "date-time" })),
    backupName: required(string("Name of its destination.", { maxLength: 1100 })),
    url: string("Where it went; a secret in it is left out.", { maxLength: 4096 }),
    result: required(
      enumeration(
        ["Pending", "Running", "Succeeded", "Failed", "Skipped", "Removed"],
        "What became of it; the data of a removed run was deleted.",
      ),
    ),
    message: string("Why it failed or was skipped.", { maxLength: 1024 }),
    ended: string("When it was seen to have ended.", { format: "date-time" }),
    version: integer("The version that it can be restored to.", { format: "int64" }),
  },
  "",
);

export type BackupRun = TypeOf<typeof runSchema>;

const figuresOf = (description: string): Schema<Figures> =>
  object(
    {
      keys: required(bytesOf("Keys of users.")),
      bytes: required(bytesOf("Bytes of these keys and their values.")),
      estimated: boolean("Keys are estimated from sampled ranges, and bytes by FoundationDB."),
    },
    description,
  );

/** What a database holds. */
export interface Figures {
  readonly keys: number;
  readonly bytes: number;
  readonly estimated?: boolean;
}

export const drillPhases = [
  "Preparing",
  "Creating",
  "Restoring",
  "Comparing",
  "Checking",
  "Removing",
] as const;

const drillSchema = object(
  {
    time: required(string("When it was due.", { format: "date-time" })),
    name: required(string("Name of its cluster, its restore and its pod.", { maxLength: 63 })),
    began: required(string("When it began.", { format: "date-time" })),
    phase: required(enumeration(drillPhases, "How far it is.")),
    source: figuresOf("What the database held when the drill began."),
    copy: figuresOf("What was restored."),
    version: integer("The version that was restored.", { format: "int64" }),
  },
  "The drill of spec.verification that is under way.",
);

export type Drill = TypeOf<typeof drillSchema>;

export const backupStatusSchema = object(
  {
    conditions: conditionsSchema(
      "Reconciled, Running, Restorable, Behind, Expired where there is a retention, and Verified where there are drills",
    ),
    blockedBy: blockedBySchema,
    observedSince: object(
      {
        agentsSilent: string("The backup runs, and no agent speaks to the database.", {
          format: "date-time",
        }),
        faultToleranceReduced: string(
          "The database is short of its fault tolerance, which suspends the backup when it lasts.",
          { format: "date-time" },
        ),
      },
      "Since when something has been so that decisions look at over time; absent while it is not.",
    ),
    agentCount: integer("Agents that run with the wanted settings."),
    deploymentConfigured: boolean("The Deployment of the agents is current."),
    backupUID: string(
      "Identifies the backup of this resource inside the database: no other backup of the tag is touched.",
      { maxLength: 32 },
    ),
    backupDetails: object(
      {
        url: string("Where the backup goes; a secret in it is left out."),
        running: boolean("The backup runs."),
        paused: boolean("The agents are paused."),
        snapshotTime: integer("Time between snapshots, as the database has it."),
        restorable: boolean("The backup can be restored."),
        tag: string("Name of the backup inside the database."),
      },
      "What the database says of the backup.",
    ),
    state: string("State of the backup, as the database has it; Paused while agents are paused."),
    restorable: object(
      {
        from: pointOf("The first point that can be restored."),
        to: pointOf("The last point that can be restored."),
      },
      "What can be restored. Renewed with other news, and every ten minutes.",
    ),
    gap: object(
      {
        backupUID: required(string("The backup that was started again.", { maxLength: 32 })),
        before: required(bytesOf("The last version before the gap that could be restored.")),
        after: bytesOf("The first version behind it that the database takes for restorable."),
        looked: string("When the store was last looked at.", { format: "date-time" }),
        closed: boolean("The store was seen to be restorable behind the gap."),
      },
      "The backup was started again where an earlier one lies, which leaves a gap in the logs of the store.",
    ),
    moved: object(
      {
        backupUID: required(string("The backup that was moved.", { maxLength: 32 })),
        version: required(bytesOf("The version of the database when it had been moved.")),
        looked: string("When the store was last looked at.", { format: "date-time" }),
        from: pointOf("The first point that can be restored from the new place."),
      },
      "The backup goes on in another place: only what lies there counts as restorable.",
    ),
    lag: string("How far the last point that can be restored is behind, as of the last renewal."),
    bytes: object(
      {
        logs: bytesOf("Written for mutation logs."),
        snapshots: bytesOf("Written for snapshots."),
        total: bytesOf("Written in all since the start."),
      },
      "What the agents have written since the start; less may lie there by now.",
    ),
    snapshot: object(
      {
        progress: integer("Of the present snapshot, in percent of its time.", { maximum: 100 }),
        eta: string("When the present snapshot is to be complete.", { format: "date-time" }),
      },
      "The snapshot that is being written.",
    ),
    expiry: object(
      {
        time: string("When old data was last looked for.", { format: "date-time" }),
        before: bytesOf("Data before this version was last expired."),
        restorableFrom: bytesOf("The first version that can be restored, as the store shows it."),
        refused: boolean("FoundationDB refused the last expiry, so nothing was deleted."),
      },
      "What spec.retention has done.",
    ),
    schedule: object(
      {
        cron: string("As it was last seen."),
        timeZone: string("As it was last seen."),
        since: string("Since when the schedule is what it is: no earlier run is made up.", {
          format: "date-time",
        }),
        next: string("When the next run is due.", { format: "date-time" }),
      },
      "What the operator remembers of spec.schedule.",
    ),
    runs: array(runSchema, "Runs of spec.schedule, the newest last.", {
      maxItems: runsMax + otherRunsMax,
      listType: "atomic",
    }),
    lastSuccess: string("When the last run that succeeded was seen to have ended.", {
      format: "date-time",
    }),
    verification: object(
      {
        cron: string("As it was last seen."),
        timeZone: string("As it was last seen."),
        since: string("Since when the schedule is what it is: no earlier drill is made up.", {
          format: "date-time",
        }),
        next: string("When the next drill is due.", { format: "date-time" }),
        skipped: object(
          {
            time: required(string("When it was due.", { format: "date-time" })),
            message: required(string("Why it was skipped.", { maxLength: 1024 })),
            count: required(integer("How many were skipped in a row.")),
          },
          "The last drill that was skipped; absent when one was made since.",
        ),
      },
      "What the operator remembers of spec.verification.",
    ),
    drill: drillSchema,
    lastVerification: object(
      {
        time: required(string("When the drill was due.", { format: "date-time" })),
        result: required(enumeration(["Passed", "Failed"], "What came of it.")),
        message: string("What was found, or why it failed.", { maxLength: 4096 }),
        version: integer("The version that was restored.", { format: "int64" }),
        duration: string("How long it took."),
        keys: integer("Keys that were restored; estimated where there are many.", {
          format: "int64",
        }),
        bytes: integer("Bytes that were restored; estimated where there are many.", {
          format: "int64",
        }),
        lastPassed: string("When the last drill that passed, and brought back data, had ended.", {
          format: "date-time",
        }),
      },
      "The last drill that has ended.",
    ),
    generations: object(
      {
        reconciled: generationAt("everything was as the spec wants it"),
        needsBackupAgentUpdate: generationAt("the agents were not current"),
        needsBackupStart: generationAt("the backup had to be started"),
        needsBackupStop: generationAt("the backup had to be stopped"),
        needsBackupPauseToggle: generationAt("the backup had to be paused or resumed"),
        needsBackupModification: generationAt("the backup had to be modified"),
      },
      "Generations of the resource at which something held.",
    ),
  },
  "What the operator has seen.",
);

export type BackupStatus = TypeOf<typeof backupStatusSchema>;
