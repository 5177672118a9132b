// What is known of a reason apart from the moment: how much it concerns people, what it explains, what it means. Each reason
// stands once, in the file of its subject beside this one. Rules: spec/plan.md [P7], spec/explain.md [E20], [E21], [E47].

/** "passing": usual, ends by itself. "look": not usual when it lasts. "person": nobody else can end it. */
export type Concern = "passing" | "look" | "person";

/** From cause to consequence: a node that is gone explains a pod that does not run, and that explains nearly everything else. */
export const ranks = [
  /** The operator cannot work as it should. */
  "operator",
  "volume",
  "coordinators",
  "halls",
  "node",
  /** A pod cannot start. */
  "start",
  "canary",
  "pod",
  "process",
] as const;

export interface Reason {
  readonly concern: Concern;
  /** How long ordinary work (a new version, another redundancy, pods made again) brings it with it; a minute when absent. */
  readonly usualMs?: number;
  /** Its place among causes; without one it follows them in the order of the steps. */
  readonly rank?: (typeof ranks)[number];
  /** Its paragraph in docs/errors.md. */
  readonly meaning: string;
  /** What a person can do, where that is always the same. A step that knows better says so itself. */
  readonly remedy?: string;
  /** The page in docs that tells more. */
  readonly page?: string;
}
