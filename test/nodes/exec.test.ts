// Commands inside of emulated containers: what they print and how they end, in virtual time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isKubeError } from "../../src/kube/error.ts";
import { pods } from "../../src/kube/resource.ts";
import type { PodExecRequest } from "../../src/kube/pod-exec.ts";
import { startCluster } from "./harness.ts";
import type { Cluster } from "./harness.ts";

const spec = {
  containers: [
    {
      name: "main",
      image: "foundationdb/fdb-kubernetes-monitor:7.3.63",
      command: ["sleep", "100000"],
      env: [{ name: "COLOR", value: "dark  red" }],
      volumeMounts: [
        { name: "data", mountPath: "/var/fdb/data" },
        { name: "conf", mountPath: "/conf", readOnly: true },
      ],
    },
    { name: "other", image: "web:1" },
  ],
  volumes: [
    { name: "data", emptyDir: {} },
    { name: "conf", emptyDir: {} },
  ],
};

async function withPod(body: (cluster: Cluster, run: Run) => Promise<void>): Promise<void> {
  const cluster = await startCluster({ nodeCount: 1 });
  await cluster.createPod("a", spec);
  await cluster.advance(20);
  await body(cluster, runner(cluster));
  cluster.stop();
}

type Run = (
  command: readonly string[],
  more?: Partial<PodExecRequest>,
) => Promise<readonly [code: number, stdout: string, stderr: string]>;

function runner(cluster: Cluster): Run {
  const place = { namespace: "default", pod: "a", container: "main", timeoutMs: 60_000 };
  return async (command, more = {}) => {
    const running = cluster.server.pods().run({ ...place, command, ...more });
    const state = { isOver: false };
    running.finally(() => (state.isOver = true)).catch(() => {});
    while (!state.isOver) await cluster.advance(1);
    const { exitCode, stdout, stderr } = await running;
    return [exitCode, stdout, stderr];
  };
}

test("[WS10] a command has the container's environment; an unknown one is not found", async () => {
  await withPod(async (_cluster, run) => {
    assert.deepEqual(await run(["env", "COLOR"]), [0, "dark  red\n", ""]);
    assert.deepEqual(await run(["/bin/echo", "a  b", "$COLOR"]), [0, "a  b $COLOR\n", ""]);
    const [code, out, err] = await run(["vim", "/etc/hosts"]);
    assert.deepEqual([code, out], [127, ""]);
    assert.match(err, /exec: "vim": executable file not found in \$PATH/);
  });
});

test("[WS10] a command ends with its container, and by its time limit", async () => {
  await withPod(async (cluster, run) => {
    const late = run(["sleep", "50"], { timeoutMs: 2_000 });
    await assert.rejects(late, /sleep in pod a did not end within 2000 ms/);
    const place = { namespace: "default", pod: "a", container: "main", timeoutMs: 60_000 };
    const running = cluster.server.pods().run({ ...place, command: ["sleep", "50"] });
    await cluster.advance(1);
    await cluster.client.delete(pods, { namespace: "default", name: "a" });
    await cluster.advance(1);
    assert.equal((await running).exitCode, 137);
  });
});

test("[WS11] files are read, written and removed where the container could", async () => {
  await withPod(async (_cluster, run) => {
    const bytes = Buffer.from([0, 255, 10, 128]);
    assert.equal((await run(["tee", "-a", "/var/fdb/data/x/bin"], { stdin: bytes }))[0], 0);
    assert.equal((await run(["tee", "-a", "/var/fdb/data/x/bin"], { stdin: bytes }))[0], 0);
    const place = { namespace: "default", pod: "a", container: "main", timeoutMs: 5_000 };
    const copied = await _cluster.server
      .pods()
      .run({ ...place, command: ["cp", "/var/fdb/data/x/bin", "/dev/stdout"] });
    assert.deepEqual(Buffer.from(copied.stdoutBytes), Buffer.concat([bytes, bytes]));
    assert.deepEqual(await run(["ls", "/var/fdb/data"]), [0, "x\n", ""]);
    assert.deepEqual(await run(["find", "/var/fdb", "-type", "f", "-name", "b*"]), [
      0,
      "/var/fdb/data/x/bin\n",
      "",
    ]);
    assert.deepEqual(await run(["test", "-d", "/var/fdb/data/x"]), [0, "", ""]);
    assert.equal((await run(["rm", "/var/fdb/data/x/bin"]))[0], 0);
    assert.equal((await run(["rm", "-f", "/var/fdb/data/x/bin"]))[0], 0);
    assert.equal((await run(["test", "-e", "/var/fdb/data/x/bin"]))[0], 1);
    const [code, , err] = await run(["cat", "/nowhere"]);
    assert.deepEqual([code, err], [1, "cat: /nowhere: No such file or directory\n"]);
    const [readOnly, , why] = await run(["tee", "/conf/x"], { stdin: "y" });
    assert.deepEqual([readOnly, why], [1, "tee: /conf/x: Read-only file system\n"]);
    assert.deepEqual(await run(["ls", "/usr/bin"]).then(([, out]) => out.includes("fdbcli")), true);
  });
});

