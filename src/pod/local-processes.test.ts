// The runtime of real processes, with a small program in the place of fdbserver.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { localProcesses } from "./local-processes.ts";
import type { LocalProcesses } from "./local-processes.ts";
import { loopbackAddress } from "./loopback-address.ts";
import type { ContainerFiles, ServerProcessSpec, ToolSpec } from "./process-runtime.ts";

const seed = "/var/dynamic-conf/fdb.cluster";
const clusterFile = "/var/fdb/data/fdb.cluster";

interface Stage {
  readonly folder: string;
  readonly runtime: LocalProcesses;
  readonly files: Map<string, string>;
  readonly spec: ServerProcessSpec;
}

async function onStage(script: string, run: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fdb-processes-"));
  const program = join(folder, "fdbserver");
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  const files = new Map([[seed, "a:b@127.83.0.1:4501"]]);
  const view: ContainerFiles = {
    read: (path) => files.get(path),
    write: (path, text) => files.set(path, text) !== undefined,
    locate: (path) =>
      path.startsWith("/var/fdb/data")
        ? { volumeId: "pvc/1", path: path.slice("/var/fdb/data".length) }
        : undefined,
  };
  const runtime = localProcesses({
    serverPath: (version) => (version === "7.3.79" ? program : undefined),
    toolPath: (name, version) =>
      name === "fdbbackup" && version === "7.3.79" ? program : undefined,
    folder,
    environment: { PATH: "/usr/bin:/bin" },
  });
  const spec: ServerProcessSpec = {
    binaryPath: "/usr/bin/fdbserver",
    version: "7.3.79",
    args: [
      `--cluster_file=${clusterFile}`,
      `--seed_cluster_file=${seed}`,
      "--datadir=/var/fdb/data/1",
      "--class=storage",
    ],
    pod: { namespace: "default", name: "pod", uid: "uid-1", ips: ["127.83.0.1"] },
    nodeName: "node-1",
    files: view,
  };
  try {
    await run({ folder, runtime, files, spec });
  } finally {
    await runtime.stop();
    rmSync(folder, { recursive: true });
  }
}

test("[DB60] every pod has a loopback address of its own", () => {
  const numbers = [1, 2, 255, 256, 257, 65_536, 70_000];
  const addresses = numbers.map(loopbackAddress);
  assert.deepEqual(addresses.slice(0, 4), [
    "127.83.0.1",
    "127.83.0.2",
    "127.83.0.255",
    "127.83.1.0",
  ]);
  assert.equal(new Set(addresses).size, numbers.length);
  assert.throws(() => loopbackAddress(0));
});

test("[DB61] what the container has on a volume lies in the volume's folder and goes with it", async () => {
  const script =
    'for each in "$@"; do case "$each" in --datadir=*) echo x > "${each#*=}/data";; esac; done';
  await onStage(script, async ({ folder, runtime, spec }) => {
    assert.deepEqual(await runtime.start(spec).exited, {
      code: 0,
      message: "it ended with code 0",
    });
    const volume = join(folder, "volumes", "pvc%2F1");
    assert.equal(readFileSync(join(volume, "1", "data"), "utf8"), "x\n");
    await runtime.start({ ...spec, pod: { ...spec.pod, uid: "uid-2" } }).exited;
    assert.ok(existsSync(join(volume, "1", "data")), "another pod finds the data of the first");
    runtime.volumeRemoved?.("pvc/1");
    assert.ok(!existsSync(volume));
  });
});

test("[DB62] mounted files are laid out, and a cluster file that changed is taken back", async () => {
  const script = `
for each in "$@"; do case "$each" in
  --cluster_file=*) file="\${each#*=}";;
  --seed_cluster_file=*) seed="\${each#*=}";;
  --class=storage) isClass=yes;;
esac; done
[ "$isClass" = yes ] && [ -f "$file" ] || { cp "$seed" "$file"; exit 0; }
echo "changed:$(cat "$file")" > "$file"`;
  await onStage(script, async ({ runtime, files, spec }) => {
    await runtime.start(spec).exited;
    assert.equal(files.get(clusterFile), "a:b@127.83.0.1:4501");
    await runtime.start(spec).exited;
    assert.equal(files.get(clusterFile), "changed:a:b@127.83.0.1:4501\n");
  });
});

