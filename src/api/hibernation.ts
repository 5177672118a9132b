// A database that sleeps: its pods are gone, its volumes stay. The wish, the consents that it may need, and what the status
// remembers of it. Rules: spec/hibernation.md.
import { routingSchema } from "./cluster-options.ts";
import {
  array,
  boolean,
  described,
  enumeration,
  integer,
  object,
  required,
  string,
} from "./schema.ts";
import type { TypeOf } from "./schema.ts";

/** What a person may accept on purpose so that a database falls asleep all the same. */
export const hibernationConsents = ["ConnectedClients", "RunningBackup", "SharedDatabase"] as const;
export type HibernationConsent = (typeof hibernationConsents)[number];

export const hibernateSchema = boolean(
  "Stops the database: all pods go, volumes, services and the connection string stay.",
  { effective: "false" },
);

export const hibernateDespiteSchema = array(
  enumeration(hibernationConsents, ""),
  "What hibernation need not wait for: clients that are connected, a backup that runs, other resources of the same database.",
  { maxItems: hibernationConsents.length },
);

export const hibernationSchema = object(
  {
    since: required(string("When the database was stopped.", { format: "date-time" })),
    generation: integer("The generation of the resource that was in force then.", {
      format: "int64",
    }),
    routing: described(
      routingSchema,
      "How its processes were found then; in force until it serves again.",
    ),
  },
  "Present from the stop of a hibernated database until it serves again.",
);

export type Hibernation = TypeOf<typeof hibernationSchema>;

/** The stop has been decided and not been taken back: the database sleeps, or is about to. */
export function isHibernated(cluster: {
  readonly spec: { readonly hibernate?: boolean };
  readonly status?: { readonly hibernation?: Hibernation };
}): boolean {
  return cluster.spec.hibernate === true && cluster.status?.hibernation !== undefined;
}
