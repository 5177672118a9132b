// The search of the manual, in the browser. The words of all pages are loaded when somebody begins to search; nothing is asked
// of another host. Rules: spec/manual.md [MAN6].
import MiniSearch from "minisearch";

const resultsMax = 12;
const root = document.documentElement.dataset.root;
const box = document.querySelector(".search");
const input = box.querySelector("input");
const found = document.querySelector("#found");
let index;
let loading;
let active = -1;

box.hidden = false;
input.addEventListener("focus", load);
input.addEventListener("input", () => void show());
input.addEventListener("keydown", onKey);
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
  input.select();
});
document.addEventListener("click", (event) => {
  if (!box.contains(event.target)) close();
});

/** The words come as a script, since a page that is opened from a disk may not fetch. */
function load() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}assets/search-data.js`;
    script.addEventListener("load", () => resolve(indexOf(globalThis.manualEntries)));
    script.addEventListener("error", () => reject(new Error("the words could not be loaded")));
    document.head.append(script);
  });
  return loading;
}

function indexOf(entries) {
  index = new MiniSearch({
    fields: ["heading", "page", "text"],
    storeFields: ["url", "page", "heading", "text"],
    // Parts of names are found, too: `processCounts` by `process` and by `counts`.
    tokenize: (text) =>
      text
        .split(/[^\p{L}\p{N}]+/u)
        .flatMap(partsOf)
        .filter(Boolean),
    processTerm: (term) => term.toLowerCase(),
    searchOptions: {
      tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean),
      boost: { heading: 4, page: 2 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: "AND",
    },
  });
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  return index;
}

function partsOf(word) {
  const parts = word.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u);
  return parts.length > 1 ? [word, ...parts] : [word];
}

async function show() {
  const text = input.value.trim();
  if (text === "") return close();
  try {
    await load();
  } catch (error) {
    return list([note(`Search does not work: ${error.message}.`)]);
  }
  if (input.value.trim() !== text) return;
  const results = index.search(text).slice(0, resultsMax);
  active = -1;
  list(results.length === 0 ? [note(`Nothing is found for "${text}".`)] : results.map(item));
}

function item({ url, page, heading, text, terms }, position) {
  const link = element("a", { href: root + url, id: `found-${position}`, role: "option" });
  const place = heading === page ? page : `${page} › ${heading}`;
  link.append(element("strong", {}, place), element("span", {}, ...marked(text, terms)));
  return link;
}

/** Some words around the first place that matches, with the matches marked. */
function marked(text, terms) {
  const pattern = new RegExp(`(${terms.map(escaped).join("|")})`, "giu");
  const at = Math.max(0, text.search(pattern) - 50);
  const start = at === 0 ? 0 : text.indexOf(" ", at) + 1;
  const excerpt = `${start > 0 ? "… " : ""}${text.slice(start, start + 150)}`;
  return excerpt
    .split(pattern)
    .map((part, position) => (position % 2 === 1 ? element("mark", {}, part) : part));
}

function escaped(term) {
  return term.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function note(text) {
  return element("p", { role: "status" }, text);
}

function list(items) {
  found.replaceChildren(...items);
  found.setAttribute("role", items[0].tagName === "A" ? "listbox" : "presentation");
  found.hidden = false;
  input.setAttribute("aria-expanded", "true");
  input.removeAttribute("aria-activedescendant");
}

function close() {
  found.hidden = true;
  active = -1;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function onKey(event) {
  if (event.key === "Escape") {
    close();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && !found.hidden) {
    const links = found.querySelectorAll("a");
    links[Math.max(active, 0)]?.click();
  }
}

function move(step) {
  const links = [...found.querySelectorAll("a")];
  if (found.hidden || links.length === 0) return;
  links[active]?.removeAttribute("aria-selected");
  active =
    active === -1 && step === -1 ? links.length - 1 : (active + step + links.length) % links.length;
  links[active].setAttribute("aria-selected", "true");
  links[active].scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", links[active].id);
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
