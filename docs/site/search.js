// Search over the documents, and the choice of light or dark. The index is a script, so that it
// loads from a disk as well as from a server; it is fetched when somebody first searches.
"use strict";

var pmemIndex = null;

function pmemWords(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) || [];
}

function pmemScore(entry, words) {
  const [title, , heading, text] = entry;
  let score = 0;
  for (const word of words) {
    const fields = [[heading, 12], [title, 6], [text, 1]];
    let best = 0;
    for (const [field, weight] of fields) {
      const low = field.toLowerCase();
      const at = low.indexOf(word);
      if (at < 0) continue;
      const starts = at === 0 || !/[\p{L}\p{N}]/u.test(low[at - 1]);
      const ends = at + word.length >= low.length || !/[\p{L}\p{N}]/u.test(low[at + word.length]);
      const count = Math.min(low.split(word).length - 1, 4);
      best = Math.max(best, weight * ((starts ? 1 : 0.3) + (starts && ends ? 0.7 : 0)) + count * 0.2);
    }
    if (!best) return 0;
    score += best;
  }
  return score;
}

// Every word must be there; where no section has them all, those with most of them are shown.
function pmemFind(index, query, most) {
  const words = pmemWords(query);
  if (!words.length) return [];
  const rank = (wanted) =>
    index
      .map((entry) => [pmemScore(entry, wanted), entry])
      .filter(([score]) => score > 0)
      .sort((one, other) => other[0] - one[0]);
  let found = rank(words);
  if (!found.length && words.length > 1) {
    const merged = new Map();
    for (const word of words.filter((one) => one.length > 2))
      for (const [score, entry] of rank([word])) merged.set(entry, (merged.get(entry) || 0) + score);
    found = [...merged].map(([entry, score]) => [score, entry]).sort((a, b) => b[0] - a[0]);
  }
  return found.slice(0, most).map(([, entry]) => entry);
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
