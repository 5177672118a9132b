// The client runtime over real sockets, through a proxy that misbehaves in every way it knows, to the emulated API server.
// `npm run soak` does the same for longer, on a real one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "../../src/emulator/api-server.ts";
import { serveHttps } from "../../src/emulator/https-server.ts";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { randomInteger, seededRandom } from "../../src/env/random.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import type { ConfigMap } from "../../src/kube/generated/types.ts";
import { Reflector } from "../../src/kube/reflector.ts";
import { configMaps } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { faultKinds, startFaultProxy } from "../real/fault-proxy.ts";

function configMap(name: string, value: string): Stored<ConfigMap> {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default" },
    data: { value, text: "ö".repeat(200) },
  };
}

test("[KUBE90] whatever goes wrong on the way, nothing is missed and nothing is asked in a storm (long)", async () => {
  const clock = machineClock();
  const server = createApiServer({ clock, random: seededRandom(1), log: silentLog });
  const served = await serveHttps(server, { port: 0 });
  const { url, caPem: certificateAuthority, token } = served;
  let share = 1;
  const proxy = await startFaultProxy({
    target: { server: url, certificateAuthority },
    ...{ clock, random: seededRandom(5), share: () => share },
  });
  const transport = httpsTransport({ server: proxy.url, token }, { requestTimeoutMs: 700 });
  let starts = 0;
  const reader = new KubeClient(transport, { userAgent: "reader", onRequest: () => (starts += 1) });
  const writer = new KubeClient(server.transport("writer"), { userAgent: "writer" });
  const ending = new AbortController();
  const copies = Array.from({ length: 6 }, (_, index) => {
    const reflector = new Reflector<Stored<ConfigMap>>({
      ...{ client: reader, resource: configMaps, clock, random: seededRandom(index) },
      ...{ namespace: "default", pageSize: 5, watchSeconds: 1 },
    });
    const told = new Map<string, string | undefined>();
    reflector.onChange(({ type, object }) => {
      const { name = "", resourceVersion } = object.metadata;
      if (type === "DELETED") told.delete(name);
      else told.set(name, resourceVersion);
    });
    return { reflector, told, running: reflector.start(ending.signal) };
  });
  const startedMs = clock.nowMs();
  const random = seededRandom(7);
  const written = new Map<string, string | undefined>();
  const happened = (): string[] => faultKinds.filter((kind) => proxy.counts[kind] > 0);
  const isSeen = (): boolean => happened().length >= faultKinds.length - 2;
  // On a busy machine there are fewer requests in the same time, and fewer faults.
  for (let turn = 0; turn < 120 || (turn < 2400 && !isSeen()); turn += 1) {
    share = turn < 20 ? 1 : 0.4;
    const name = `map-${randomInteger(random, 1, 15)}`;
    const key = { namespace: "default", name };
    if (!written.has(name)) await writer.create(configMaps, configMap(name, `${turn}`));
    else if (turn % 5 > 0) await writer.update(configMaps, configMap(name, `${turn}`));
    else await writer.delete(configMaps, key);
    const stored = await writer.find(configMaps, key);
    if (stored === undefined) written.delete(name);
    else written.set(name, stored.metadata.resourceVersion);
    await sleep(clock, 25);
  }
  share = 0.1;
  const isSame = (): boolean =>
    copies.every(
      ({ reflector, told }) =>
        reflector.size === written.size &&
        told.size === written.size &&
        [...written].every(
          ([name, version]) =>
            told.get(name) === version &&
            reflector.get({ namespace: "default", name })?.metadata.resourceVersion === version,
        ),
    );
  for (let turn = 0; turn < 1200 && !isSame(); turn += 1) await sleep(clock, 50);
  const seconds = (clock.nowMs() - startedMs) / 1000;
  ending.abort();
  await Promise.all(copies.map(({ running }) => running));
  transport.close();
  await proxy.close();
  await served.close();
  clock.stop();
  assert.ok(isSame());
  assert.ok(starts <= copies.length * (seconds + 5) * 2, `${starts} in ${seconds} s`);
  assert.ok(isSeen(), happened().join(", "));
});
