// One soak: a writer on the direct way, reflectors behind the fault proxy, and a comparison every few seconds.
// Rules: spec/kube.md [KUBE90].
import { machineClock, sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { seededRandom, randomInteger, randomPick } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import type { ConfigMap } from "../../src/kube/generated/types.ts";
import { Reflector } from "../../src/kube/reflector.ts";
import { configMaps } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { startControlPlane } from "../control-plane.ts";
import type { ControlPlane } from "../control-plane.ts";
import { startFaultProxy } from "./fault-proxy.ts";
import type { FaultProxy } from "./fault-proxy.ts";

export interface SoakOptions {
  minutes: number;
  seed: number;
  say: (line: string) => void;
}

export interface SoakReport {
  writes: number;
  missed: number;
  comparisons: number;
  lists: number;
  watches: number;
  startsPerMinuteMax: number;
  startsPerMinuteLimit: number;
  /** Whether lists and watches were not begun in a storm. */
  isCalm: boolean;
  /** Whether memory and handles stayed level after the third minute. */
  isLean: boolean;
  faults: Readonly<Record<string, number>>;
  memory: readonly { minute: number; rss: number }[];
  handles: readonly number[];
}

const namespace = "default";
const reflectorCount = 4;
const objectCount = 200;
const comparisonMs = 10_000;
/** Shares of requests that go wrong, in turn. */
const manyFaults = 0.35;
const fewFaults = 0.1;
/** No copy may begin a list or a watch more often than once a second, whatever goes wrong. */
const startsPerMinuteLimit = 60 * reflectorCount;

export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const controlPlane = await startControlPlane({ say: options.say });
  const clock = machineClock();
  const { url: server, caPem: certificateAuthority } = controlPlane;
  const token = controlPlane.token("admin");
  let share = manyFaults;
  const proxy = await startFaultProxy({
    target: { server, certificateAuthority },
    clock,
    random: seededRandom(options.seed),
    share: () => share,
  });
  const direct = httpsTransport({ server, certificateAuthority, token });
  const faulty = httpsTransport({ server: proxy.url, token }, { requestTimeoutMs: 5_000 });
  try {
    const soak = new Soak(options, controlPlane, proxy, direct, faulty);
    return await soak.run(clock, () => (share = share === manyFaults ? fewFaults : manyFaults));
  } finally {
    direct.close();
    faulty.close();
    await proxy.close();
    clock.stop();
    await controlPlane.stop();
  }
}

type Transport = ReturnType<typeof httpsTransport>;

class Soak {
  readonly #options: SoakOptions;
  readonly #controlPlane: ControlPlane;
  readonly #proxy: FaultProxy;
  readonly #writer: KubeClient;
  readonly #reader: KubeClient;
  readonly #random: Random;
  /** What was written last, by name; undefined for what was deleted. */
  readonly #written = new Map<string, string | undefined>();
  #writes = 0;
  #missed = 0;
  #comparisons = 0;
  #lists = 0;
  #watches = 0;
  #starts = 0;
  #startsMax = 0;
  readonly #memory: { minute: number; rss: number }[] = [];
  readonly #handles: number[] = [];

