// Certificates of processes are looked at in the background, at a slow pace.
import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../env/virtual-clock.ts";
import type { SeenCertificate } from "../model/certificate.ts";
import type { Handshake } from "../pod/network.ts";
import { PodUnreachableError } from "../pod/network.ts";
import { CertificateReader } from "./certificate-reader.ts";
import { PacedQueue } from "./paced-queue.ts";

const hourMs = 3_600_000;
const shown: SeenCertificate = {
  ...{ subject: "CN=a", names: "", issuer: "CN=b", notBeforeMs: 0, notAfterMs: 9e12 },
};

function target(number: number, run = "1") {
  const processGroupId = `storage-${number}`;
  return {
    key: `${processGroupId}/1`,
    processGroupId,
    host: `10.1.0.${number}`,
    port: 4500,
    run,
  };
}

function reading(answer: (handshake: Handshake) => Promise<SeenCertificate>) {
  const clock = new VirtualClock();
  const asked: { host: string; atMs: number }[] = [];
  let [news, open, openMax] = [0, 0, 0];
  const begunMs = clock.nowMs();
  const reader = new CertificateReader({
    clock,
    queue: new PacedQueue({ clock, gapMs: 250, parallel: 4 }),
    network: {
      async certificate(handshake) {
        asked.push({ host: handshake.host, atMs: clock.nowMs() - begunMs });
        open += 1;
        openMax = Math.max(openMax, open);
        try {
          return await answer(handshake);
        } finally {
          open -= 1;
        }
      },
    },
    onNews: () => (news += 1),
  });
  return { clock, reader, asked, news: () => news, openMax: () => openMax };
}

const twenty = Array.from({ length: 20 }, (_, index) => target(index + 1));

test("[CERT2] [CERT3] each process is looked at once an hour, one after the other; [CERT4] the same again is no news", async () => {
  const { clock, reader, asked, news } = reading(() => Promise.resolve(shown));
  reader.follow(twenty);
  await clock.advance(60_000);
  assert.equal(asked.length, 20);
  assert.ok(asked.every(({ atMs }, index) => atMs === index * 250));
  assert.equal(news(), 1);
  await clock.advance(24 * hourMs);
  assert.equal(asked.length, 20 * 25);
  assert.equal(news(), 1);
  for (let index = 1; index < asked.length; index += 1) {
    assert.ok((asked[index]?.atMs ?? 0) - (asked[index - 1]?.atMs ?? 0) >= 250);
  }
});

test("[CERT2] who shows a certificate that has ended is looked at every five minutes: its renewal is seen soon", async () => {
  const begunMs = new VirtualClock().nowMs();
  let certificate = { ...shown, notAfterMs: begunMs + hourMs + 60_000 };
  const { clock, reader, asked, news } = reading(() => Promise.resolve(certificate));
  reader.follow([target(1)]);
  await clock.advance(hourMs - 1);
  assert.equal(asked.length, 1);
  await clock.advance(hourMs);
  assert.equal(asked.length, 1 + 12);
  certificate = { ...shown, notAfterMs: begunMs + 1000 * hourMs };
  await clock.advance(300_000);
  assert.equal(news(), 2);
  const seen = asked.length;
  await clock.advance(hourMs - 1);
  assert.ok(asked.length <= seen + 1);
});

test("[CERT3] processes that never answer leave the others their turn", async () => {
  const state = reading(({ host, timeoutMs }) =>
    host.endsWith("1")
      ? new Promise((_, reject) =>
          state.clock.setTimer(timeoutMs, () => reject(new PodUnreachableError("silent"))),
        )
      : Promise.resolve(shown),
  );
  state.reader.follow(twenty);
  await state.clock.advance(60_000);
  const kinds = [...state.reader.observations().values()].map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === "shown").length, 18);
  assert.equal(kinds.filter((kind) => kind === "silent").length, 2);
  assert.ok(state.openMax() <= 4);
  const before = state.asked.length;
  await state.clock.advance(310_000);
  assert.equal(state.asked.length, before + 2);
});

test("[CERT2] a process that started again is looked at once more, and one that is gone is forgotten", async () => {
  const { clock, reader, asked, news } = reading(() => Promise.resolve(shown));
  reader.follow([target(1), target(2)]);
  await clock.advance(10_000);
  reader.follow([target(1, "2"), target(2)]);
  await clock.advance(10_000);
  assert.deepEqual(
    asked.map(({ host }) => host),
    ["10.1.0.1", "10.1.0.2", "10.1.0.1"],
  );
  reader.follow([target(2)]);
  assert.deepEqual([...reader.observations().keys()], ["storage-2/1"]);
  assert.equal(news(), 1);
  reader.close();
  await clock.advance(2 * hourMs);
  assert.equal(asked.length, 3);
});

test("[CERT4] who falls silent keeps the certificate that it showed; another certificate is news", async () => {
  let answer: () => Promise<SeenCertificate> = () => Promise.resolve(shown);
  const { clock, reader, news } = reading(() => answer());
  reader.follow([target(1)]);
  await clock.advance(10_000);
  answer = () => Promise.reject(new PodUnreachableError("gone"));
  await clock.advance(2 * hourMs);
  assert.deepEqual(reader.observations().get("storage-1/1"), { kind: "shown", certificate: shown });
  assert.equal(news(), 1);
  const newer = { ...shown, notBeforeMs: 5 };
  answer = () => Promise.resolve(newer);
  await clock.advance(hourMs);
  assert.deepEqual(reader.observations().get("storage-1/1"), { kind: "shown", certificate: newer });
  assert.equal(news(), 2);
});