test("[DB62] a cluster file that somebody writes in the container reaches the server when it starts again", async () => {
  const script = `
for each in "$@"; do case "$each" in
  --cluster_file=*) file="\${each#*=}";;
  --seed_cluster_file=*) seed="\${each#*=}";;
esac; done
[ -f "$file" ] || { cp "$seed" "$file"; exec sleep 60; }
cp "$file" "$file.seen"`;
  await onStage(script, async ({ folder, runtime, files, spec }) => {
    const volume = join(folder, "volumes", "pvc%2F1");
    const first = runtime.start(spec);
    files.set(clusterFile, "a:b@127.83.0.9:4501\n");
    first.kill();
    await first.exited;
    assert.equal(files.get(clusterFile), "a:b@127.83.0.9:4501\n", "it is not taken back");
    await runtime.start(spec).exited;
    const seen = readFileSync(join(volume, "fdb.cluster.seen"), "utf8");
    assert.equal(seen, "a:b@127.83.0.9:4501\n");
    files.set(clusterFile, "a:b@127.83.0.8:4501\n");
    await runtime.start(spec).exited;
    assert.match(readFileSync(join(volume, "fdb.cluster.seen"), "utf8"), /0\.8:/);
  });
});

test("[DB62] a server finds the certificates that the variables of its container name", async () => {
  const script = `
for each in "$@"; do case "$each" in --datadir=*) folder="\${each#*=}";; esac; done
cat "$FDB_TLS_CERTIFICATE_FILE" > "$folder/seen"
echo "$FDB_TLS_VERIFY_PEERS,$HOME_MADE" >> "$folder/seen"`;
  await onStage(script, async ({ folder, runtime, files, spec }) => {
    files.set("/certificates/tls.crt", "certificate\n");
    const environment = {
      FDB_TLS_CERTIFICATE_FILE: "/certificates/tls.crt",
      FDB_TLS_VERIFY_PEERS: "I.CN=authority",
      HOME_MADE: "is the container's own",
    };
    await runtime.start({ ...spec, environment }).exited;
    const seen = readFileSync(join(folder, "volumes", "pvc%2F1", "1", "seen"), "utf8");
    assert.equal(seen, "certificate\nI.CN=authority,\n");
  });
});

test("[DB66] the command line of a process is told as its container has it", async () => {
  await onStage('echo "$0 $*" > "${1#*=}.line"', async ({ folder, runtime, spec }) => {
    await runtime.start(spec).exited;
    const place = join(folder, "volumes", "pvc%2F1", "fdb.cluster.line");
    const local = readFileSync(place, "utf8").trim();
    assert.match(local, /--datadir=.*pvc%2F1/);
    const inside = ["/usr/bin/fdbserver", ...spec.args].join(" ");
    assert.equal(runtime.commandLineInside(local), inside);
    assert.equal(runtime.commandLineInside("another"), "another");
  });
});

test("[DB63] a server that cannot run ends with its reason", async () => {
  await onStage("echo 'ERROR: bad address' >&2; exit 7", async ({ runtime, spec }) => {
    const exit = await runtime.start(spec).exited;
    assert.deepEqual(exit, { code: 7, message: "it ended with code 7: ERROR: bad address" });
    const missing = await runtime.start({ ...spec, version: "7.1.67" }).exited;
    assert.match(missing.message, /no fdbserver of version 7\.1\.67/);
    const nowhere = await runtime.start({ ...spec, args: ["--datadir=/tmp/x"] }).exited;
    assert.match(nowhere.message, /on no writable volume/);
  });
});

