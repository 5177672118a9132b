// What the operator is allowed to do, by the very rules that its roles in deploy/ are made of, and rights that are taken
// away for a while. What it asks for beyond its roles is a mistake of ours. Rules: spec/world.md [W114].
import type { AskedAccess } from "../../emulator/authorization.ts";
import { randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import { leaseRules, namespacedRules, nodeRules } from "../../operate/permissions.ts";

export class OperatorRights {
  readonly #granted: ReadonlySet<string>;
  readonly #onExcess: (text: string) => void;
  readonly #taken = new Set<string>();

  constructor(onExcess: (text: string) => void) {
    this.#onExcess = onExcess;
    const rules = [...namespacedRules, ...leaseRules, ...nodeRules];
    this.#granted = new Set(
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => rightText(verb, resource, group))),
        ),
      ),
    );
  }

  isAllowed({ verb, resource, apiGroup }: AskedAccess): boolean {
    const right = rightText(verb, resource, apiGroup);
    if (!this.#granted.has(right))
      this.#onExcess(`the operator's roles do not allow it to ${right}`);
    return this.#granted.has(right) && !this.#taken.has(right);
  }

  /** One that is drawn; which. */
  takeAway(random: Random): string {
    const right = randomPick(random, [...this.#granted]);
    this.#taken.add(right);
    return right;
  }

  giveBack(right: string): void {
    this.#taken.delete(right);
  }
}

function rightText(verb: string, resource: string, apiGroup: string): string {
  return `${verb} ${resource}${apiGroup === "" ? "" : `.${apiGroup}`}`;
}