  constructor(
    options: SoakOptions,
    controlPlane: ControlPlane,
    proxy: FaultProxy,
    direct: Transport,
    faulty: Transport,
  ) {
    this.#options = options;
    this.#controlPlane = controlPlane;
    this.#proxy = proxy;
    this.#random = seededRandom(options.seed + 1);
    this.#writer = new KubeClient(direct, { userAgent: "writer" });
    this.#reader = new KubeClient(faulty, {
      userAgent: "reader",
      onRequest: ({ verb }) => {
        if (verb === "list") this.#lists += 1;
        else if (verb === "watch") this.#watches += 1;
        this.#starts += 1;
      },
    });
  }

  async run(clock: ReturnType<typeof machineClock>, changeShare: () => void): Promise<SoakReport> {
    const ending = new AbortController();
    const views = Array.from({ length: reflectorCount }, (_, index) => this.#follow(clock, index));
    const running = views.map((view) => view.reflector.start(ending.signal));
    await Promise.all(views.map((view) => view.reflector.synced));
    const startedMs = clock.nowMs();
    const endMs = startedMs + this.#options.minutes * 60_000;
    let minute = 0;
    while (clock.nowMs() < endMs) {
      const untilMs = Math.min(endMs, clock.nowMs() + comparisonMs);
      while (clock.nowMs() < untilMs) {
        await this.#write();
        await sleep(clock, 15);
      }
      if (this.#comparisons % 3 === 2) await this.#controlPlane.compact();
      await this.#compare(clock, views);
      changeShare();
      const passed = Math.floor((clock.nowMs() - startedMs) / 60_000);
      if (passed > minute || clock.nowMs() >= endMs) this.#measure((minute = passed));
    }
    ending.abort();
    await Promise.all(running);
    return this.#report();
  }

  /** A copy, and what its listener makes of the events alone. */
  #follow(clock: ReturnType<typeof machineClock>, index: number): View {
    const reflector = new Reflector<Stored<ConfigMap>>({
      client: this.#reader,
      resource: configMaps,
      clock,
      random: seededRandom(100 + index),
      log: silentLog,
      namespace,
      labelSelector: "soak=yes",
      pageSize: 80,
      watchSeconds: 2,
    });
    const told = new Map<string, string | undefined>();
    reflector.onChange(({ type, object }) => {
      const name = object.metadata.name ?? "";
      if (type === "DELETED") told.delete(name);
      else told.set(name, object.metadata.resourceVersion);
    });
    return { reflector, told };
  }

  async #write(): Promise<void> {
    const name = `soak-${randomInteger(this.#random, 1, objectCount)}`;
    const exists = this.#written.get(name) !== undefined;
    const what = exists
      ? randomPick(this.#random, ["update", "update", "delete"] as const)
      : "create";
    const object: Stored<ConfigMap> = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, labels: { soak: "yes" } },
      data: { text: "ä".repeat(randomInteger(this.#random, 1, 400)), write: `${this.#writes}` },
    };
    this.#writes += 1;
    if (what === "delete") {
      await this.#writer.delete(configMaps, { namespace, name });
      this.#written.set(name, undefined);
      return;
    }
    const stored =
      what === "create"
        ? await this.#writer.create(configMaps, object)
        : await this.#writer.update(configMaps, object);
    this.#written.set(name, stored.metadata.resourceVersion);
  }

  /** Nothing is written meanwhile: every copy must come to what was written, while faults go on. */
  async #compare(clock: ReturnType<typeof machineClock>, views: readonly View[]): Promise<void> {
    const patienceMs = clock.nowMs() + 120_000;
    let different = views.map((view) => this.#differences(view));
    while (different.some((count) => count > 0) && clock.nowMs() < patienceMs) {
      await sleep(clock, 100);
      different = views.map((view) => this.#differences(view));
    }
    this.#comparisons += 1;
    const missed = different.reduce((sum, count) => sum + count, 0);
    this.#missed += missed;
    if (missed > 0) this.#options.say(`${missed} events are missing after two minutes`);
  }

  #differences({ reflector, told }: View): number {
    let count = 0;
    for (const [name, version] of this.#written) {
      const held = reflector.get({ namespace, name })?.metadata.resourceVersion;
      if (held !== version || told.get(name) !== version) count += 1;
    }
    const expected = [...this.#written.values()].filter((version) => version !== undefined).length;
    return count + Math.abs(reflector.size - expected) + Math.abs(told.size - expected);
  }

  #measure(minute: number): void {
    const rss = process.memoryUsage().rss;
    const handles = process.getActiveResourcesInfo().length;
    this.#memory.push({ minute, rss });
    this.#handles.push(handles);
    this.#startsMax = Math.max(this.#startsMax, this.#starts);
    this.#options.say(
      `minute ${minute}: ${this.#writes} writes, ${this.#missed} missed, ${this.#starts} lists and watches, ${Math.round(rss / 2 ** 20)} MiB, ${handles} handles`,
    );
    this.#starts = 0;
  }

  #report(): SoakReport {
    const third = this.#memory.find(({ minute }) => minute >= 3)?.rss ?? Infinity;
    const last = this.#memory.at(-1)?.rss ?? 0;
    const handlesMax = 40 + reflectorCount * 10;
    return {
      writes: this.#writes,
      missed: this.#missed,
      comparisons: this.#comparisons,
      lists: this.#lists,
      watches: this.#watches,
      startsPerMinuteMax: this.#startsMax,
      startsPerMinuteLimit,
      isCalm: this.#startsMax <= startsPerMinuteLimit,
      isLean: last <= third * 1.1 && (this.#handles.at(-1) ?? 0) <= handlesMax,
      faults: this.#proxy.counts,
      memory: this.#memory,
      handles: this.#handles,
    };
  }
}

interface View {
  reflector: Reflector<Stored<ConfigMap>>;
  /** Names and versions as the events told them. */
  told: Map<string, string | undefined>;
}
