// Search over the documents, and the choice of light or dark. The index is a script, so that it
// loads from a disk as well as from a server; it is fetched when somebody first searches.
"use strict";

var pmemIndex = null;

const pmemSmall = new Set("a an and are can do does for how i in is it my of on or the to what with you".split(" "));

function pmemWords(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) || [];
  const large = words.filter((word) => !pmemSmall.has(word));
  return large.length ? large : words;
}

// How well one word stands in a field: at its start, whole, and how often.
function pmemWorth(field, word) {
  const low = field.toLowerCase();
  const at = low.indexOf(word);
  if (at < 0) return 0;
  const letter = /[\p{L}\p{N}]/u;
  const starts = at === 0 || !letter.test(low[at - 1]);
  const end = at + word.length;
  const isWhole = starts && (end >= low.length || !letter.test(low[end]));
  return (starts ? 1 : 0.3) + (isWhole ? 0.7 : 0) + Math.min(low.split(word).length - 2, 3) * 0.1;
}

// Pages that say how come first; records, measurements and the list of changes come last.
function pmemPlace(address) {
  if (address.startsWith("docs/how-to/")) return 1.4;
  return /decisions|CHANGELOG|architecture|benchmarks|conformance|mutation/.test(address) ? 0.4 : 1;
}

function pmemScore([title, address, heading, text], words) {
  let score = 0;
  let met = 0;
  for (const word of words) {
    const best = Math.max(
      10 * pmemWorth(heading, word),
      6 * pmemWorth(title, word),
      2 * pmemWorth(text, word),
    );
    score += best;
    if (best) met += 1;
  }
  return score * (met / words.length) ** 2 * pmemPlace(address);
}

// Whether two words are the same but for one letter: another, missing, added, or two exchanged.
function pmemAlike(one, other) {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  const [rest, others] = [one.slice(start), other.slice(start)];
  return (
    rest.slice(1) === others.slice(1) ||
    rest.slice(1) === others ||
    rest === others.slice(1) ||
    (rest[0] === others[1] && rest[1] === others[0] && rest.slice(2) === others.slice(2))
  );
}

// What is looked for in a word's place where no page has it: one that is nearly the same, or else
// the longest of its beginnings.
function pmemMeant(index, word) {
  const has = (text) => index.some((entry) => entry.some((field) => field.toLowerCase().includes(text)));
  if (word.length < 4 || has(word)) return word;
  const known = new Set(index.flatMap((entry) => pmemWords(entry.join(" "))));
  const alike = [...known].find((each) => pmemAlike(word, each));
  if (alike) return alike;
  for (let end = word.length - 1; end >= 4; end -= 1) if (has(word.slice(0, end))) return word.slice(0, end);
  return word;
}

function pmemAsked(index, query) {
  return pmemWords(query).map((word) => pmemMeant(index, word));
}

// The pages that say most of the words, the best first, each with its best section.
function pmemFind(index, query, most) {
  const words = pmemAsked(index, query);
  if (!words.length) return [];
  const pages = new Map();
  index
    .map((entry) => [pmemScore(entry, words), entry])
    .filter(([score]) => score > 0)
    .sort((one, other) => other[0] - one[0])
    .forEach(([, entry]) => {
      const page = entry[1].split("#")[0];
      if (!pages.has(page)) pages.set(page, entry);
    });
  return [...pages.values()].slice(0, most);
}

// The part of a text that says a word, from the start of a word to the end of one.
function pmemExcerpt(text, words) {
  const low = text.toLowerCase();
  const places = words.map((word) => low.indexOf(word)).filter((place) => place >= 0);
  const near = places.length ? Math.max(0, Math.min(...places) - 50) : 0;
  const start = near ? text.indexOf(" ", near) + 1 : 0;
  if (text.length <= start + 140) return (start ? "… " : "") + text.slice(start);
  const end = text.lastIndexOf(" ", start + 140);
  return (start ? "… " : "") + text.slice(start, end > start ? end : start + 140) + " …";
}

function pmemSetUp() {
  const root = document.querySelector("script[data-root]").dataset.root;
  const box = document.getElementById("query");
  const hits = document.getElementById("hits");
  let chosen = -1;

  function load(then) {
    if (pmemIndex) return then();
    const script = document.createElement("script");
    script.src = root + "search-index.js";
    script.onload = then;
    document.head.append(script);
  }
  function choose(place) {
    const rows = [...hits.children];
    if (!rows.length) return;
    chosen = (place + rows.length) % rows.length;
    rows.forEach((row, at) => row.setAttribute("aria-selected", at === chosen));
    rows[chosen].scrollIntoView({ block: "nearest" });
  }
  function show() {
    const words = pmemAsked(pmemIndex, box.value);
    const found = pmemFind(pmemIndex, box.value, 12);
    hits.replaceChildren(
      ...found.map(([title, address, heading, text]) => {
        const row = document.createElement("a");
        row.href = root + address;
        row.setAttribute("role", "option");
        const name = document.createElement("strong");
        name.textContent = heading === title ? title : title + " › " + heading;
        const line = document.createElement("span");
        line.textContent = pmemExcerpt(text, words);
        row.append(name, line);
        return row;
      }),
    );
    if (words.length && !found.length) hits.textContent = "Nothing found. Try another word.";
    hits.hidden = !words.length;
    box.setAttribute("aria-expanded", String(!hits.hidden));
    chosen = -1;
  }
  box.addEventListener("input", () => load(show));
  box.addEventListener("focus", () => load(show));
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") (hits.children[Math.max(chosen, 0)] || box).click();
    else if (event.key === "Escape") { hits.hidden = true; box.blur(); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("header")) hits.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      event.preventDefault();
      box.focus();
    }
  });

  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    box.value = asked;
    load(show);
  }

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const page = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const now = page.dataset.theme || (dark.matches ? "dark" : "light");
    page.dataset.theme = now === "dark" ? "light" : "dark";
    try { localStorage.setItem("theme", page.dataset.theme); } catch { /* it holds for this page */ }
  });
  if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".pages").open = false;
  const here = document.querySelector(".pages [aria-current]");
  if (here) here.scrollIntoView({ block: "center" });
  window.scrollTo(0, 0);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

if (typeof document !== "undefined") {
  try {
    const kept = localStorage.getItem("theme");
    if (kept) document.documentElement.dataset.theme = kept;
  } catch { /* no storage: the system's choice holds */ }
  pmemSetUp();
} else {
  module.exports = { pmemFind, pmemExcerpt };
}
