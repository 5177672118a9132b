// The real kubectl against the emulated API server over HTTPS. Without kubectl the cases are skipped aloud.
import { strict as assert } from "node:assert";
import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createApiServer, type ApiServer } from "../../src/emulator/api-server.ts";
import { kubeconfigText, serveHttps, type ServedApi } from "../../src/emulator/https-server.ts";
import { machineClock } from "../../src/env/clock.ts";
import { seededRandom } from "../../src/env/random.ts";

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
const skip = hasKubectl ? false : "there is no kubectl on this machine";

let folder: string;
let api: ApiServer;
let served: ServedApi;

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: toys, kind: Toy, shortNames: [ty]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Color, type: string, jsonPath: .spec.color}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string, enum: [red, blue], description: How it looks.}
              count: {type: integer, minimum: 1, default: 3}
              name: {type: string, maxLength: 5}
          status:
            type: object
            properties:
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
`;

function file(name: string, content?: unknown): string {
  const path = join(folder, name);
  if (content !== undefined) writeFileSync(path, JSON.stringify(content));
  return path;
}

interface Output {
  code: number;
  out: string;
  err: string;
}

function run(args: string[], editor = "true"): Promise<Output> {
  const env = {
    ...process.env,
    KUBECONFIG: join(folder, "kubeconfig"),
    KUBECACHEDIR: join(folder, "cache"),
    HOME: folder,
    EDITOR: editor,
  };
  return new Promise((resolve) => {
    execFile("kubectl", args, { env, timeout: 30_000 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
    });
  });
}

async function kubectl(args: string[], editor?: string): Promise<string> {
  const { code, out, err } = await run(args, editor);
  assert.equal(code, 0, `kubectl ${args.join(" ")}: ${out}${err}`);
  return out;
}

const toy = (name: string, spec: object): object => ({
  ...{ apiVersion: "example.com/v1", kind: "Toy", metadata: { name }, spec },
});
const deployment = (image: string, replicas: number): object => ({
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image, env: [{ name: "A", value: "1" }] }] },
    },
  },
});
const pod = (name: string): object => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name } },
  spec: { containers: [{ name: "main", image: "image:1" }] },
});

const rulesText = '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]';
const budgetText = '50%{"matchLabels":{"a":"b"}}';

describe("kubectl", { skip }, () => {
  before(async () => {
    if (!hasKubectl) return;
    folder = mkdtempSync(join(tmpdir(), "fdb-operator-kubectl-"));
    api = createApiServer({ clock: machineClock(), random: seededRandom(1) });
    served = await serveHttps(api, { port: 0 });
    writeFileSync(join(folder, "kubeconfig"), kubeconfigText(served), { mode: 0o600 });
    writeFileSync(join(folder, "crd.yaml"), definition);
    const established = ["wait", "--for=condition=Established", "crd/toys.example.com"];
    await kubectl(["apply", "-f", file("crd.yaml")]);
    await kubectl([...established, "--timeout=10s"]);
  });

  after(async () => {
    if (!hasKubectl) return;
    api.stop();
    await served.close();
    rmSync(folder, { recursive: true });
  });

  test("[KAS64] get shows tables, wide tables, YAML and JSON", async () => {
    await kubectl(["apply", "-f", file("red.json", toy("red", { color: "red" }))]);
    assert.match(await kubectl(["get", "ty"]), /^NAME +COLOR\nred +red\n$/);
    await kubectl(["create", "-f", file("pod.json", pod("shown"))]);
    assert.match(await kubectl(["get", "pods", "-o", "wide"]), /shown +0\/1 +Pending +0 .*<none>/);
    assert.match(await kubectl(["get", "toy", "red", "-o", "yaml"]), /count: 3/);
    const json: unknown = JSON.parse(await kubectl(["get", "toys", "-A", "-o", "json"]));
    assert.equal((json as { kind: string }).kind, "List");
  });

  test("[KAS64] apply on the client's side patches what changed", async () => {
    await kubectl(["apply", "-f", file("web.json", deployment("web:1", 1))]);
    const path = file("web.json", deployment("web:2", 1));
    const difference = await run(["diff", "-f", path]);
    assert.equal(difference.code, 1, difference.err);
    assert.match(difference.out, /^\+ +image: web:2$|^\+ +- image: web:2$/m);
    assert.match(await kubectl(["apply", "-f", path]), /configured/);
    assert.match(await kubectl(["apply", "-f", path]), /unchanged/);
    const image = "jsonpath={.spec.template.spec.containers[0].image}";
    assert.equal(await kubectl(["get", "deploy", "web", "-o", image]), "web:2");
  });

  test("[KAS64] apply on the server's side owns fields and meets conflicts", async () => {
    const base = ["apply", "--server-side"];
    await kubectl([
      ...base,
      "--field-manager=one",
      "-f",
      file("blue.json", toy("blue", { color: "blue" })),
    ]);
    const path = file("blue.json", toy("blue", { color: "red" }));
    const refused = await run([...base, "--field-manager=two", "-f", path]);
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /conflict with "one": \.spec\.color/);
    await kubectl([...base, "--field-manager=two", "--force-conflicts", "-f", path]);
  });

  test("[KAS64] a resource with three mistakes is refused with three paths", async () => {
    const bad = toy("bad", { color: "green", count: 0, name: "too long" });
    const refused = await run(["apply", "-f", file("bad.json", bad)]);
    assert.notEqual(refused.code, 0);
    for (const path of ["spec.color", "spec.count", "spec.name"])
      assert.ok(refused.err.includes(path));
    const unknown = await run(["apply", "-f", file("odd.json", toy("odd", { colour: "red" }))]);
    assert.match(unknown.err, /unknown field "spec\.colour"/);
    assert.notEqual((await run(["get", "toy", "bad"])).code, 0);
  });

  test("[KAS64] patch, label, annotate, edit and scale change what is there", async () => {
    await kubectl(["create", "-f", file("edited.json", toy("edited", { color: "red" }))]);
    await kubectl(["create", "-f", file("pod.json", pod("changed"))]);
    const strategic = '{"spec":{"containers":[{"name":"main","image":"image:2"}]}}';
    await kubectl(["patch", "pod", "changed", "-p", strategic]);
    await kubectl(["patch", "toy", "edited", "--type=merge", "-p", '{"spec":{"count":5}}']);
    const operations = '[{"op":"replace","path":"/spec/count","value":6}]';
    await kubectl(["patch", "toy", "edited", "--type=json", "-p", operations]);
    await kubectl(["label", "pod", "changed", "a=b"]);
    await kubectl(["annotate", "pod", "changed", "c=d"]);
    await kubectl(["edit", "toy", "edited"], "sed -i s/count:.6/count:\\ 7/");
    const fields = "jsonpath={.spec.count}";
    assert.equal(await kubectl(["get", "toy", "edited", "-o", fields]), "7");
    const labels =
      "jsonpath={.metadata.labels.a}{.metadata.annotations.c}{.spec.containers[0].image}";
    assert.equal(await kubectl(["get", "pod", "changed", "-o", labels]), "bdimage:2");
    await kubectl([
      "create",
      "-f",
      file("scaled.json", { ...deployment("i", 1), metadata: { name: "s" } }),
    ]);
    await kubectl(["scale", "deploy", "s", "--replicas=4"]);
    assert.equal(await kubectl(["get", "deploy", "s", "-o", "jsonpath={.spec.replicas}"]), "4");
  });

  test("[KAS64] a dry run on the server says what would be", async () => {
    const path = file("dry.json", toy("dry", { color: "red" }));
    const shown = await kubectl(["apply", "-f", path, "--dry-run=server", "-o", "yaml"]);
    assert.match(shown, /count: 3/);
    assert.notEqual((await run(["get", "toy", "dry"])).code, 0);
  });

  test("[KAS64] describe, events, explain, api-resources and auth read the server", async () => {
    await kubectl(["create", "-f", file("pod.json", pod("described"))]);
    const uid = await kubectl(["get", "pod", "described", "-o", "jsonpath={.metadata.uid}"]);
    const event = {
      ...{ apiVersion: "v1", kind: "Event", metadata: { name: "described.1" }, reason: "Pulled" },
      ...{
        message: "It is here.",
        type: "Normal",
        count: 1,
        lastTimestamp: "2026-01-01T00:00:00Z",
      },
      involvedObject: {
        apiVersion: "v1",
        kind: "Pod",
        name: "described",
        namespace: "default",
        uid,
      },
    };
    await kubectl(["create", "-f", file("event.json", event)]);
    assert.match(await kubectl(["describe", "pod", "described"]), /Pulled .*It is here\./);
    assert.match(await kubectl(["events", "--for", "pod/described"]), /Pulled/);
    assert.match(await kubectl(["explain", "toy.spec"]), /How it looks\./);
    assert.match(await kubectl(["explain", "pod.spec.containers"]), /image\t<string>/);
    assert.match(await kubectl(["api-resources"]), /toys +ty +example\.com\/v1 +true +Toy/);
    assert.equal((await kubectl(["auth", "can-i", "delete", "pods"])).trim(), "yes");
  });

  test("[KAS64] typed commands, which send protobuf, create what they say", async () => {
    await kubectl(["create", "namespace", "typed"]);
    await kubectl(["create", "configmap", "c", "-n", "typed", "--from-literal=a=b"]);
    await kubectl(["create", "secret", "generic", "s", "-n", "typed", "--from-literal=a=b"]);
    const data = await kubectl(["get", "secret", "s", "-n", "typed", "-o", "jsonpath={.data.a}"]);
    assert.equal(data, "Yg==");
    const inTyped = ["-n", "typed"];
    await kubectl(["create", "deployment", "d", ...inTyped, "--image=i:1", "--replicas=2"]);
    await kubectl(["create", "service", "clusterip", "v", ...inTyped, "--tcp=80:named"]);
    await kubectl(["create", "role", "r", ...inTyped, "--verb=get", "--resource=pods"]);
    await kubectl(["create", "rolebinding", "b", ...inTyped, "--role=r", "--user=u"]);
    await kubectl(["create", "pdb", "p", ...inTyped, "--selector=a=b", "--min-available=50%"]);
    const read = (what: string, path: string): Promise<string> =>
      kubectl(["get", ...what.split("/"), ...inTyped, "-o", `jsonpath=${path}`]);
    assert.equal(await read("deployment/d", "{.spec.replicas} {..containers[*].image}"), "2 i:1");
    assert.equal(await read("service/v", "{.spec.ports[*]['port','targetPort']}"), "80 named");
    assert.equal(await read("role/r", "{.rules}"), rulesText);
    assert.equal(await read("rolebinding/b", "{.roleRef.name} {.subjects[*].name}"), "r u");
    assert.equal(await read("pdb/p", "{.spec.minAvailable}{.spec.selector}"), budgetText);
    await kubectl(["delete", "namespace", "typed"]);
    assert.notEqual((await run(["get", "namespace", "typed"])).code, 0);
  });

  test("[KAS64] wait and watch follow changes, and delete ends them", async () => {
    await kubectl(["create", "-f", file("pod.json", pod("followed"))]);
    let shown = "";
    const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), HOME: folder };
    const watching = spawn("kubectl", ["get", "pod", "followed", "-w", "--no-headers"], { env });
    watching.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
    const ready = run(["wait", "--for=condition=Ready", "pod/followed", "--timeout=20s"]);
    const status = '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}';
    await kubectl(["patch", "pod", "followed", "--subresource=status", "-p", status]);
    assert.equal((await ready).code, 0);
    // A change between kubectl's first look and its watch is not shown by kubectl itself, so changes go on until one is.
    for (let round = 1; round <= 100 && !shown.includes("Running"); round += 1) {
      await kubectl(["label", "pod", "followed", `round=${round}`, "--overwrite"]);
    }
    assert.match(shown, /Running/);
    watching.kill();
    assert.match(await kubectl(["delete", "pod", "followed"]), /deleted/);
  });
});
