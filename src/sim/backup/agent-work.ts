// What the tasks of an agent need, and what they give back.
import type { TupleElement } from "../../fdb/tuple.ts";
import type { Database } from "../database/database.ts";
import { randomHex } from "../database/fabric.ts";
import type { KeyChanges, Layer } from "./layer-config.ts";
import { addTask } from "./task-bucket.ts";
import type { Task } from "./task-bucket.ts";
import type { Container } from "./store-client.ts";
import type { ToolLife } from "./tool-life.ts";

export interface AgentWork {
  readonly database: Database;
  readonly life: ToolLife;
  /** Fails with 2314 when the URL in the database is not one. */
  open(url: string): Container;
  readFile(path: string): string | undefined;
}

/** What happens at the end of a task, at one version, if it is still the agent's. */
export type Outcome = () => KeyChanges;

export type TaskRunner = (work: AgentWork, task: Task) => Promise<Outcome>;

export function follow(
  work: AgentWork,
  layer: Layer,
  uid: string,
  type: string,
  parameters: Readonly<Record<string, TupleElement>> = {},
  scheduledVersion = 0,
): KeyChanges {
  const id = randomHex(work.database.fabric, 32);
  return addTask({ id, type, layer, uid, scheduledVersion, parameters });
}