test("[DB64] stopping ends every process, as killing ends one", async () => {
  await onStage("exec sleep 1000", async ({ runtime, spec }) => {
    const [first, second] = [runtime.start(spec), runtime.start(spec)];
    first.kill();
    assert.equal((await first.exited).code, 137);
    await runtime.stop();
    assert.equal((await second.exited).code, 137);
  });
});

const tool = (
  stage: Stage,
  more: Partial<ToolSpec> = {},
): { spec: ToolSpec; printed: string[] } => {
  const printed: string[] = [];
  const spec: ToolSpec = {
    ...stage.spec,
    name: "fdbbackup",
    calledAs: "fdbbackup",
    args: [
      "status",
      "-C",
      seed,
      "--logdir",
      "/var/log/fdb",
      "-d",
      "blobstore://key@host/name?bucket=b",
    ],
    write: (stream, text) => printed.push(`${stream}: ${text}`),
    ...more,
  };
  return { spec, printed };
};

test("[DB67] a backup tool finds the files of its container, prints into its log, and gives back a changed cluster file", async () => {
  const script =
    'cat "$3"; cat "$FDB_BLOB_CREDENTIALS"; echo " $6 $7" >&2; test -d "$5" || exit 9; printf other > "$3"; exit 3';
  await onStage(script, async (stage) => {
    stage.files.set("/var/store/blob.json", "{}");
    const environment = { FDB_BLOB_CREDENTIALS: "/var/store/blob.json", HOSTNAME: "pod" };
    const { spec, printed } = tool(stage, { environment });
    const running = stage.runtime.startTool?.(spec);
    assert.deepEqual(await running?.exited, { code: 3 });
    assert.equal(
      printed
        .filter((text) => text.startsWith("stdout"))
        .map((text) => text.slice(8))
        .join(""),
      "a:b@127.83.0.1:4501{}",
    );
    assert.deepEqual(
      printed.filter((text) => text.startsWith("stderr")),
      ["stderr:  -d blobstore://key@host/name?bucket=b\n"],
    );
    assert.equal(stage.files.get(seed), "other");
  });
});

test("[DB67] [DB64] a tool is ended by signals and with the runtime, and one that is not installed says so", async () => {
  await onStage("exec sleep 100", async (stage) => {
    const stopped = stage.runtime.startTool?.(tool(stage).spec);
    stopped?.terminate();
    assert.deepEqual(await stopped?.exited, { code: 143 });
    const held = stage.runtime.startTool?.(tool(stage).spec);
    await stage.runtime.stop();
    assert.deepEqual(await held?.exited, { code: 137 });
    const { spec, printed } = tool(stage, { name: "fdbrestore" });
    assert.deepEqual(await stage.runtime.startTool?.(spec).exited, { code: 127 });
    assert.deepEqual(printed, ["stderr: there is no fdbrestore of version 7.3.79\n"]);
  });
});

test("[WS11] what processes keep on a volume is read, written and removed on the disk", async () => {
  await onStage(
    "echo data > $(echo \"$*\" | sed 's/.*--datadir=\\([^ ]*\\).*/\\1/')/store",
    async (stage) => {
      const { runtime, spec } = stage;
      assert.deepEqual(runtime.volumeFiles?.("pvc/1").paths(), []);
      assert.equal(runtime.volumeFiles?.("pvc/1").write("x", Buffer.from("y")), false);
      await runtime.start(spec).exited;
      const files = runtime.volumeFiles?.("pvc/1");
      assert.deepEqual(files?.paths().toSorted(), ["1/store"]);
      assert.equal(String(files?.read("1/store")), "data\n");
      assert.equal(files?.write("1/coordination-0.fdq", Buffer.from([1, 255])), true);
      assert.deepEqual(files?.read("1/coordination-0.fdq"), Buffer.from([1, 255]));
      assert.deepEqual([files?.remove("1/store"), files?.remove("1/store")], [true, false]);
    },
  );
});
