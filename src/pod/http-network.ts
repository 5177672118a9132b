// The way to real pods: plain HTTP to their sidecars, or TLS with the certificates that FDB_TLS_* name. The files are read
// for each request, so that a rotation needs no restart. Rules: spec/run.md [RUN42], [RUN44].
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { createSecureContext } from "node:tls";
import type { SecureContextOptions } from "node:tls";
import type { Clock } from "../env/clock.ts";
import { PodUnreachableError } from "./network.ts";
import { seeCertificate } from "./tls-handshake.ts";
import type { PodNetwork, PodRequest, PodResponse } from "./network.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Answers of a sidecar are short: hashes and a few variables. */
const bodyBytesMax = 1 << 20;

export function createHttpPodNetwork(clock: Clock, environment: Environment): PodNetwork {
  return {
    request: (request) => send(request, clock, environment),
    certificate: (handshake) => seeCertificate(handshake, clock, ownCertificate(environment)),
  };
}

function send(request: PodRequest, clock: Clock, environment: Environment): Promise<PodResponse> {
  const { host, port, timeoutMs } = request;
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const unreachable = (why: string): void => reject(new PodUnreachableError(`${where}: ${why}`));
    let call: http.ClientRequest;
    try {
      call = begin(request, environment);
    } catch (error) {
      // Certificates are rotated while we look, so a bad file is a reason for this request alone.
      return unreachable(error instanceof Error ? error.message : String(error));
    }
    const fail = (why: string): void => {
      timer.cancel();
      call.destroy();
      unreachable(why);
    };
    const timer = clock.setTimer(timeoutMs, () => fail(`no answer within ${timeoutMs} ms`));
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

/** What the operator shows of itself; without it a process may refuse us, and logs that, after it has shown its own. */
function ownCertificate(environment: Environment): SecureContextOptions {
  try {
    const { cert, key } = certificates(environment);
    return cert === undefined || key === undefined ? {} : { cert, key };
  } catch {
    // Files that are being rotated: the handshake shows what it is for without them.
    return {};
  }
}

/** Throws, with the variable and its file, when a certificate cannot be used. */
function begin(request: PodRequest, environment: Environment): http.ClientRequest {
  const { host, port, useTls, method, path } = request;
  const target = { host, port, method, path: `/${path}`, agent: false } as const;
  return useTls ? https.request({ ...target, ...certificates(environment) }) : http.request(target);
}

function certificates(environment: Environment): https.RequestOptions {
  return {
    ...readable(environment, "FDB_TLS_CA_FILE", (ca) => ({ ca })),
    ...readable(environment, "FDB_TLS_CERTIFICATE_FILE", (cert) => ({ cert })),
    ...readable(environment, "FDB_TLS_KEY_FILE", (key) => ({ key })),
    rejectUnauthorized: environment["DISABLE_SIDECAR_TLS_CHECK"] !== "1",
  };
}

function readable(
  environment: Environment,
  name: string,
  use: (content: Buffer) => SecureContextOptions,
): SecureContextOptions {
  const file = environment[name];
  if (file === undefined || file === "") return {};
  try {
    const options = use(readFileSync(file));
    createSecureContext(options);
    return options;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the file ${file} of ${name} cannot be used: ${why}`, { cause: error });
  }
}
