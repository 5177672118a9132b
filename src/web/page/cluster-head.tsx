// What stands above every view of a cluster: whether it serves, whether all processes and all copies of data are there, and what to do. It can be read in two
// seconds. Rules: spec/page.md [PAGE2], [PAGE9].
import { counted } from "../../model/counted.ts";
import type { BackupTroubles, ClusterModel } from "../view-model.ts";
import { Age, Fact, pure, Told, UrgencyChip } from "./parts.tsx";
import { clusterViews, hashOf, viewTitles } from "./route.ts";
import type { ClusterView } from "./route.ts";
import { verdictWords, wellText } from "./words.ts";

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
  const notice = <BackupNotice {...{ backups, namespace, name }} />;
  const isMoving = version.running !== undefined && version.running !== version.wanted;
  return (
    <div class={`head edge urgency-${urgency}`}>
      <div class="title-row">
        <h1>
          <span class="namespace">{namespace}/</span>
          {name}
        </h1>
        <UrgencyChip {...{ urgency, ownUrgency, verdict }} reason={now.waits[0]?.reason} />
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
      {isBackupFirst ? notice : null}
      <ToDo now={now} />
      {isBackupFirst ? null : notice}
    </div>
  );
});

function countsOf(classes: ClusterModel["now"]["classes"]): Parameters<typeof wellText>[0] {
  const sum = (of: (row: (typeof classes)[0]) => number): number =>
    classes.reduce((total, row) => total + of(row), 0);
  return {
    ...{ well: sum(({ well }) => well), total: sum(({ total }) => total) },
    ...{ wanted: sum(({ wanted }) => wanted), outdated: sum(({ outdated }) => outdated) },
    ...{ starting: sum(({ starting }) => starting), leaving: sum(({ leaving }) => leaving) },
  };
}

/** Which backup needs somebody most, and how many others do. */
function BackupNotice({ backups, namespace, name }: Omit<HeadProps, "now">) {
  const { worst, inTrouble } = backups;
  if (worst === undefined) return null;
  const total = Object.keys(backups.backups).length;
  return (
    <p class={worst.urgency === 3 ? "notice needed" : "notice"}>
      <strong>Backup {worst.backup}:</strong> <Told text={worst.headline} />{" "}
      {worst.remedy === undefined ? null : (
        <>
          <strong>What to do:</strong> <Told text={worst.remedy} />{" "}
        </>
      )}
      {inTrouble} of {counted(total, "backup")} in trouble:{" "}
      <a href={hashOf({ view: "backups", namespace, name })}>see Backups</a>
    </p>
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
        {one === "backups" && backups.inTrouble > 0 ? (
          <span class={`count urgency-${backups.worst?.urgency ?? 2}`}>
            <span class="visually-hidden"> in trouble: </span>
            {backups.inTrouble}
          </span>
        ) : null}
      </a>
    ))}
  </nav>
));
