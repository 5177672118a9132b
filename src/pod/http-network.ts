// The way to the sidecars of real pods: plain HTTP, or TLS with the certificates that FDB_TLS_* name. The files are read
// for each request, so that a rotation needs no restart. Rules: spec/run.md [RUN42].
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import type { Clock } from "../env/clock.ts";
import { PodUnreachableError } from "./network.ts";
import type { PodNetwork, PodRequest, PodResponse } from "./network.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Answers of a sidecar are short: hashes and a few variables. */
const bodyBytesMax = 1 << 20;

export function createHttpPodNetwork(clock: Clock, environment: Environment): PodNetwork {
  return { request: (request) => send(request, clock, environment) };
}

function send(request: PodRequest, clock: Clock, environment: Environment): Promise<PodResponse> {
  const { host, port, useTls, method, path, timeoutMs } = request;
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      timer.cancel();
      call.destroy();
      reject(new PodUnreachableError(`${where}: ${why}`));
    };
    const target = { host, port, method, path: `/${path}`, agent: false } as const;
    const timer = clock.setTimer(timeoutMs, () => fail(`no answer within ${timeoutMs} ms`));
    const call = useTls
      ? https.request({ ...target, ...certificates(environment) })
      : http.request(target);
    call.on("error", (error) => fail(error.message));
    call.on("response", (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > bodyBytesMax) fail("the answer is too long");
        else chunks.push(chunk);
      });
      answer.on("error", (error) => fail(error.message));
      answer.on("end", () => {
        timer.cancel();
        resolve({
          status: answer.statusCode ?? 0,
          body: Buffer.concat(chunks).toString("utf8"),
        });
      });
    });
    call.end();
  });
}

function certificates(environment: Environment): https.RequestOptions {
  const read = (name: string): Buffer | undefined => {
    const file = environment[name];
    return file === undefined || file === "" ? undefined : readFileSync(file);
  };
  return {
    ca: read("FDB_TLS_CA_FILE"),
    cert: read("FDB_TLS_CERTIFICATE_FILE"),
    key: read("FDB_TLS_KEY_FILE"),
    rejectUnauthorized: environment["DISABLE_SIDECAR_TLS_CHECK"] !== "1",
  };
}
