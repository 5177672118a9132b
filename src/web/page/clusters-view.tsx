// All clusters, those that need somebody first, each as a card. Rules: spec/page.md [PAGE6].
import { useComputed, useSignal } from "@preact/signals";
import { counted } from "../../model/counted.ts";
import { asSentence } from "../../plugin/explain/words.ts";
import type { ClusterCard } from "../view-model.ts";
import { Age, Answer, pure, Told, UrgencyChip } from "./parts.tsx";
import { cards, known } from "./state.ts";
import { hashOf } from "./route.ts";
import { backupsText, wellText } from "./words.ts";
import { isWanted, sortedCards, summaryText } from "./card-order.ts";

export function ClustersView() {
  const wanted = useSignal("");
  const shown = useComputed(() =>
    sortedCards(cards.value).filter(([, card]) => isWanted(card, wanted.value)),
  );
  const total = Object.keys(cards.value).length;
  if (known.value === undefined) return <Loading />;
  return (
    <>
      <div class="title-row">
        <h1>Clusters</h1>
        <p class="summary">{summaryText(cards.value)}</p>
        {total < 2 ? null : (
          <label class="filter">
            <span>Filter</span>
            <input
              id="filter"
              type="search"
              placeholder="name, namespace, state"
              value={wanted}
              onInput={(event) => (wanted.value = event.currentTarget.value)}
            />
          </label>
        )}
      </div>
      {total === 0 ? <NoCluster /> : null}
      {total > 0 && shown.value.length === 0 ? (
        <p class="dim">No cluster matches “{wanted}”.</p>
      ) : null}
      <ul class="cards">
        {shown.value.map(([key, card]) => (
          <Card key={key} card={card} />
        ))}
      </ul>
    </>
  );
}

export function Loading() {
  return (
    <div class="loading">
      <h1>Reading</h1>
      <p role="status">Waiting for the first answer of the server.</p>
    </div>
  );
}

function NoCluster() {
  return (
    <div class="empty">
      <h2>No cluster yet</h2>
      <p>There is no FoundationDBCluster here. Apply one, and it appears by itself:</p>
      <p>
        <code>kubectl apply -f cluster.yaml</code>
      </p>
    </div>
  );
}

/** What stands below: what it is, how many are well, what is kept. */
function CardMeta({ card }: { readonly card: ClusterCard }) {
  const { verdict, version, processGroups: groups, backups } = card;
  const isMoving = version.running !== undefined && version.running !== version.wanted;
  return (
    <p class="meta">
      <span>{card.redundancyMode}</span>
      <span>{isMoving ? `${version.running} → ${version.wanted}` : version.wanted}</span>
      <span>
        {verdict === "asleep" ? counted(groups.total, "process group") : wellText(groups)}
      </span>
      {backups === undefined || backups.total === 0 ? null : (
        <span>
          {backups.worst === undefined ? (
            counted(backups.total, "backup")
          ) : (
            <strong class={`in-trouble urgency-${backups.worst.urgency}`}>
              {backupsText(backups, backups.total)}
            </strong>
          )}
        </span>
      )}
      {card.quarantine === undefined ? null : (
        <span>{counted(card.quarantine, "volume")} in quarantine</span>
      )}
      {card.createdAt === undefined ? null : (
        <span>
          <Age since={card.createdAt} /> old
        </span>
      )}
    </p>
  );
}

const Card = pure(({ card }: { readonly card: ClusterCard }) => {
  const { namespace, cluster, urgency, ownUrgency, verdict, waits, backups } = card;
  const { first } = waits;
  const isAsleep = verdict === "asleep";
  // What needs somebody most comes first.
  const isBackupFirst = (backups?.worst?.urgency ?? 0) > ownUrgency;
  return (
    <li class={`card edge urgency-${urgency}`}>
      <div class="card-head">
        <h2>
          <a href={hashOf({ view: "map", namespace, name: cluster })}>
            <span class="namespace">{namespace}/</span>
            {cluster}
          </a>
        </h2>
        <UrgencyChip
          {...{ urgency, ownUrgency, verdict, reason: first?.reason }}
          backup={backups?.worst?.backup}
        />
      </div>
      <p class="headline">
        <Told text={card.headline} />
      </p>
      <p class={`answers urgency-${ownUrgency}`}>
        <Answer
          fact={card.serving}
          yes="serves"
          no={isAsleep ? "sleeps" : "does not serve"}
          isAsleep={isAsleep}
        />
        <Answer fact={card.sound} yes="sound" no="not sound" />
        <Answer
          fact={card.reconciled}
          yes="as specified"
          no="not yet as specified"
          isPatient={ownUrgency < 2}
        />
      </p>
      {isBackupFirst ? <BackupRemedy backups={backups} /> : null}
      {ownUrgency >= 2 && first?.remedy ? (
        <p class={`remedy urgency-${ownUrgency}`}>
          <strong>{first.reason}:</strong> <Told text={asSentence(first.message)} />{" "}
          <strong>What to do:</strong> <Told text={first.remedy} />
        </p>
      ) : null}
      {isBackupFirst ? null : <BackupRemedy backups={backups} />}
      <CardMeta card={card} />
    </li>
  );
});

/** Of the backup that needs somebody most. */
function BackupRemedy({ backups }: Pick<ClusterCard, "backups">) {
  const worst = backups?.worst;
  if (worst === undefined) return null;
  return (
    <p class={`remedy urgency-${worst.urgency}`}>
      <span class="cut">
        <strong>Backup {worst.backup}:</strong> <Told text={worst.headline} />
      </span>
      {worst.remedy === undefined ? null : (
        <span>
          {" "}
          <strong>What to do:</strong> <Told text={worst.remedy} />
        </span>
      )}
    </p>
  );
}
