// Asks a dashboard as a browser would, or as nobody should.
import { request } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { applied } from "../../src/web/difference.ts";
import type { Change } from "../../src/web/difference.ts";
import type { PageModel } from "../../src/web/view-model.ts";
import { eventually } from "../eventually.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Question {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function ask(port: number, question: Question): Promise<Answer> {
  const { method = "GET", path = "/", headers = {}, body } = question;
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, method, path, headers, agent: false },
      (found) => {
        let text = "";
        found.setEncoding("utf8");
        found.on("data", (part: string) => (text += part));
        found.on("end", () =>
          resolve({ status: found.statusCode ?? 0, headers: found.headers, text }),
        );
        found.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The cookie that the printed address gives. */
export async function cookieOf(url: string): Promise<string> {
  const { port, pathname } = new URL(url);
  const { headers } = await ask(Number(port), { path: pathname });
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}

export interface Stream {
  /** Events with their data, in order. */
  readonly events: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];
  /** What a page would have by now. */
  readonly model: () => PageModel | undefined;
  readonly isOver: () => boolean;
  readonly response: IncomingMessage;
  close(): void;
}

/** Opens `/events` and applies what comes. */
export function follow(port: number, path: string, cookie: string): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path, headers: { cookie }, agent: false },
      (response) => {
        const events: Stream["events"] = [];
        let model: PageModel | undefined;
        let isOver = false;
        let rest = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          const pieces = (rest + part).split("\n\n");
          rest = pieces.pop() ?? "";
          for (const piece of pieces) {
            const [, type = "", text = "{}"] = /^event: (\w+)\ndata: (.*)$/.exec(piece) ?? [];
            const data = JSON.parse(text) as Record<string, unknown>;
            if (type === "model") model = data["model"] as PageModel;
            if (type === "changes") model = applied(model, data["changes"] as Change[]);
            events.push({ type, data });
          }
        });
        response.on("close", () => (isOver = true));
        response.on("error", () => (isOver = true));
        resolve({
          events,
          model: () => model,
          isOver: () => isOver,
          response,
          close: () => sent.destroy(),
        });
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

/** Waits for what comes in real time. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(what, async () => ((await isSo()) ? true : undefined), 30_000);
}
