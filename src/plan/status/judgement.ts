// What a condition says, before it is dated.
import type { Condition } from "../../api/cluster.ts";

export type Judgement = Pick<Condition, "status" | "reason" | "message">;

export function judge(status: Judgement["status"], reason: string, message: string): Judgement {
  return { status, reason, message: message.slice(0, 4096) };
}
