// The metrics of an operator in another process, as they were scraped.
import { get } from "node:http";
import type { Program } from "../test/end-to-end/programs.ts";

/** The operator tells the port in its log when it listens. */
export function scrape({ lines }: Pick<Program, "lines">): Promise<Metrics> {
  const line = lines.find((each) => each.includes('"listening"'));
  const port = Number(/"port":(\d+)/.exec(line ?? "")?.[1]);
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: "/metrics", agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => resolve(new Metrics(text)));
    }).on("error", reject);
  });
}

export class Metrics {
  readonly samples: readonly { name: string; labels: string; value: number }[];

  constructor(text: string) {
    this.samples = text.split("\n").flatMap((line) => {
      const match = /^([a-z0-9_]+)(\{.*\})? ([-0-9.e+]+|\+Inf)$/i.exec(line);
      return match === null
        ? []
        : [{ name: match[1] ?? "", labels: match[2] ?? "", value: Number(match[3]) }];
    });
  }

  /** The sum over all series of this name whose labels contain all the texts and none of those with a "!" before them. */
  sum(name: string, ...parts: string[]): number {
    return this.samples
      .filter((sample) => sample.name === name)
      .filter(({ labels }) =>
        parts.every((part) =>
          part.startsWith("!") ? !labels.includes(part.slice(1)) : labels.includes(part),
        ),
      )
      .reduce((sum, { value }) => sum + value, 0);
  }

  /** Requests that change something, Leases left out. */
  writes(): number {
    const name = "fdb_operator_kubernetes_requests_total";
    const verbs = ["create", "update", "patch", "delete"];
    return verbs.reduce(
      (sum, verb) => sum + this.sum(name, `verb="${verb}"`, '!resource="leases"', "!reviews"),
      0,
    );
  }

  /** Requests of all kinds, Leases and watches left out. */
  requests(): number {
    const name = "fdb_operator_kubernetes_requests_total";
    return this.sum(name, '!verb="watch"', '!resource="leases"', "!reviews");
  }
}
