// The frame of the page: what stands around every view, and which view is shown. Rules: spec/page.md [PAGE2], [PAGE13].
import { useCallback } from "preact/hooks";
import { BackupsView } from "./backups-view.tsx";
import { ClusterHead, Tabs } from "./cluster-head.tsx";
import { ClustersView, Loading } from "./clusters-view.tsx";
import { effects } from "./effects.ts";
import type { Theme } from "./effects.ts";
import { FiguresView } from "./figures-view.tsx";
import { Help } from "./help.tsx";
import { MapView } from "./map-view.tsx";
import { NowView } from "./now-view.tsx";
import { Age, pure, UrgencyChip } from "./parts.tsx";
import { PreviewView } from "./preview-view.tsx";
import { hashOf } from "./route.ts";
import type { Route } from "./route.ts";
import {
  cards,
  cluster,
  connection,
  isHelpOpen,
  isLost,
  isScrolled,
  known,
  refusal,
} from "./state.ts";
import { route, session, theme } from "./state.ts";
import { StoryPanel } from "./story.tsx";
import { summaryText } from "./card-order.ts";
import { TimeLineView } from "./time-line-view.tsx";
import type { ClusterModel } from "../view-model.ts";
import { dateText } from "./words.ts";

export function App() {
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>("#main")?.focus();
        }}
      >
        Skip to the content
      </a>
      <Bar />
      <main id="main" tabIndex={-1}>
        <Notices />
        <View />
      </main>
      <Spoken />
      {isHelpOpen.value ? <Help onClose={() => (isHelpOpen.value = false)} /> : null}
    </>
  );
}

function Bar() {
  return (
    <header class="bar">
      <a class="brand" href={hashOf({ view: "clusters" })}>
        <svg class="brand-mark" viewBox="0 0 20 20" aria-hidden="true">
          <path d="M2 2h7v4H2zM11 8h7v4h-7zM2 14h7v4H2z" fill="currentColor" />
          <path d="M11 2h7v4h-7zM2 8h7v4H2zM11 14h7v4h-7z" fill="currentColor" opacity="0.45" />
        </svg>
        FoundationDB
      </a>
      <span class="where" title={session.value?.where}>
        {session.value?.where ?? ""}
      </span>
      <ShownCluster />
      <Connection />
      <ThemeButton />
      <button type="button" aria-keyshortcuts="?" onClick={() => (isHelpOpen.value = true)}>
        Keys <kbd aria-hidden="true">?</kbd>
      </button>
    </header>
  );
}

/** Which cluster is shown and what it needs, where the head that says so has been scrolled away. */
function ShownCluster() {
  const { value: shown } = cluster;
  if (route.value.view === "clusters" || !isScrolled.value) return null;
  if (shown === undefined || shown.isMissing) return null;
  const { namespace, name, now, backups } = shown;
  const { urgency, ownUrgency, verdict, waits } = now;
  return (
    <span class="shown-cluster">
      {namespace}/<strong>{name}</strong>
      <UrgencyChip
        {...{ urgency, ownUrgency, verdict, reason: waits[0]?.reason }}
        backup={backups.worst?.backup}
      />
    </span>
  );
}

function Connection() {
  if (session.value?.source === "file") {
    const { takenAtMs } = session.value;
    const taken = takenAtMs === undefined ? "" : ` of ${dateText(takenAtMs)}`;
    return <span class="connection">a picture{taken}; it does not change</span>;
  }
  const isOpen = connection.value === "open" && !isLost.value;
  const text = isLost.value ? "not connected" : isOpen ? "live" : "connecting";
  return (
    <span class={`connection ${isOpen ? "is-open" : "is-lost"}`} role="status">
      <span class="dot" aria-hidden="true" />
      {text}
    </span>
  );
}

const nextTheme: Readonly<Record<Theme, Theme>> = {
  system: "dark",
  dark: "light",
  light: "system",
};
const themeWords: Readonly<Record<Theme, string>> = {
  system: "as the system",
  dark: "dark",
  light: "light",
};

