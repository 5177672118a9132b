// Preview against the world: a cluster in a world, a picture of it, a preview of a change, then the same change in the world
// itself. What was stated is compared with what happened. Rule: spec/preview.md [PV10].
import { strict as assert } from "node:assert";
import type { ExampleName } from "../../src/cli/examples.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import { applyChange } from "../../src/preview/change.ts";
import type { Change } from "../../src/preview/change.ts";
import { subjectsOf } from "../../src/preview/phases.ts";
import { problemText } from "../../src/preview/picture.ts";
import { Recorder } from "../../src/preview/recorder.ts";
import type { RunRecord } from "../../src/preview/recorder.ts";
import { coordinatorChanges } from "../../src/preview/report.ts";
import { runChange, runPending, untilRest } from "../../src/preview/run.ts";
import { runExample } from "../world/hall-harness.ts";
import { runMultiExample } from "../world/multi-example.ts";
import { hourMs, minuteMs, TestWorld } from "../world/world-harness.ts";
import type { TestWorldOptions } from "../world/world-harness.ts";
import { pictureOf } from "./world-picture.ts";

export interface PreviewCase {
  readonly title: string;
  readonly spec: Partial<ClusterSpec>;
  /** The file of the examples that the cluster comes from instead. */
  readonly example?: string;
  /** One of several Kubernetes clusters, which is previewed and changed, and the example that they are from. */
  readonly member?: readonly [example: ExampleName, name: string];
  readonly options?: TestWorldOptions;
  readonly change: (cluster: FoundationDBCluster) => Change;
}

/** One figure: what the runs of the preview stated, and what then happened. */
export interface Figure {
  readonly what: string;
  readonly stated: readonly number[];
  readonly happened: number;
  /** By how much it may miss the range: a share, and an amount. */
  readonly share?: number;
  readonly amount?: number;
}

export interface Comparison {
  readonly figures: readonly Figure[];
  readonly ends: { readonly stated: readonly string[]; readonly happened: string };
  /** For whoever looks for the cause of a miss. */
  readonly records: { readonly stated: readonly RunRecord[]; readonly happened: RunRecord };
}

const limitMs = 8 * hourMs;

export async function compare(
  { spec, example, member, options, change }: PreviewCase,
  seeds: readonly number[],
): Promise<Comparison> {
  let recorder: Recorder | undefined;
  let comparison: Comparison | undefined;
  const listeners: Pick<TestWorldOptions, "onActivity" | "onRequest"> = {
    onActivity: (activity) => recorder?.onActivity(activity),
    onRequest: (request) => recorder?.onRequest(request),
  };
  const all: TestWorldOptions = { nodes: 9, ...options, ...listeners };
  const body = async (world: TestWorld): Promise<void> => {
    await world.clock.advance(12 * minuteMs);
    const picture = await pictureOf(world);
    const wanted = change(picture.cluster);
    const pending = await runPending(picture, { seed: 1, limitMs });
    assert.ok(
      "run" in pending,
      "problems" in pending ? pending.problems.map(problemText).join() : "",
    );
    assert.deepEqual(pending.run.record.writes, [], "a copy of a resting cluster rests");
    const stated: RunRecord[] = [];
    for (const seed of seeds) {
      const result = await runChange(picture, wanted, { seed, limitMs, restsFirst: false });
      assert.ok("run" in result, "refusal" in result ? result.refusal : "not woken");
      stated.push(result.run.record);
    }
    const { namespace = "", name = "" } = picture.cluster.metadata;
    recorder = new Recorder({ world: world.world, namespace, name });
    const target = { world: world.world, clock: world.clock, namespace, name };
    assert.equal(await applyChange(wanted, target), undefined);
    const end = await untilRest(world.clock, recorder, { limitMs });
    comparison = comparisonOf(stated, recorder.record(0, end));
  };
  if (member !== undefined) {
    const [from, own] = member;
    const siteOf = (name: string): TestWorldOptions => (name === own ? listeners : {});
    await runMultiExample(from, { siteOf }, (multi) => body(multi.at(own)));
  } else if (example === undefined) await TestWorld.runWithCluster({ ...all, spec }, body);
  else await runExample(example, all, body);
  assert.ok(comparison);
  return comparison;
}

