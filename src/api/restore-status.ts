// The status of a FoundationDBRestore: what the operator has seen of the restore, and what it waits for.
import { blockedBySchema } from "./blocked-by.ts";
import { conditionsSchema } from "./conditions.ts";
import { boolean, integer, object, string, type Schema, type TypeOf } from "./schema.ts";

const int64 = (description: string): Schema<number> => integer(description, { format: "int64" });

export const restoreStatusSchema = object(
  {
    conditions: conditionsSchema("Reconciled, Running and Completed"),
    blockedBy: blockedBySchema,
    running: boolean("The restore was started."),
    state: string("State of the restore, as the database has it.", { maxLength: 50 }),
    tag: string("Name of the restore inside the database.", { maxLength: 64 }),
    restoreUID: string("Identifies the restore inside the database, and is the UID of its lock.", {
      maxLength: 32,
    }),
    url: string("Where the backup lies; a secret in it is left out."),
    window: object(
      {
        from: int64("The first version."),
        to: int64("The last version."),
      },
      "What can be restored from the store, as of the last look before the start.",
    ),
    target: object(
      {
        version: int64("The version that is restored."),
        time: string("The time that was asked for.", { format: "date-time" }),
        earlierBySeconds: integer("By how much the version may be earlier than that time."),
      },
      "The point that is restored.",
    ),
    earlierUID: string("Restore that the tag stood for before this one was started.", {
      maxLength: 32,
    }),
    startTime: string("When the restore was first seen in the database.", { format: "date-time" }),
    endTime: string("When its end was seen.", { format: "date-time" }),
    progress: object(
      {
        percent: integer("Of the blocks of the backup's files.", { maximum: 100 }),
        bytes: int64("Written into the destination."),
        versionsLeft: int64("Versions of the log that are still to be applied."),
        eta: string("When the end is to be expected, by the speed so far.", {
          format: "date-time",
        }),
      },
      "How far the restore is. Renewed once a minute.",
    ),
    generations: object(
      { reconciled: int64("Generation at which the restore had ended as it should.") },
      "Generations of the resource at which something held.",
    ),
  },
  "What the operator has seen.",
);

export type RestoreStatus = TypeOf<typeof restoreStatusSchema>;
