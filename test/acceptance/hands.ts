// What a person does to the database itself, beside the operator.
import { person } from "../world/removal-harness.ts";
import type { TestWorld } from "../world/world-harness.ts";

export function excludeByHand(world: TestWorld, targets: readonly string[]): Promise<void> {
  return person(world, (client) => client.exclude(targets, { wait: false, timeoutMs: 10_000 }));
}

export function includeByHand(world: TestWorld, targets: readonly string[]): Promise<void> {
  return person(world, (client) => client.include(targets, 10_000));
}
