// Everything that stands between the operators of one seat and the world, and lasts from one operator to the next: the
// link to the API server with its faults, the link to the database, and the life of the operator that runs.
// Carries rules MU6 to MU8.
import type { Clock } from "../../env/clock.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClientFactory } from "../../fdb/admin.ts";
import type { KubeTransport } from "../../kube/transport.ts";
import { faultyRoad } from "./faulty-transport.ts";
import type { RoadConditions } from "./faulty-transport.ts";
import { laggingWatch } from "./lagging-watch.ts";
import { OperatorLife } from "./mortal-operator.ts";
import { SeverableLink } from "./severable-link.ts";
import { slowDatabase } from "./slow-database.ts";

export class OperatorLinks {
  readonly kubernetes: SeverableLink;
  readonly database: SeverableLink;
  /** How late the caches are. */
  readonly lag = { lagMs: 0, moreMs: new Map<string, number>() };
  readonly #clock: Clock;
  readonly #random: Random;
  #road: RoadConditions | undefined;
  #slow: { slowChance: number } | undefined;
  #life = new OperatorLife();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.kubernetes = new SeverableLink(clock);
    this.database = new SeverableLink(clock);
  }

  /** Of the operator that runs, or ran last. */
  get life(): OperatorLife {
    return this.#life;
  }

  /** How often requests fail and watches break, in [0, 1]. */
  set roadFailureChance(chance: number) {
    Object.assign(this.#road ?? {}, { failureChance: chance, watchBreakChance: chance });
  }

  /** How often a status or a configuration comes late or not at all, in [0, 1]. */
  set slowAnswerChance(chance: number) {
    Object.assign(this.#slow ?? {}, { slowChance: chance });
  }

  wrapTransport(transport: KubeTransport): KubeTransport {
    this.#life = new OperatorLife();
    const severable = this.kubernetes.transport(this.#life.transport(transport));
    const lagging = laggingWatch(severable, this.#clock, this.lag);
    const road = faultyRoad(lagging, this.#clock, this.#random);
    Object.assign(road.conditions, this.#road);
    this.#road = road.conditions;
    return road.transport;
  }

  wrapAdmin(admin: AdminClientFactory): AdminClientFactory {
    const mortal = this.database.admin(this.#life.admin(admin));
    const slow = slowDatabase(mortal, this.#clock, this.#random);
    Object.assign(slow.conditions, this.#slow);
    this.#slow = slow.conditions;
    return slow.admin;
  }

  /** All is well again. */
  heal(): void {
    this.kubernetes.restore();
    this.database.restore();
    this.kubernetes.delayMs = 0;
    this.database.delayMs = 0;
    this.lag.lagMs = 0;
    this.lag.moreMs.clear();
    this.roadFailureChance = 0;
    this.slowAnswerChance = 0;
  }
}
