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

// The sections that say most of the words, the best first.
function pmemFind(index, query, most) {
  const words = pmemWords(query);
  if (!words.length) return [];
  return index
    .map((entry) => [pmemScore(entry, words), entry])
    .filter(([score]) => score > 0)
    .sort((one, other) => other[0] - one[0])
    .slice(0, most)
    .map(([, entry]) => entry);
}

function pmemExcerpt(text, words) {
  const low = text.toLowerCase();
  const places = words.map((word) => low.indexOf(word)).filter((place) => place >= 0);
  const start = places.length ? Math.max(0, Math.min(...places) - 50) : 0;
  return (start ? "… " : "") + text.slice(start, start + 140) + (text.length > start + 140 ? " …" : "");
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
    const words = pmemWords(box.value);
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
  module.exports = { pmemFind };
}
