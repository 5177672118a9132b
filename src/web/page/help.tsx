// The keys that work everywhere, in a dialog. Rules: spec/page.md [PAGE8].
import { useEffect, useRef } from "preact/hooks";

const keys: readonly (readonly [string, string])[] = [
  ["?", "this list"],
  ["g", "all clusters"],
  ["1 to 6", "map, now, time line, figures, backups, preview"],
  ["/", "the filter of clusters"],
  ["m", "the map"],
  ["arrows, Home, End", "from tile to tile on the map"],
  ["Page Up, Page Down", "from column to column on the map"],
  ["t", "the next process group in trouble, on the map"],
  ["Enter", "the story of a tile"],
  ["Escape", "closes a story or this list"],
  ["d", "dark, light, as the system"],
];

export function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
