// All that the guard asks before an act: whether it is safe, and whether it is the time for it. Steps need not ask for the time:
// what they want passes the windows behind them. Rules: spec/windows.md [WIN6].
import type { DisruptiveAction } from "../action.ts";
import { actRefusal } from "./act-refusal.ts";
import type { Refusal } from "./refusal.ts";
import type { SafetyView } from "./view.ts";

export function doorRefusal(view: SafetyView, action: DisruptiveAction): Refusal | undefined {
  return actRefusal(view, action) ?? view.checks.window(view, action);
}
