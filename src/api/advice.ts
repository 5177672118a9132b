// Advice about a cluster: what could be better, with a figure and what to do about it. Nobody acts upon it but people.
// Rules: spec/advice.md.
import { array, enumeration, integer, object, required, string } from "./schema.ts";
import type { TypeOf } from "./schema.ts";

/** In the order in which it is told. */
export const adviceTopics = [
  "StorageNearlyFull",
  "ZonesUneven",
  "KnobsDiffer",
  "LogsTooMany",
  "ProcessesIdle",
] as const;
export type AdviceTopic = (typeof adviceTopics)[number];

export const adviceTextMaximum = 512;
export const adviceGroupsMaximum = 10;

export const adviceSchema = array(
  object(
    {
      topic: required(enumeration(adviceTopics, "What it is about.")),
      message: required(string("What is so, with its figures.", { maxLength: adviceTextMaximum })),
      remedy: required(string("What to do about it.", { maxLength: adviceTextMaximum })),
      figure: integer("The figure that it rests on, in the unit that its message has."),
      processGroups: array(string("", { maxLength: 63 }), "Process groups that it is about.", {
        maxItems: adviceGroupsMaximum,
      }),
    },
    "",
  ),
  "What could be better. The operator does nothing about it, and the resource is reconciled all the same.",
  { maxItems: adviceTopics.length },
);

export type Advice = TypeOf<typeof adviceSchema>[number];