const lines: readonly (readonly [line: string, code: number, stdout: string, stderr?: string])[] = [
  ["echo a && echo b || echo c; echo d", 0, "a\nb\nd\n"],
  ["false && echo b || echo c", 0, "c\n"],
  ["false; echo $?", 0, "1\n"],
  ["echo \"$COLOR\" $COLOR '$COLOR'", 0, "dark  red dark red $COLOR\n"],
  ["echo text > /tmp/f && cat /tmp/f && echo more >> /tmp/f; wc -l < /tmp/f", 0, "text\n2\n"],
  ["echo one two | cat | grep two", 0, "one two\n"],
  ["cat /nowhere 2>/dev/null || true", 0, ""],
  ["echo x $(echo y; echo z)", 0, "x y z\n"],
  ['A=5; echo "a${A}b"', 0, "a5b\n"],
  ["exit 3; echo no", 3, ""],
  ["nosuch", 127, "", "bash: line 1: nosuch: command not found\n"],
  ["echo 'a", 2, "", "bash: line 1: unexpected EOF while looking for matching `''\n"],
  ["| x", 2, "", "bash: line 1: syntax error near unexpected token `|'\n"],
  ["echo x > /conf/f", 1, "", "bash: line 1: /conf/f: Read-only file system\n"],
  ["pkill fdbserver || true", 0, ""],
  ["pkill fdbserver", 1, ""],
  ["cd /tmp && echo q > g && cat /tmp/g", 0, "q\n"],
];

test("[WS12] lines of a shell", async () => {
  await withPod(async (_cluster, run) => {
    for (const [line, code, stdout, stderr = ""] of lines) {
      assert.deepEqual(await run(["bash", "-c", line]), [code, stdout, stderr], line);
    }
    const stdin = "echo from input\nexit 4\n";
    assert.deepEqual(await run(["sh"], { stdin }), [4, "from input\n", ""]);
  });
});

test("[WS13] programs for text", async () => {
  await withPod(async (_cluster, run) => {
    const stdin = "b\na\nab\n";
    assert.deepEqual(await run(["head", "-n", "1"], { stdin }), [0, "b\n", ""]);
    assert.deepEqual(await run(["tail", "-1"], { stdin }), [0, "ab\n", ""]);
    assert.deepEqual(await run(["grep", "-c", "a"], { stdin }), [0, "2\n", ""]);
    assert.deepEqual(await run(["printf", "%s=%s\\n", "a", "1"]), [0, "a=1\n", ""]);
    assert.deepEqual(await run(["fdbserver", "--version"]), [
      0,
      "FoundationDB 7.3 (v7.3.63)\n",
      "",
    ]);
    const [code, , err] = await run(["curl", "http://localhost:8080/x"]);
    assert.deepEqual([code, err.startsWith("curl: (7)")], [7, true]);
  });
});

test("[WS16] an archive of a folder is read back, long names included", async () => {
  await withPod(async (cluster, run) => {
    const name = `${"long".repeat(30)}.txt`;
    await run(["bash", "-c", `echo 1 > /tmp/d/a; echo 2 > /tmp/d/e/${name}`]);
    const place = { namespace: "default", pod: "a", container: "main", timeoutMs: 5_000 };
    const archive = await cluster.server
      .pods()
      .run({ ...place, command: ["tar", "cf", "-", "-C", "/tmp", "d"] });
    const stdin = archive.stdoutBytes;
    assert.equal((await run(["tar", "-xmf", "-", "-C", "/var/fdb/data"], { stdin }))[0], 0);
    assert.deepEqual(await run(["cat", "/var/fdb/data/d/a", `/var/fdb/data/d/e/${name}`]), [
      0,
      "1\n2\n",
      "",
    ]);
    const broken = stdin.subarray(0, 700);
    assert.deepEqual(await run(["tar", "-xf", "-"], { stdin: broken }), [
      2,
      "",
      "tar: Unexpected EOF in archive\n",
    ]);
  });
});

test("[WS22] requests in process are judged as all others", async () => {
  await withPod(async (cluster, run) => {
    const refusals: [Partial<PodExecRequest>, string][] = [
      [{ pod: "b" }, '404 NotFound pods "b" not found'],
      [{ container: "x" }, "400 BadRequest container x is not valid for pod a"],
    ];
    for (const [more, wanted] of refusals) {
      const found = await run(["true"], more).catch((error: unknown) => error);
      assert.ok(isKubeError(found));
      assert.equal(`${found.status} ${found.reason} ${found.message}`, wanted);
    }
    cluster.server.context.authorize = ({ verb }) => verb !== "create";
    const found = await run(["true"]).catch((error: unknown) => error);
    assert.ok(isKubeError(found, "Forbidden"));
    assert.match(found.message, /cannot create resource "pods\/exec" in API group ""/);
  });
});

test("[WS22] a log is followed in process until its container ends", async () => {
  await withPod(async (cluster) => {
    const texts: string[] = [];
    const command = ["fdb-kubernetes-monitor"];
    const [main] = spec.containers;
    await cluster.createPod("b", { ...spec, containers: [{ ...main, name: "main", command }] });
    await cluster.advance(10);
    const following = cluster.server.pods().followLog({
      ...{ namespace: "default", pod: "b", timestamps: true },
      onLines: (found) => void texts.push(...found),
    });
    await cluster.advance(1);
    await following;
    assert.ok(texts.length > 0);
    assert.match(texts[0] ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z cannot find the own pod/);
  });
});
