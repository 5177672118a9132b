// What a request for a log may ask for. It is looked at before the pod is. Rule: spec/api-server.md [KAS97].
import { parseTime } from "../kube/time.ts";
import { badRequest, fieldForbidden, fieldInvalid, invalid } from "./status.ts";

type Query = Readonly<Record<string, string>>;

/** In the order in which a server names what is wrong. */
const numbers = [
  { name: "tailLines", least: 0, words: "must be greater than or equal to 0" },
  { name: "limitBytes", least: 1, words: "must be greater than 0" },
  { name: "sinceSeconds", least: 1, words: "must be greater than 0" },
] as const;

/** Throws the server's refusal. */
export function checkLogOptions(podName: string, query: Query): void {
  for (const { name } of numbers) {
    const text = query[name];
    if (text !== undefined && !/^[+-]?\d{1,18}$/.test(text)) {
      throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
    }
  }
  const { sinceTime, sinceSeconds } = query;
  if (sinceTime !== undefined && parseTime(sinceTime) === undefined) {
    const layout = "2006-01-02T15:04:05Z07:00";
    throw badRequest(`parsing time "${sinceTime}" as "${layout}": cannot parse it`);
  }
  const isTwice = sinceTime !== undefined && sinceSeconds !== undefined;
  const problems = numbers.flatMap(({ name, least, words }) => {
    if (isTwice && name === "sinceSeconds") return [];
    const value = Number(query[name] ?? least);
    return value >= least ? [] : [fieldInvalid(name, value, words)];
  });
  if (isTwice) {
    const words = "at most one of `sinceTime` or `sinceSeconds` may be specified";
    problems.push(fieldForbidden("[]", words));
  }
  if (problems.length > 0) throw invalid("", "PodLogOptions", podName, problems);
}
