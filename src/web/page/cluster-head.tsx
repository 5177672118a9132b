// What stands above every view of a cluster: whether it serves, whether all processes and all copies of data are there, and what to do. It can be read in two
// seconds. Rules: spec/page.md [PAGE2], [PAGE9].
import { counted } from "../../model/counted.ts";
import type { BackupTroubles, ClusterModel } from "../view-model.ts";
import { Age, Fact, pure, Told, UrgencyChip } from "./parts.tsx";
import { clusterViews, hashOf, viewTitles } from "./route.ts";
import type { ClusterView } from "./route.ts";
import { countsOf } from "../../plugin/status/group-counts.ts";
import { backupsText, verdictWords, wellText } from "./words.ts";

interface HeadProps {
  readonly now: ClusterModel["now"];
  readonly namespace: string;
  readonly name: string;
  readonly backups: ClusterModel["backups"];
}

export const ClusterHead = pure(({ now, namespace, name, backups }: HeadProps) => {
  const { urgency, ownUrgency, verdict, version, processGroups: groups } = now;
  const isAsleep = verdict === "asleep";
  // What needs somebody most comes first.
  const isBackupFirst = (backups.worst?.urgency ?? 0) > ownUrgency;
  const ofBackup = <BackupToDo {...{ backups, namespace, name }} />;
  const isMoving = version.running !== undefined && version.running !== version.wanted;
  return (
    <div class={`head edge urgency-${urgency}`}>
      <div class="title-row">
        <h1>
          <span class="namespace">{namespace}/</span>
          {name}
        </h1>
        <UrgencyChip
          {...{ urgency, ownUrgency, verdict, reason: now.waits[0]?.reason }}
          backup={backups.worst?.backup}
        />
        <span class="meta">
          <span>{verdictWords[verdict]}</span>
          <span>{now.redundancyMode}</span>
          <span>
            {isMoving
              ? `version ${version.running} → ${version.wanted}`
              : `version ${version.wanted}`}
          </span>
          <span>
            {isAsleep
              ? `${counted(groups.total, "process group")}, none with a pod`
              : wellText(countsOf(now.classes), "process groups")}
          </span>
        </span>
      </div>
      <p class="headline">
        <Told text={now.headline} />
      </p>
      <dl class={`facts urgency-${ownUrgency}`}>
        <Fact question="Does the database serve?" fact={now.serving} isAsleep={isAsleep} />
        <Fact question="Are all processes and copies there?" fact={now.sound} />
        <Fact
          question="Is everything as specified?"
          fact={now.reconciled}
          isPatient={ownUrgency < 2}
        />
      </dl>
      {isBackupFirst ? ofBackup : null}
      <ToDo now={now} />
      {isBackupFirst ? null : ofBackup}
    </div>
  );
});

/** What to do for the backup that needs somebody most, and how many others there are. */
function BackupToDo({ backups, namespace, name }: Omit<HeadProps, "now">) {
  const { worst } = backups;
  if (worst === undefined) return null;
  const { backup, urgency, headline, remedy } = worst;
  const total = Object.keys(backups.backups).length;
  return (
    <div class={`to-do urgency-${urgency}`}>
      <h2>{remedy === undefined ? `Backup ${backup}` : `What to do for the backup ${backup}`}</h2>
      {remedy === undefined ? null : (
        <p class="to-do-remedy">
          <Told text={remedy} />
        </p>
      )}
      <p class="dim">
        <Told text={headline} /> · {backupsText(backups, total)}:{" "}
        <a href={hashOf({ view: "backups", namespace, name })}>see Backups</a>
      </p>
    </div>
  );
}

/** What a person can do, for the wait that matters most, and how many more there are. */
function ToDo({ now }: { readonly now: ClusterModel["now"] }) {
  const wanted = now.waits.filter(({ concern }) => concern !== "passing");
  const first =
    wanted.find(({ concern, remedy }) => concern === "person" && remedy) ??
    wanted.find(({ remedy }) => remedy);
  return (
    <>
      {now.warning === undefined ? null : (
        <p class="notice">
          <Told text={now.warning} />
        </p>
      )}
      {now.stale.map((text) => (
        <p class="notice" key={text}>
          {text}
        </p>
      ))}
      {first === undefined ? null : (
        <div class={`to-do urgency-${now.ownUrgency}`}>
          <h2>What to do</h2>
          <p class="to-do-remedy">
            <Told text={first.remedy ?? ""} />
          </p>
          <p class="dim">
            {first.reason}: <Told text={first.message} />
            {first.since === undefined ? null : (
              <>
                {" · for "}
                <Age since={first.since} />
              </>
            )}
            {wanted.length > 1 ? ` · ${wanted.length - 1} more under Now` : ""}
          </p>
        </div>
      )}
    </>
  );
}

interface TabsProps {
  readonly namespace: string;
  readonly name: string;
  readonly view: ClusterView;
  readonly backups: BackupTroubles;
}

export const Tabs = pure(({ namespace, name, view, backups }: TabsProps) => (
  <nav class="tabs" aria-label="Views of this cluster">
    {clusterViews.map((one, index) => (
      <a
        key={one}
        href={hashOf({ view: one, namespace, name })}
        aria-current={one === view ? "page" : undefined}
        aria-keyshortcuts={String(index + 1)}
      >
        {viewTitles[one]}
        {one === "backups" && backups.worst !== undefined ? (
          <BackupCount backups={backups} />
        ) : null}
      </a>
    ))}
  </nav>
));

/** Of those that need somebody now, or else of those that are worth a look. */
function BackupCount({ backups }: Pick<TabsProps, "backups">) {
  const { inTrouble, worthALook, worst } = backups;
  return (
    <span class={`count urgency-${worst?.urgency ?? 2}`}>
      <span class="visually-hidden">{inTrouble > 0 ? " in trouble: " : " worth a look: "}</span>
      {inTrouble > 0 ? inTrouble : worthALook}
    </span>
  );
}
