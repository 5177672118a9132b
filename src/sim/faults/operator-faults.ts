// The faults between the operator of a life and its world that a life can switch on and off: at the server's door (rights,
// quota, webhook) and on the operator's side (silence, bunches of answers, standing still). Rules: spec/world.md [W114]-[W119].
import type { ApiServer } from "../../emulator/api-server.ts";
import type { Clock } from "../../env/clock.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClientFactory } from "../../fdb/admin.ts";
import type { KubeTransport } from "../../kube/transport.ts";
import type { PodNetwork } from "../../pod/network.ts";
import { ObjectQuota } from "./object-quota.ts";
import { OperatorRights } from "./operator-rights.ts";
import { PodWebhook } from "./pod-webhook.ts";
import { ShuffledAnswers } from "./shuffled-answers.ts";
import { Silence } from "./silence.ts";
import { Suspension } from "./suspension.ts";

export interface OperatorFaultsParts {
  clock: Clock;
  /** Of a part by its name. */
  random: (part: string) => Random;
  server: () => ApiServer;
  /** Something was asked for that no role allows. */
  onExcess: (text: string) => void;
}

export class OperatorFaults {
  readonly rights: OperatorRights;
  readonly quota: ObjectQuota;
  readonly webhook = new PodWebhook();
  readonly silence: Silence;
  readonly shuffled: ShuffledAnswers;
  readonly suspension: Suspension;

  constructor({ clock, random, server, onExcess }: OperatorFaultsParts) {
    this.rights = new OperatorRights(onExcess);
    this.quota = new ObjectQuota(() => server().context.store);
    this.silence = new Silence(clock, random("silence"));
    this.shuffled = new ShuffledAnswers(clock, random("shuffled answers"));
    this.suspension = new Suspension(clock);
  }

  /** Where requests arrive. */
  atDoor(transport: KubeTransport): KubeTransport {
    return this.webhook.transport(this.quota.transport(transport));
  }

  transport(transport: KubeTransport): KubeTransport {
    const heard = this.silence.transport(transport);
    return this.suspension.transport(this.shuffled.transport(heard));
  }

  admin(admin: AdminClientFactory): AdminClientFactory {
    return this.suspension.admin(this.shuffled.admin(this.silence.admin(admin)));
  }

  network(network: PodNetwork): PodNetwork {
    return this.suspension.network(this.silence.network(network));
  }
}
