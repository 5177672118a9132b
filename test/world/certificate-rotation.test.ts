// Certificates in a whole world: they are seen by handshakes alone, renewed without a restart, and told of before they end.
// Rules: spec/certificates.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { conditionIn } from "../../src/kube/condition.ts";
import { parseTime } from "../../src/kube/time.ts";
import { renewCertificates } from "../../src/sim/sample-certificates.ts";
import { minuteMs, securedProcesses, small, TestWorld } from "./world-harness.ts";

const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const knob = "knob_tls_cert_refresh_delay_seconds=600";
const secured = {
  ...small,
  mainContainer: { enableTls: true },
  processes: {
    ...securedProcesses,
    general: { ...securedProcesses["general"], customParameters: [knob] },
  },
};

/** Until files have reached the pods, the processes have read them, and the operator has looked. */
const settledMs = 80 * minuteMs;

/** A certificate that begins now. */
async function renew(world: TestWorld, lastsMs: number): Promise<number> {
  const notBeforeMs = world.clock.nowMs();
  const notAfterMs = notBeforeMs + lastsMs;
  await renewCertificates(world.client, "default", { notBeforeMs, notAfterMs });
  return Math.floor(notAfterMs / 1000) * 1000;
}

async function condition(world: TestWorld, type: string) {
  return conditionIn((await world.cluster()).status, type);
}

async function expiryMs(world: TestWorld): Promise<number | undefined> {
  return parseTime((await world.cluster()).status?.certificates?.expires);
}

test("[CERT5] [CERT6] [CERT7] [CERT8] [CERT9] a certificate is told of 14 days before it ends and renewed without a restart (long)", async () => {
  await TestWorld.runWithCluster({ spec: secured, hasCertificates: true }, async (world) => {
    const pods = (await world.pods()).map(({ metadata }) => metadata.uid).sort();
    const firstMs = await renew(world, 14 * dayMs + 2 * hourMs);
    await world.clock.advance(settledMs);
    assert.equal(await expiryMs(world), firstMs, await world.report());
    assert.equal(await condition(world, "CertificateExpiring"), undefined);

    await world.clock.advance(hourMs);
    const expiring = await condition(world, "CertificateExpiring");
    assert.equal(expiring?.reason, "CertificateExpiring", await world.report());
    assert.match(expiring?.message ?? "", /issued by CN=sample authority, expire at/);
    const { generations } = (await world.cluster()).status ?? {};
    assert.equal(generations?.reconciled, (await world.cluster()).metadata.generation);

    const secondMs = await renew(world, 90 * dayMs);
    await world.clock.advance(settledMs);
    assert.equal(await expiryMs(world), secondMs);
    assert.equal(await condition(world, "CertificateExpiring"), undefined);
    assert.equal(await condition(world, "CertificateOutdated"), undefined);
    const after = (await world.pods()).map(({ metadata }) => metadata.uid).sort();
    assert.deepEqual(after, pods);
    world.assertDataSafe();
  });
});

test("[CERT4] certificates of a cluster at rest cost no write, also after the operator has started again (long)", async () => {
  await TestWorld.runWithCluster({ spec: secured, hasCertificates: true }, async (world) => {
    await renew(world, 10 * dayMs);
    await world.clock.advance(settledMs);
    assert.ok(await condition(world, "CertificateExpiring"), await world.report());
    const mark = world.requests.length;
    await world.clock.advance(3 * hourMs);
    assert.deepEqual(world.writesSince(mark), []);
    await world.world.stopOperator();
    world.world.startOperator();
    await world.clock.advance(90 * minuteMs);
    const writes = world.writesSince(mark).filter((write) => !write.includes("leases"));
    assert.deepEqual(writes, []);
  });
});

test("[CERT12] in a sleep nobody is warned of certificates, which may be renewed meanwhile; what processes show counts when it wakes (long)", async () => {
  const spec = { nodes: 9, spec: secured, hasCertificates: true };
  await TestWorld.runWithCluster(spec, async (world) => {
    await renew(world, 2 * dayMs);
    await world.clock.advance(settledMs);
    assert.ok(await condition(world, "CertificateExpiring"), await world.report());
    const metric = /fdb_operator_certificate_expiry_timestamp_seconds\{/;
    assert.match(world.world.operator.metricsText(), metric);
    await world.changeSpec({ hibernate: true });
    await world.until(
      async () => (await condition(world, "Hibernated"))?.status === "True",
      "the database sleeps",
    );
    assert.equal(await expiryMs(world), undefined);
    assert.equal(await condition(world, "CertificateExpiring"), undefined);
    assert.doesNotMatch(world.world.operator.metricsText(), metric);
    await world.clock.advance(dayMs);
    const renewedMs = await renew(world, 90 * dayMs);
    await world.clock.advance(2 * dayMs);
    assert.equal(await expiryMs(world), undefined);
    await world.changeSpec({ hibernate: false });
    await world.untilReconciled();
    await world.clock.advance(2 * minuteMs);
    assert.equal(await expiryMs(world), renewedMs);
    assert.equal(await condition(world, "CertificateExpiring"), undefined);
  });
});

test("[CERT7] a process that keeps its old certificate is named until it reads the new one (long)", async () => {
  const slow = knob.replace("600", "10800");
  const processes = {
    ...secured.processes,
    log: { ...securedProcesses["general"], customParameters: [slow] },
  };
  await TestWorld.run({ hasCertificates: true }, async (world) => {
    await renew(world, 60 * dayMs);
    await world.createCluster({ ...secured, processes });
    await world.untilReconciled();
    await renew(world, 90 * dayMs);
    await world.clock.advance(settledMs);
    const outdated = await condition(world, "CertificateOutdated");
    assert.match(outdated?.message ?? "", /^log-.* still show an older certificate/);
    await world.clock.advance(180 * minuteMs);
    assert.equal(await condition(world, "CertificateOutdated"), undefined, await world.report());
  });
});

test("[CERT6] [CERT9] after the end nobody connects any more; a renewal brings the database back without a restart (long)", async () => {
  await TestWorld.runWithCluster({ spec: secured, hasCertificates: true }, async (world) => {
    const pods = (await world.pods()).map(({ metadata }) => metadata.uid).sort();
    await renew(world, 2 * hourMs);
    await world.clock.advance(2 * hourMs + 10 * minuteMs);
    const expired = await condition(world, "CertificateExpiring");
    assert.equal(expired?.reason, "CertificateExpired", await world.report());
    assert.notEqual((await condition(world, "Available"))?.status, "True", await world.report());
    await renew(world, 90 * dayMs);
    await world.clock.advance(settledMs);
    assert.equal(await condition(world, "CertificateExpiring"), undefined, await world.report());
    assert.equal((await condition(world, "Available"))?.status, "True", await world.report());
    const after = (await world.pods()).map(({ metadata }) => metadata.uid).sort();
    assert.deepEqual(after, pods);
    world.assertDataSafe();
  });
});