function ThemeButton() {
  const { value } = theme;
  return (
    <button
      type="button"
      onClick={() => effects().keepTheme(nextTheme[value])}
      aria-label={`Colours: ${themeWords[value]}. Change to ${themeWords[nextTheme[value]]}`}
    >
      {value === "dark" ? "☾" : value === "light" ? "☀" : "◐"} {themeWords[value]}
    </button>
  );
}

/** What is between the person and the truth: no connection, no rights. */
function Notices() {
  const { value: last } = known;
  const missing = session.value?.missing ?? [];
  return (
    <>
      {refusal.value === undefined ? null : (
        <p class="notice strong" role="alert">
          {refusal}
        </p>
      )}
      {isLost.value && last !== undefined && refusal.value === undefined ? (
        <p class="notice strong" role="alert">
          The connection to the dashboard's server is lost: what is shown was so{" "}
          <Age since={last.atMs} /> ago. Is the command that serves this page still running?
        </p>
      ) : null}
      {missing.length === 0 ? null : (
        <div class="notice">
          <strong>You see less than there is.</strong>
          <ul>
            {missing.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

/** What a screen reader is told when it changes: the headline of what is shown. */
function Spoken() {
  const { value: shown } = cluster;
  const text =
    route.value.view === "clusters"
      ? summaryText(cards.value)
      : shown === undefined || shown.isMissing
        ? ""
        : `${shown.name}: ${shown.now.headline}`;
  return (
    <div class="visually-hidden" aria-live="polite" id="spoken">
      {text}
    </div>
  );
}

function View() {
  const { value: shown } = route;
  if (shown.view === "clusters") return <ClustersView />;
  const { value: found } = cluster;
  if (found === undefined) return <Loading />;
  if (found.isMissing) {
    return (
      <div class="empty">
        <h1>
          {found.namespace}/{found.name}
        </h1>
        <p role="status">{found.why}</p>
        <p>
          <a href={hashOf({ view: "clusters" })}>All clusters</a>
        </p>
      </div>
    );
  }
  return <ClusterPage model={found} shown={shown} />;
}

interface ClusterPageProps {
  readonly model: ClusterModel;
  readonly shown: Exclude<Route, { view: "clusters" }>;
}

const ClusterPage = pure(({ model, shown }: ClusterPageProps) => {
  const { namespace, name, now, backups } = model;
  return (
    <>
      <ClusterHead {...{ now, namespace, name, backups }} />
      <Tabs {...{ namespace, name, view: shown.view, backups }} />
      <Chosen model={model} shown={shown} />
    </>
  );
});

function Chosen({ model, shown }: ClusterPageProps) {
  const { namespace, name } = model;
  switch (shown.view) {
    case "map":
      return <MapPage {...{ model, shown }} />;
    case "now":
      return (
        <NowView
          {...{ now: model.now, commands: model.commands }}
          backupsHref={hashOf({ view: "backups", namespace: model.namespace, name: model.name })}
        />
      );
    case "time-line":
      return <TimeLineView model={model.timeLine} />;
    case "figures":
      return <FiguresView figures={model.figures} />;
    case "backups":
      return <BackupsView model={model.backups} />;
    case "preview": {
      const problem = session.value?.previewProblem;
      return (
        <PreviewView
          key={`${namespace}/${name}`}
          {...{ namespace, name, problem }}
          map={model.map}
        />
      );
    }
  }
}

function MapPage({ model, shown }: ClusterPageProps) {
  const { namespace, name, map } = model;
  const { group } = shown;
  const select = useCallback(
    (chosen: string) => effects().go({ view: "map", namespace, name, group: chosen }),
    [namespace, name],
  );
  const close = useCallback(() => {
    effects().go({ view: "map", namespace, name });
    document.querySelector<HTMLElement>(".map-tiles")?.focus();
  }, [namespace, name]);
  return (
    <div class={group === undefined ? "map-page" : "map-page has-story"}>
      <MapView map={map} selected={group} onSelect={select} />
      {group === undefined ? null : (
        <StoryPanel {...{ namespace, name, group }} tile={map.tiles[group]} onClose={close} />
      )}
    </div>
  );
}