function comparisonOf(stated: readonly RunRecord[], happened: RunRecord): Comparison {
  const figure = (
    what: string,
    of: (record: RunRecord) => number,
    tolerance: Pick<Figure, "share" | "amount"> = {},
  ): Figure => ({ what, stated: stated.map(of), happened: of(happened), ...tolerance });
  const kinds = [...new Set([happened, ...stated].flatMap((record) => [...actsOf(record).keys()]))];
  return {
    figures: [
      ...kinds.toSorted().map((kind) =>
        // How many changes of metadata are one write depends on which of them come together.
        figure(`act: ${kind}`, (record) => actsOf(record).get(kind) ?? 0, {
          ...(/^(patchPod|copyToPod) /.test(kind) ? { amount: 2 } : {}),
        }),
      ),
      figure("recoveries", ({ recoveries }) => recoveries.length),
      figure("lowest fault tolerance, data", ({ tolerance }) => tolerance.lowest?.data ?? -2),
      figure(
        "lowest fault tolerance, availability",
        ({ tolerance }) => tolerance.lowest?.availability ?? -2,
      ),
      figure("coordinator changes", coordinatorChanges),
      figure("process groups at the end", ({ after }) => Object.keys(after.processGroups).length),
      figure("pods at most", ({ amounts }) => amounts.most.pods),
      // Status does not tell which data lies where: a shard more or less, which is 30 to 40 MB here.
      figure("bytes moved", ({ copiedBytes }) => copiedBytes, { share: 0.2, amount: 40e6 }),
      figure("seconds", ({ doneMs, startedMs }) => (doneMs - startedMs) / 1000, {
        ...{ share: 0.5, amount: 60 },
      }),
    ],
    ends: { stated: stated.map(({ end }) => end), happened: happened.end },
    records: { stated, happened },
  };
}

/** How often what was done to process groups of which class: which of several equals is left open. */
function actsOf(record: RunRecord): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (kind: string): void => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const act of record.acts) {
    const { action } = act;
    if (action.type === "configureDatabase") add(`configure ${action.arguments}`);
    else {
      for (const id of subjectsOf({ ...record, acts: [act] }, action.type)) {
        add(`${action.type} ${classOf(id)}`);
      }
    }
  }
  return counts;
}

/** "storage" of storage-123; addresses and localities are all alike. */
function classOf(id: string): string {
  return /^(?:locality_instance_id:)?(?:.*-)?([a-z_]+)-\d+$/.exec(id)?.[1] ?? "something";
}

/** Data was lost, as was stated: what happens then hangs on which data it was, and no figure of it is stated. */
export function isStatedLoss({ records: { stated, happened } }: Comparison): boolean {
  return happened.isDataMissing && stated.some(({ isDataMissing }) => isDataMissing);
}

/** The figures that a preview stands for. */
export function figuresOf(comparison: Comparison): readonly Figure[] {
  return isStatedLoss(comparison) ? [] : comparison.figures;
}

/** How far what happened lies outside of what was stated, beyond what is allowed; 0 when it does not. */
export function missOf({ stated, happened, share = 0, amount = 0 }: Figure): number {
  const least = stated.reduce((low, one) => Math.min(low, one), Infinity);
  const most = stated.reduce((high, one) => Math.max(high, one), -Infinity);
  const outside = Math.max(0, least - happened, happened - most);
  return outside <= Math.max(amount, share * Math.max(most, happened)) ? 0 : outside;
}

export function missesOf(comparison: Comparison): string[] {
  const { ends, records } = comparison;
  const lost = { stated: records.stated.map(lossOf), happened: lossOf(records.happened) };
  const misses = figuresOf(comparison)
    .filter((figure) => missOf(figure) > 0)
    .map(
      ({ what, stated, happened }) => `${what}: stated ${stated.join(", ")}, happened ${happened}`,
    );
  return [
    ...misses,
    ...(lost.stated.includes(lost.happened)
      ? []
      : [`loss: stated ${lost.stated.join(", ")}, happened ${lost.happened}`]),
    ...(isStatedLoss(comparison) || ends.stated.includes(ends.happened)
      ? []
      : [`end: stated ${ends.stated.join(", ")}, happened ${ends.happened}`]),
  ];
}

function lossOf({ isDataMissing }: RunRecord): string {
  return isDataMissing ? "data is lost" : "none";
}
