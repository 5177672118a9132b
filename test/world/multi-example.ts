// The examples of several Kubernetes clusters, made in worlds stage by stage as a person would.
import { exampleOf } from "../../src/cli/examples.ts";
import type { ExampleName } from "../../src/cli/examples.ts";
import { takeStage } from "../../src/cli/take-stage.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import type { MultiTestOptions } from "./multi-harness.ts";

/** The database of the example, with all clusters reconciled. */
export async function runMultiExample(
  example: ExampleName,
  options: Omit<MultiTestOptions, "names" | "resource">,
  body: (world: MultiTestWorld, names: readonly string[]) => Promise<void>,
): Promise<void> {
  const { sites: names, stages } = exampleOf(example);
  await MultiTestWorld.run({ ...options, names, resource: "sample" }, async (world) => {
    for (const stage of stages) {
      await takeStage(stage, world.multi.worlds);
      await world.untilAllReconciled();
    }
    await body(world, names);
  });
}
