// A live source in a simulated world, and what a page would see of it: differences as they would travel, applied.
import { strict as assert } from "node:assert";
import { silentLog } from "../../src/env/log.ts";
import { seededRandom } from "../../src/env/random.ts";
import { KubeClient } from "../../src/kube/client.ts";
import type { PodExec } from "../../src/kube/pod-exec.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { applied, differences } from "../../src/web/difference.ts";
import type { Change } from "../../src/web/difference.ts";
import { LiveSource } from "../../src/web/server/live-source.ts";
import type { LiveOptions } from "../../src/web/server/live-source.ts";
import type { Look } from "../../src/web/server/source.ts";
import type { ClusterModel, PageModel } from "../../src/web/view-model.ts";
import { databaseExec } from "../plugin/database-exec.ts";
import type { TestWorld } from "../world/world-harness.ts";

export interface LiveOptionsOfTest extends Partial<
  Pick<LiveOptions, "namespace" | "pauseMs" | "preview" | "speed">
> {
  readonly exec?: PodExec;
  readonly through?: (transport: KubeTransport) => KubeTransport;
}

export function liveSource(world: TestWorld, options: LiveOptionsOfTest = {}): LiveSource {
  const plain = world.world.server.transport("dashboard");
  const transport = options.through?.(plain) ?? plain;
  const {
    namespace = "",
    exec = databaseExec(world),
    pauseMs = 5_000,
    speed = 1,
    preview,
  } = options;
  const source = new LiveSource({
    client: new KubeClient(transport, { userAgent: "dashboard" }),
    ...{ clock: world.clock, random: seededRandom(5), log: silentLog, exec, namespace },
    serverNowMs: () => world.clock.nowMs(),
    ...{ where: "https://emulated", speed, pauseMs },
    ...(preview === undefined ? {} : { preview }),
  });
  source.start();
  return source;
}

/** A page that looks at one cluster, or at all. */
export class TestPage {
  readonly #look: Look;
  readonly #world: TestWorld;
  #model: PageModel | undefined;
  /** Bytes of each difference. */
  readonly pushed: number[] = [];

  constructor(world: TestWorld, source: LiveSource, name?: string, namespace = "default") {
    this.#world = world;
    this.#look = source.look(name === undefined ? undefined : { namespace, name }, () => {});
  }

  /** Lets time pass and takes in what comes, as text that has travelled. */
  async after(ms: number): Promise<PageModel> {
    await this.#world.clock.advance(ms);
    const now = this.#look.model();
    if (this.#model === undefined) this.#model = JSON.parse(JSON.stringify(now)) as PageModel;
    else {
      const text = JSON.stringify(differences(this.#model, now));
      this.pushed.push(text.length);
      this.#model = applied(this.#model, JSON.parse(text) as Change[]);
    }
    assert.deepEqual(this.#model, JSON.parse(JSON.stringify(now)));
    return this.#model;
  }

  /** Until the cluster is so. */
  async until(what: string, isSo: (cluster: ClusterModel) => boolean): Promise<ClusterModel> {
    for (let second = 0; second < 3_600; second += 2) {
      const { cluster } = await this.after(2_000);
      if (cluster?.isMissing === false && isSo(cluster)) return cluster;
    }
    throw new Error(`waited in vain: ${what}\n${this.#world.lastLines()}`);
  }

  end(): void {
    this.#look.end();
  }
}
