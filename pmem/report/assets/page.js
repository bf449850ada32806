"use strict";
/* Draws a report from its one document. Every text goes in as text, never as markup. */
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const DAY = 86400000;
  const STEP = 60;
  const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const SECTIONS = {
    memory: "Standing memory", recalled: "Answers the task",
    further: "Further memory", system: "System prompt", updates: "Updates", summaries: "Summaries", recent: "Recent messages",
  };
  const EVENTS = {
    ADD: "learned", UPDATE: "changed", DELETE: "removed", MERGE: "merged", ARCHIVE: "archived", SUPERSEDE: "replaced",
    LINK: "linked", UNLINK: "unlinked", TTL: "expired", RESTORE: "restored",
  };
  const root = document.documentElement;
  const main = document.getElementById("main");
  const live = root.dataset.live || "";
  let report, byId, now, ids = 0, drawing = new AbortController();

  /* Elements */

  function put(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "value" || name === "checked") element[name] = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
    return element;
  }
  const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => put(document.createElementNS(SVG, tag), attributes, children);
  const plural = (many, one, more) => `${number(many)} ${many === 1 ? one : more || one + "s"}`;
  const number = (value) => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
  const named = (word) => (word === "soft_deleted" ? "removed" : String(word).replace(/_/g, " "));
  const sectionNamed = (word) => SECTIONS[word] || named(word);
  const short = (id) => id.slice(id.lastIndexOf("-") + 1);
  const time = (text) => Date.parse(text);
  const say = (text) => { document.getElementById("status").textContent = text; };

  function date(text, withYear = true) {
    const at = new Date(text);
    if (Number.isNaN(at.getTime())) return String(text);
    const day = `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
    return withYear ? `${day} ${at.getUTCFullYear()}` : day;
  }
  const stamp = (text, withYear) => el("time", { datetime: text, title: text }, date(text, withYear));

  function section(id, title, lead, ...children) {
    const made = el("section", { id, "aria-labelledby": `${id}-title` },
      el("h2", { id: `${id}-title` }, title), lead && el("p", { class: "lead" }, lead), ...children);
    main.append(made);
    return made;
  }
  const empty = (title, text) => el("p", { class: "empty" }, el("strong", {}, title), text);
  const typeMark = (type) => el("span", { class: `type t-${/^[a-z_]+$/.test(type) ? type : "other"}` }, named(type));
  const command = (text, label) => el("button", {
    class: "copy", type: "button", title: label ? `Copy: ${text}` : "Copy", onclick: () => {
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => say(`copied: ${text}`), () => say(text));
    },
  }, label ? [label, " "] : "", el("code", {}, text));

  /* Long lists: some rows at first, more when they are asked for */

  function longList(list, items, drawRow, first) {
    let drawn = 0;
    const more = el("button", { class: "more", type: "button", onclick: () => {
      const from = drawn;
      draw(STEP);
      const next = list.children[from] && list.children[from].querySelector("button, a");
      if (next) next.focus({ preventScroll: true });
    } });
    function draw(step) {
      const upTo = Math.min(items.length, drawn + step), rows = document.createDocumentFragment();
      for (; drawn < upTo; drawn += 1) rows.append(drawRow(items[drawn]));
      list.append(rows);
      if (drawn >= items.length) { more.remove(); return; }
      const left = items.length - drawn;
      more.textContent = left > STEP ? `Show ${STEP} more of ${number(left)}` : `Show ${number(left)} more`;
      if (!more.isConnected) list.after(more);
    }
    draw(first);
    return { stop: () => more.remove(), all: () => draw(Math.min(items.length, 3000)) };
  }

  /* Word differences */

  const words = (text) => String(text).match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || [];

  function differ(before, after) {
    const a = words(before), b = words(after);
    let start = 0, end = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
    while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
    const left = a.slice(start, a.length - end), right = b.slice(start, b.length - end);
    const parts = [["", a.slice(0, start).join("")]];
    if (left.length * right.length > 250000) parts.push(["del", left.join("")], ["ins", right.join("")]);
    else parts.push(...aligned(left, right));
    parts.push(["", a.slice(a.length - end).join("")]);
    return parts;
  }

  function aligned(a, b) {
    const wide = b.length + 1, best = new Uint16Array((a.length + 1) * wide);
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        best[i * wide + j] = a[i] === b[j] ? best[(i + 1) * wide + j + 1] + 1 : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
      }
    }
    const parts = [];
    const add = (kind, word) => {
      const last = parts[parts.length - 1];
      if (last && last[0] === kind) last[1] += word; else parts.push([kind, word]);
    };
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) { add("", a[i]); i += 1; j += 1; }
      else if (i < a.length && (j === b.length || best[(i + 1) * wide + j] >= best[i * wide + j + 1])) { add("del", a[i]); i += 1; }
      else { add("ins", b[j]); j += 1; }
    }
    return swept(parts);
  }

  /* A blank between two changes belongs to both: "old text" reads better than o-n-e by one. */
  function swept(parts) {
    const done = [];
    for (let at = 0; at < parts.length; at += 1) {
      const dels = [], adds = [];
      while (at < parts.length && (parts[at][0] || (/^\s+$/.test(parts[at][1]) && at + 1 < parts.length && parts[at + 1][0] && (dels.length || adds.length)))) {
        const [kind, text] = parts[at];
        if (kind !== "ins") dels.push(text);
        if (kind !== "del") adds.push(text);
        at += 1;
      }
      if (dels.join("").trim() || dels.length) done.push(["del", dels.join("")]);
      if (adds.length) done.push(["ins", adds.join("")]);
      if (at < parts.length) done.push(parts[at]);
    }
    return done.filter((part) => part[1]);
  }

  const NOTHING = "nothing";

  function told(value) {
    if (value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length)) return NOTHING;
    if (value === true) return "yes";
    if (value === false) return "no";
    if (Array.isArray(value)) return value.map(told).join(", ");
    if (typeof value === "object") {
      const parts = Object.entries(value).filter(([, part]) => part !== null && part !== undefined && part !== "");
      const telling = parts.filter(([key]) => key !== "at" && key !== "by");
      return (telling.length ? telling : parts).map(([key, part]) => `${named(key)}: ${told(part)}`).join("; ") || NOTHING;
    }
    return /^\d{4}-\d\d-\d\dT/.test(value) ? date(value) : String(value);
  }

  function change(field, before, after) {
    const was = told(before), is = told(after);
    const label = field === "content" ? null : el("span", { class: "soft" }, `${named(field)}: `);
    if (before && after && typeof before === "string" && typeof after === "string" && field !== "state" && !/^\d{4}-/.test(before)) {
      return el("div", {}, label, differ(was, is).map(([kind, text]) => (kind ? el(kind, {}, text) : text)));
    }
    return el("div", {}, label, was === NOTHING ? "" : el("del", {}, was), " ", is === NOTHING && was !== NOTHING ? "" : el("ins", {}, is));
  }

  /* One memory in full */

  const isNow = (memory) => (memory.state || "active") === "active" && !(memory.held_until && time(memory.held_until) <= now);
  const state = (memory) => (isNow(memory) ? "" : memory.state && memory.state !== "active" ? named(memory.state) : "expired");

  function fact(list, name, ...value) {
    if (value.flat().length) list.append(el("dt", {}, name), el("dd", {}, ...value));
  }

  function drawValue(memory, isTold = false) {
    const facts = el("dl", { class: "facts" });
    fact(facts, "id", el("span", { class: "mono" }, short(memory.id)), " ", el("span", { class: "soft" }, `${named(memory.type)}, ${memory.category}`));
    fact(facts, "held", memory.held_until ? [stamp(memory.held_from), " to ", stamp(memory.held_until)] : ["since ", stamp(memory.held_from)]);
    fact(facts, "trust", memory.trust || "high", memory.pinned ? ", pinned" : "", `, importance ${memory.importance ?? 0.5}`);
    if (memory.tags) fact(facts, "tags", memory.tags.map((tag) => `#${tag}`).join(" "));
    if (memory.recalls) fact(facts, "recalled", `${plural(memory.recalls, "time")}`, memory.recalled_at ? [", last on ", stamp(memory.recalled_at)] : "");
    if (memory.shown) fact(facts, "sessions", `shown in ${number(memory.shown)}, used in ${number(memory.used || 0)}`);
    for (const cited of memory.cites || []) {
      fact(facts, "cites", el("code", {}, cited.place), cited.state ? [" ", el("span", { class: "chip warm" }, cited.state)] : "");
    }
    for (const link of memory.links || []) {
      const other = byId.get(link.to);
      if (other) fact(facts, named(link.type), other.subject ? `${other.subject}: ` : "", other.text.slice(0, 140), " ", el("span", { class: "mono soft" }, short(link.to)));
    }
    for (const [name, value] of Object.entries(memory.more || {})) fact(facts, named(name), told(value));
    for (const [name, value] of Object.entries(memory.disputed || {})) fact(facts, "disputed", `${named(name)}, the other side says: ${told(value)}`);
    return el("div", { class: isNow(memory) ? "value now" : "value" },
      isTold ? null : el("p", { class: "words" }, memory.text), facts, live ? drawActions(memory) : null,
      el("ol", { class: "story", "aria-label": "History" }, (memory.history || []).map(drawEvent)));
  }

  function drawEvent(event) {
    const changes = Object.entries(event.changes || {});
    const extra = Object.entries(event.detail || {}).filter(([, value]) => (typeof value !== "object" || Array.isArray(value)) && told(value) !== NOTHING);
    return el("li", {}, el("span", { class: "soft" }, stamp(event.at)), el("div", {},
      el("span", { class: "what" }, EVENTS[event.event] || event.event, event.by ? ` by ${event.by}` : "", event.agent ? ` (${event.agent})` : "",
        event.source && event.source !== "manual" ? `, ${event.source}` : "",
        extra.length ? `: ${extra.map(([name, value]) => `${named(name)} ${refers(value)}`).join(", ")}` : ""),
      changes.map(([field, [before, after]]) => change(field, before, after))));
  }
  const refers = (value) => (typeof value === "string" && byId.has(value) ? short(value) : told(value));

  function opener(row, key, draw) {
    row.dataset.row = key;
    const id = `open-${(ids += 1)}`;
    const button = row.querySelector("button");
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", id);
    button.addEventListener("click", () => {
      const shown = document.getElementById(id);
      if (shown) shown.remove(); else row.append(put(draw(), { id, class: "open" }, []));
      button.setAttribute("aria-expanded", String(!shown));
    });
    return row;
  }

  /* This week */

  function drawWeek() {
    const week = report.week, lists = [["Learned", week.learned], ["Changed", week.changed], ["Forgotten", week.forgotten]];
    const people = Object.entries(week.people || {}).slice(0, 8).map(([name, many]) => `${name} (${number(many)})`).join(", ");
    const total = lists.reduce((sum, [, list]) => sum + (list || []).length, 0);
    const lead = total ? `Since ${date(week.since)}${people ? `, by ${people}` : ""}.` : "";
    const box = el("div", { class: "columns" });
    section("week", "This week", lead, total ? box : empty("A quiet week", `Nothing was learned, changed or forgotten since ${date(week.since)}.`));
    for (const [title, list] of lists) {
      if (!(list || []).length) continue;
      const rows = el("ul", { class: "entries" });
      box.append(el("div", {}, el("div", { class: "heading" }, el("h3", {}, title), el("span", { class: "count" }, number(list.length))), rows));
      longList(rows, list, (entry) => drawEntry(entry, (week.by || {})[entry.id] || [], live && title === "Forgotten"), 6);
    }
    return total;
  }

  function drawEntry(entry, people, isForgotten) {
    const fields = Object.entries(entry.fields || {});
    const text = fields.length
      ? fields.map(([field, pair]) => change(field, pair.before, pair.after))
      : el("div", { class: "clip" }, entry.text);
    const links = [...(entry.linked || [])].length && entry.fields && !fields.length ? "linked anew" : "";
    return el("li", {}, entry.subject ? el("div", { class: "subject" }, entry.subject) : null, text,
      el("div", { class: "meta" }, typeMark(entry.type), entry.how && entry.how !== "added" ? el("span", {}, named(entry.how)) : null,
        links ? el("span", {}, links) : null, people.length ? el("span", {}, people.join(", ")) : null, el("span", { class: "mono" }, entry.short)),
      isForgotten && /^(removed|archived)$/.test(entry.how) ? drawRestore(entry.id) : null);
  }

  /* Needs attention */

  function drawNeeds() {
    const needs = report.needs || [];
    const rows = el("ul", { class: "needs" });
    const lead = live ? "What only a person can settle. What has to be typed is copied by a click." : "What only a person can settle, and the commands that do it: a click copies one.";
    section("needs", "Needs attention", needs.length ? lead : "",
      needs.length ? rows : empty("All settled", "No contradiction is open, nothing is stale, expired or in doubt."));
    longList(rows, needs, (need) => el("li", {},
      el("span", {}, el("span", { class: /contradiction|damaged/.test(need.kind) ? "chip bad" : "chip warm" }, named(need.kind))),
      el("div", {}, need.text, need.why ? el("div", { class: "soft small" }, need.why) : null,
        el("div", { class: "acts" }, (need.choices || []).filter((one) => !/^pmem show /.test(one.command)).map((one) => (live && settler(need, one)) || command(one.command, one.does))))), 8);
    return needs.length;
  }

  /* Timelines and the list of all memories, with one search */

  function haystack(memory) {
    return [memory.text, memory.subject, (memory.tags || []).map((tag) => `#${tag}`).join(" "), memory.category, memory.by].join("\n").toLowerCase();
  }

  function drawExplorer() {
    const kinds = tally(report.memories, (memory) => memory.type, named), tags = tally(report.memories.flatMap((memory) => memory.tags || []), (tag) => tag);
    const people = tally(report.memories, (memory) => memory.by || "");
    const query = el("input", { type: "search", id: "search", "data-keep": "search", placeholder: "words, #tag, id", autocomplete: "off", spellcheck: "false" });
    const selects = {
      type: choice("Any type", kinds), state: choice("Current", [["all", "All, past too"], ["past", "Past only"]]),
      tag: choice("Any tag", tags), by: choice("Anybody", people),
    };
    const tools = el("div", { class: "tools", role: "search", "aria-label": "Search and filter" },
      el("label", {}, "Search ( / )", query),
      ...Object.entries({ type: "Type", state: "State", tag: "Tag", by: "Written by" }).map(([name, label]) => el("label", {}, label, put(selects[name], { "data-keep": name }, []))));
    const found = el("p", { class: "found", role: "status", "aria-live": "polite" });
    const axis = el("div", { class: "axis", "aria-hidden": "true" }), lanes = el("ul", { class: "rows" }), list = el("ul", { class: "rows" });
    const noLanes = el("div"), noList = el("div");
    const many = report.memories.length;
    section("timelines", "Timelines", "One row for each subject, a bar for each value that it had. Open a row to read how it came to be.", tools, found, axis, lanes, noLanes);
    section("memories", "All memories", "The newest first, as the search above leaves them.", list, noList);
    const texts = report.memories.map(haystack), newest = report.memories.map((_, place) => many - 1 - place);
    const drawTicks = timeAxis(axis);
    let shown = [];
    function filter() {
      const wanted = query.value.toLowerCase().split(/\s+/).filter(Boolean);
      const { type, tag, by, state: held } = Object.fromEntries(Object.entries(selects).map(([name, select]) => [name, select.value]));
      const hits = newest.filter((place) => {
        const memory = report.memories[place];
        return (!type || memory.type === type) && (!tag || (memory.tags || []).includes(tag)) && (!by || memory.by === by)
          && wanted.every((word) => texts[place].includes(word) || (word.length > 3 && short(memory.id).startsWith(word)));
      }).map((place) => report.memories[place]);
      const kept = hits.filter((memory) => (held === "all" ? true : held === "past" ? !isNow(memory) : isNow(memory)));
      const groups = grouped(held === "" ? hits : kept, held === "");
      shown.forEach((one) => one.stop());
      lanes.replaceChildren(); list.replaceChildren(); noLanes.replaceChildren(); noList.replaceChildren();
      shown = [longList(lanes, groups, (group) => drawLane(group, drawTicks), 14), longList(list, kept, drawRow, 14)];
      axis.hidden = !groups.length;
      if (!groups.length) noLanes.append(empty("No subject to show", kept.length ? "What was found has no subject: pmem edit REF --subject NAME gives one." : "Nothing passes the filters."));
      if (!kept.length) noList.append(empty("Nothing passes the filters", "Fewer words or another state may help."));
      found.textContent = `${plural(kept.length, "memory", "memories")} of ${number(many)}, ${plural(groups.length, "subject")}`;
    }
    let waiting = 0;
    query.addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(filter); });
    Object.values(selects).forEach((select) => select.addEventListener("change", filter));
    addEventListener("beforeprint", () => shown.forEach((one) => one.all()), { signal: drawing.signal });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(input|select|textarea)$/i.test(event.target.tagName)) { event.preventDefault(); query.focus(); }
      if (event.key === "Escape" && event.target === query) { query.value = ""; filter(); }
    }, { signal: drawing.signal });
    filter();
  }

  function tally(items, key, label = String) {
    const counts = new Map();
    for (const item of items) { const name = key(item); if (name) counts.set(name, (counts.get(name) || 0) + 1); }
    return [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1)).slice(0, 200).map(([name, many]) => [name, `${label(name)} (${number(many)})`]);
  }
  const choice = (first, options) => el("select", {}, el("option", { value: "" }, first), options.map(([value, label]) => el("option", { value }, label)));

  function grouped(memories, heldNow) {
    const groups = new Map();
    for (const memory of memories) {
      if (!memory.subject) continue;
      const key = memory.subject.toLowerCase().split(/\s+/).join(" ");
      if (!groups.has(key)) groups.set(key, { name: memory.subject, memories: [] });
      groups.get(key).memories.push(memory);
    }
    return [...groups.values()].filter((group) => !heldNow || group.memories.some(isNow));
  }

  /* The values that a memory had, each with from and until, out of its history */
  function spans(memory) {
    const found = [], until = memory.held_until ? time(memory.held_until) : now;
    let end = Math.max(until, time(memory.held_from)), text = memory.text;
    for (const event of [...(memory.history || [])].reverse()) {
      const edit = event.event !== "ADD" && (event.changes || {}).content;
      if (!edit || time(event.at) > end) continue;
      found.push({ memory, text: String(edit[1]), from: time(event.at), until: end });
      end = time(event.at); text = String(edit[0]);
    }
    found.push({ memory, text, from: Math.min(time(memory.held_from), end), until: end });
    found[0].isNow = isNow(memory);
    return found;
  }

  function timeAxis(axis) {
    const first = report.memories.reduce((least, memory) => Math.min(least, time(memory.held_from)), now - 7 * DAY);
    const start = first - (now - first) * 0.01, width = now - start || 1;
    const place = (at) => Math.min(100, Math.max(0, ((at - start) / width) * 100));
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const tick = el("span", {}, share === 1 ? "now" : date(new Date(start + width * share).toISOString(), width > 300 * DAY));
      tick.style.insetInlineStart = `${share * 100}%`;
      axis.append(tick);
    }
    return place;
  }

  function drawLane(group, place) {
    const values = group.memories.flatMap(spans).sort((one, other) => one.from - other.from);
    const ends = [];
    for (const value of values) {
      value.lane = ends.findIndex((end) => end <= value.from);
      if (value.lane < 0) value.lane = Math.min(ends.length, 5);
      ends[value.lane] = value.until;
    }
    const picture = svg("svg", { height: 4 + ends.length * 11, "aria-hidden": "true", focusable: "false" }, values.slice(-200).map((value) => {
      const from = place(value.from), stale = value.isNow && (value.memory.cites || []).some((cited) => cited.state);
      return svg("rect", {
        class: `bar${value.isNow ? (stale ? " warn" : " now") : value.memory.state === "archived" ? " gone" : ""}`,
        x: `${from}%`, y: 3 + value.lane * 11, height: 8, rx: 3, width: `${Math.max(0.5, place(value.until) - from - 0.15)}%`,
      }, svg("title", {}, value.text.slice(0, 200)));
    }));
    const page = Object.hasOwn(report.pages || {}, group.name) && report.pages[group.name];
    return opener(el("li", {}, el("button", { class: "lane", type: "button" },
      el("span", { class: "name", title: group.name }, group.name, " ", values.length > 1 ? el("small", {}, plural(values.length, "value")) : null), picture)),
    `subject ${group.name}`, () => el("div", {}, page ? el("p", { class: "small" }, el("a", { href: page }, "A page of its own")) : null,
      [...group.memories].sort((one, other) => isNow(other) - isNow(one) || time(other.held_from) - time(one.held_from)).map((one) => drawValue(one))));
  }

  function drawRow(memory) {
    const past = state(memory);
    return opener(el("li", {}, el("button", { class: "row", type: "button" }, typeMark(memory.type),
      el("span", {}, el("span", { class: "clip" }, memory.subject ? el("span", { class: "subject" }, `${memory.subject}: `) : null, memory.text.length > 600 ? `${memory.text.slice(0, 599)}…` : memory.text),
        el("span", { class: "meta" }, stamp(memory.created), memory.by ? el("span", {}, memory.by) : null,
          past ? el("span", { class: "chip" }, past) : null, memory.trust === "low" ? el("span", { class: "chip warm" }, "low trust") : null,
          (memory.cites || []).some((cited) => cited.state) ? el("span", { class: "chip warm" }, "stale") : null, memory.pinned ? el("span", {}, "pinned") : null,
          (memory.tags || []).slice(0, 6).map((tag) => el("span", { class: "tag" }, `#${tag}`)))),
      el("span", { class: "chevron", "aria-hidden": "true" }, "\u25b8"))),
    `memory ${memory.id}`, () => el("div", {}, drawValue(memory, memory.text.length <= 600)));
  }

  /* What the model sees */

  const own = [];
  let chosen = "";

  function drawReceipts() {
    const receipts = report.receipts || [], tasks = [...new Set(receipts.map((one) => one.task))];
    const label = (task) => task || "A session starts";
    const picks = el("fieldset", { class: "tasks" }, el("legend", { class: "hidden" }, "Task"));
    const slider = el("input", { type: "range", min: 0, step: 1, id: "budget", "data-keep": "budget", "aria-label": "Budget in tokens" });
    const output = el("output", { for: "budget" }), body = el("div");
    const box = section("receipt", "What the model sees", "What a model would be given for a task: the block as it reads it, and why each memory is in or out.");
    if (!tasks.length) { box.append(empty("Nothing to show a model yet", "With the first memory there is a context to look at.")); return; }
    box.append(picks, live ? askForm() : "", el("div", { class: "dial" }, slider, output), body);
    let task = tasks.includes(chosen) ? chosen : tasks[0];
    const of = (name) => receipts.filter((one) => one.task === name);
    function draw() {
      const list = of(task), receipt = list[Math.min(list.length - 1, Number(slider.value))];
      output.textContent = plural(receipt.budget, "token");
      slider.setAttribute("aria-valuetext", `${number(receipt.budget)} tokens, ${number(receipt.tokens)} used`);
      body.replaceChildren(...drawReceipt(receipt));
    }
    function add(name) {
      const radio = el("input", { type: "radio", name: "task", checked: name === task, onchange: () => { task = chosen = name; draw(); } });
      picks.append(el("label", { title: label(name) }, radio, label(name)));
    }
    function askForm() {
      const asked = el("input", { type: "text", "aria-label": "A task of your own", placeholder: "A task of your own" });
      return el("form", { class: "ask", onsubmit: async (event) => {
        event.preventDefault();
        const name = asked.value.trim();
        if (!name) return;
        try { receipts.push(...(await ask("receipts", { task: name })).items); } catch (problem) { tell(problem.message, false); return; }
        task = chosen = name;
        if (!tasks.includes(name)) { tasks.push(name); own.push(name); add(name); }
        draw();
      } }, asked, el("button", { class: "act", type: "submit" }, "Show"));
    }
    tasks.forEach(add);
    slider.max = of(task).length - 1;
    slider.value = Math.min(2, of(task).length - 1);
    slider.addEventListener("input", draw);
    draw();
  }

  function drawReceipt(receipt) {
    const spent = Object.entries(receipt.spent || {}), total = Math.max(receipt.budget, receipt.tokens);
    const overhead = receipt.tokens - spent.reduce((sum, [, tokens]) => sum + tokens, 0);
    const parts = [...spent, ...(overhead > 0 ? [["heading and receipt", overhead]] : [])];
    let left = 0;
    const bars = parts.map(([, tokens], place) => {
      const bar = svg("rect", { class: `k${place % 5}`, x: `${(left / total) * 100}%`, width: `${(tokens / total) * 100}%`, height: 14 });
      left += tokens;
      return bar;
    });
    const inside = receipt.items || [], outside = receipt.left_out || [];
    const reasons = Object.entries(receipt.reasons || {}).map(([reason, many]) => `${number(many)} ${reason}`).join("; ");
    const name = (id, text) => { const memory = byId.get(id); return memory ? [memory.subject ? el("span", { class: "subject" }, `${memory.subject}: `) : "", memory.text.slice(0, 220)] : text || short(id); };
    return [
      svg("svg", { class: "spent", role: "img", "aria-label": `${number(receipt.tokens)} of ${number(receipt.budget)} tokens used` }, bars),
      el("p", { class: "legend" }, el("strong", {}, `${number(receipt.tokens)} of ${number(receipt.budget)} used`),
        parts.map(([part, tokens], place) => el("span", { class: `k${place % 5}` }, `${sectionNamed(part)} ${number(tokens)}`))),
      el("div", { class: "columns" },
        el("div", {}, el("pre", { class: "block", tabindex: "0", role: "region", "aria-label": "The block as a model reads it" }, receipt.text)),
        el("div", { class: "fates", tabindex: "0", role: "region", "aria-label": "Every candidate, in or out" },
          el("h3", {}, `In (${number(inside.length)})`),
          el("ul", {}, inside.map((item) => el("li", {}, el("span", {}, name(item.id, item.text)), el("span", { class: "soft small" }, dots(item.score)),
            el("span", { class: "why" }, `${sectionNamed(item.section)}: ${item.why}`)))),
          el("h3", {}, `Out (${number(Object.values(receipt.reasons || {}).reduce((sum, many) => sum + many, 0))})`),
          reasons ? el("p", { class: "soft small" }, reasons) : el("p", { class: "soft small" }, "Everything that could help is in."),
          el("ul", {}, outside.map((item) => el("li", { class: "out" }, el("span", {}, name(item.id)), el("span", { class: "small" }, dots(item.score)), el("span", { class: "why" }, item.reason)))))),
    ];
  }
  function dots(score) {
    if (score === null || score === undefined) return "";
    const full = score >= 0.66 ? 3 : score >= 0.33 ? 2 : 1;
    return el("span", { role: "img", "aria-label": `relevance ${score}`, title: `relevance ${score}` }, "\u25cf".repeat(full) + "\u25cb".repeat(3 - full));
  }

  /* Use */

  function drawUse() {
    const active = report.memories.filter(isNow);
    const most = active.filter((one) => one.recalls).sort((one, other) => other.recalls - one.recalls);
    const helped = active.filter((one) => one.used).sort((one, other) => other.used - one.used || other.shown - one.shown);
    const never = active.filter((one) => !one.recalls && !one.pinned && !one.fading), fading = active.filter((one) => one.fading);
    const lists = [
      ["Recalled most", most, (one) => `${number(one.recalls)}\u00d7`, (one) => one.recalls, ""],
      ["Of use to sessions", helped, (one) => `${number(one.used)} of ${number(one.shown)}`, (one) => one.used, ""],
      ["Fading", fading, (one) => date(one.created), null, "The next pmem consolidate archives these; pmem edit REF --pin keeps one."],
      ["Never recalled", never, (one) => date(one.created), null, "The oldest first."],
    ].filter(([, list]) => list.length);
    section("use", "Use", "", lists.length ? el("div", { class: "columns" }, lists.map(drawRanks))
      : empty("Nothing was recalled yet", "Searches and contexts count what they show; come back when a few have run."));
  }

  function drawRanks([title, list, figure, size, note]) {
    const top = size ? size(list[0]) : 0, rows = el("ol", { class: "ranks" });
    const box = el("div", {}, el("div", { class: "heading" }, el("h3", {}, title), el("span", { class: "count" }, number(list.length))),
      note ? el("p", { class: "soft small" }, note) : null, rows);
    longList(rows, list, (one) => el("li", {}, el("span", { class: "text", title: one.text.slice(0, 300) }, one.subject ? el("span", { class: "subject" }, `${one.subject}: `) : null, one.text.slice(0, 200)),
      el("b", {}, figure(one)), size ? svg("svg", { "aria-hidden": "true" }, svg("rect", { height: 4, rx: 2, width: `${(size(one) / top) * 100}%` })) : null), 6);
    return box;
  }

  /* Growth, and a calendar */

  function drawGrowth() {
    const box = section("growth", "Growth", "");
    const periods = report.growth || [];
    if (!periods.length) { box.append(empty("No growth to draw yet", "A curve begins with the first memory.")); return; }
    const days = new Map();
    for (const memory of report.memories) for (const event of memory.history || []) { const day = String(event.at).slice(0, 10); days.set(day, (days.get(day) || 0) + 1); }
    const curve = el("figure", { class: "figure" }), calendar = el("figure", { class: "figure" });
    box.append(
      el("h3", {}, `Memories, ${report.growth_per || "day"} by ${report.growth_per || "day"}`), curve,
      table(`Figures of the curve`, [report.growth_per || "day", "added", "in all"], periods.map((one) => [date(one.start), number(one.added), number(one.total)])),
      el("h3", {}, "What happened on which day"), calendar,
      table("Figures of the calendar", ["day", "events"], [...days].sort().reverse().slice(0, 371).map(([day, many]) => [date(day), number(many)])));
    let last = 0;
    new ResizeObserver(() => {
      const width = Math.round(curve.clientWidth);
      if (!width || width === last) return;
      last = width;
      curve.replaceChildren(drawCurve(periods, width));
      calendar.replaceChildren(drawCalendar(days, width));
    }).observe(curve);
  }

  function drawCurve(periods, width) {
    const high = 180, low = 156, top = Math.max(...periods.map((one) => one.total), 1);
    const x = (place) => (periods.length === 1 ? width : (place / (periods.length - 1)) * width), y = (total) => low - (total / top) * (low - 22);
    const line = (periods.length === 1 ? [[0, y(periods[0].total)]] : []).concat(periods.map((one, place) => [x(place), y(one.total)]));
    const path = line.map(([left, down]) => `${left.toFixed(1)},${down.toFixed(1)}`).join("L");
    const last = periods[periods.length - 1];
    return svg("svg", { viewBox: `0 0 ${width} ${high}`, height: high, role: "img", "aria-label": `${number(last.total)} memories were kept by ${date(last.start)}, the first since ${date(periods[0].start)}` },
      svg("path", { class: "area", d: `M0,${low}L${path}L${width},${low}Z` }), svg("line", { class: "grid", x1: 0, x2: width, y1: low, y2: low }), svg("path", { class: "curve", d: `M${path}` }),
      svg("text", { x: 0, y: high - 6 }, date(periods[0].start)), svg("text", { x: width, y: high - 6, "text-anchor": "end" }, date(last.start)),
      svg("text", { x: width, y: 12, "text-anchor": "end" }, `${number(last.total)} in all`));
  }

  function drawCalendar(days, width) {
    const pitch = width > 720 ? Math.min(18, (width - 32) / 53) : 14, weeks = Math.max(4, Math.min(53, Math.floor((width - 32) / pitch)));
    const today = Math.floor(now / DAY) * DAY, weekday = (new Date(today).getUTCDay() + 6) % 7, first = today - (weekday + (weeks - 1) * 7) * DAY;
    const inSight = [...days].filter(([day]) => time(day) >= first), peak = Math.max(1, ...inSight.map(([, many]) => many));
    const cells = [], labels = [];
    let month = -1;
    for (let at = first; at <= today; at += DAY) {
      const place = Math.round((at - first) / DAY), day = new Date(at).toISOString().slice(0, 10), many = days.get(day) || 0, week = Math.floor(place / 7);
      const level = many ? Math.min(4, 1 + Math.floor((many / peak) * 3.99 * 0.999)) : 0;
      cells.push(svg("rect", { class: `d${level}`, x: 32 + week * pitch, y: 18 + (place % 7) * pitch, width: pitch - 3, height: pitch - 3, rx: 2.5 }, svg("title", {}, `${date(day)}: ${plural(many, "event")}`)));
      if (place % 7 === 0 && new Date(at).getUTCMonth() !== month) {
        month = new Date(at).getUTCMonth();
        const next = new Date(at + 14 * DAY).getUTCMonth();
        if (week < weeks - 2 && (week > 0 || next === month)) labels.push(svg("text", { x: 32 + week * pitch, y: 11 }, MONTHS[month]));
      }
    }
    const names = [["Mon", 0], ["Wed", 2], ["Fri", 4]].map(([name, place]) => svg("text", { x: 0, y: 18 + place * pitch + pitch * 0.65 }, name));
    const total = inSight.reduce((sum, [, many]) => sum + many, 0);
    return svg("svg", { viewBox: `0 0 ${width} ${20 + 7 * pitch}`, height: 20 + 7 * pitch, role: "img", "aria-label": `${plural(total, "event")} on ${plural(inSight.length, "day")} since ${date(new Date(first).toISOString())}` }, labels, names, cells);
  }

  function table(title, heads, rows) {
    return el("details", {}, el("summary", {}, title), el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell)))))));
  }

  /* Links as a graph */

  function drawGraph() {
    const links = report.memories.filter(isNow).flatMap((memory) => (memory.links || []).map((link) => ({ from: memory, to: byId.get(link.to), type: link.type }))).filter((link) => link.to && isNow(link.to));
    const box = section("links", "Links", "");
    if (!links.length) { box.append(empty("Nothing is linked", "pmem edit A --link B:depends_on ties two memories together; consolidate links neighbours.")); return; }
    const degree = new Map();
    for (const link of links) for (const end of [link.from, link.to]) degree.set(end, (degree.get(end) || 0) + 1);
    const nodes = [...degree.keys()].sort((one, other) => degree.get(other) - degree.get(one) || (one.id < other.id ? -1 : 1)).slice(0, 150);
    const kept = new Set(nodes), edges = links.filter((link) => kept.has(link.from) && kept.has(link.to));
    const figure = el("figure", { class: "figure" });
    box.append(el("p", { class: "lead" }, `${plural(links.length, "link")} between ${plural(degree.size, "memory", "memories")}${degree.size > 150 ? "; the 150 with the most are drawn" : ""}.`), figure,
      table("The links as a list", ["from", "link", "to"], edges.slice(0, 400).map((link) => [link.from.text.slice(0, 120), named(link.type), link.to.text.slice(0, 120)])));
    new IntersectionObserver((seen, watch) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      watch.disconnect();
      figure.append(drawNet(nodes, edges, degree, Math.max(280, Math.round(figure.clientWidth))));
    }, { rootMargin: "800px" }).observe(figure);
  }

  function drawNet(nodes, edges, degree, width) {
    const high = Math.round(Math.min(560, 160 + nodes.length * 14, Math.max(320, width * 0.55))), at = layout(nodes, edges, width, high);
    const labelled = new Set(nodes.slice(0, width < 600 ? 6 : 14));
    const title = (memory) => (memory.subject || memory.text).slice(0, 28);
    return svg("svg", { viewBox: `0 0 ${width} ${high}`, height: high, role: "img", "aria-label": `A graph of ${nodes.length} linked memories; the list below says the same` },
      edges.map((link) => svg("line", { class: "edge", x1: at.get(link.from).x, y1: at.get(link.from).y, x2: at.get(link.to).x, y2: at.get(link.to).y })),
      nodes.map((node) => svg("circle", { class: `node t-${node.type}`, cx: at.get(node).x, cy: at.get(node).y, r: (4 + Math.sqrt(degree.get(node)) * 1.6).toFixed(1) }, svg("title", {}, `${node.subject ? `${node.subject}: ` : ""}${node.text.slice(0, 200)}`))),
      [...labelled].map((node) => { const { x, y } = at.get(node); return svg("text", { class: "label", x, y: y - 12, "text-anchor": x < 90 ? "start" : x > width - 90 ? "end" : "middle" }, title(node)); }));
  }

  /* Springs and pushes from a spiral on: the same links give the same picture */
  function layout(nodes, edges, width, high) {
    const points = nodes.map((_, place) => ({ x: Math.cos(place * 2.4) * Math.sqrt(place + 1), y: Math.sin(place * 2.4) * Math.sqrt(place + 1) }));
    const index = new Map(nodes.map((node, place) => [node, place])), ties = edges.map((link) => [index.get(link.from), index.get(link.to)]);
    for (let round = 0; round < 260; round += 1) {
      const heat = 0.9 * (1 - round / 260) + 0.02, moves = points.map((point) => ({ x: -point.x * 0.02, y: -point.y * 0.035 }));
      for (let i = 0; i < points.length; i += 1) for (let j = i + 1; j < points.length; j += 1) {
        const x = points[i].x - points[j].x, y = points[i].y - points[j].y, push = 1.6 / (x * x + y * y + 0.05);
        moves[i].x += x * push; moves[i].y += y * push; moves[j].x -= x * push; moves[j].y -= y * push;
      }
      for (const [i, j] of ties) { const x = points[i].x - points[j].x, y = points[i].y - points[j].y; moves[i].x -= x * 0.09; moves[i].y -= y * 0.09; moves[j].x += x * 0.09; moves[j].y += y * 0.09; }
      points.forEach((point, i) => { const size = Math.hypot(moves[i].x, moves[i].y) || 1, step = Math.min(size, heat * 2) / size; point.x += moves[i].x * step; point.y += moves[i].y * step; });
    }
    const xs = points.map((point) => point.x), ys = points.map((point) => point.y), pad = 34;
    const scale = (value, all, room) => { const least = Math.min(...all), most = Math.max(...all); return most === least ? room / 2 : pad + ((value - least) / (most - least)) * (room - 2 * pad); };
    return new Map(nodes.map((node, place) => [node, { x: Math.round(scale(points[place].x, xs, width)), y: Math.round(scale(points[place].y, ys, high)) }]));
  }

  /* The same page served live: it asks for everything with its owner's token */

  const TOKEN = "pmem-token", MOST_NEEDS = 200, PAUSE = 2000;
  /* What the inbox has and a report does not tell */
  const PRIVATE = ["proposal", "fact", "fading"];
  /* What it asks for: the operations, and the fields of their requests that it sends */
  const ASKS = {
    "report": [], "inbox": ["kinds", "limit"], "receipts": ["task"], "show": ["reference"], "undo": ["reference"],
    "edit": ["reference", "content", "reviewed", "no_end"], "pin": ["reference", "pinned"], "rm": ["references"], "restore": ["references"],
    "settle": ["references", "other"], "verify.accept": ["references"], "outcome": ["reference", "verdict"],
    "link": ["start", "end"], "supersede_by": ["reference", "successor"],
    "facts.promote": ["references"], "facts.reject": ["references"], "consent.approve": ["references"], "consent.reject": ["references"]
  };
  /* Commands that settle something: what each one is as an operation, and for which kind of item. $1 and $2 are the ids in it. */
  const SETTLED_BY = [
    ["resolve $1", "settle", {"references": ["$1"]}],
    ["resolve $1 --other", "settle", {"references": ["$1"], "other": true}],
    ["rm $1", "rm", {"references": ["$1"]}],
    ["edit $1 --pin", "pin", {"reference": "$1"}],
    ["edit $1 --link $2", "link", {"start": "$1", "end": "$2"}],
    ["edit $1 --superseded-by $2", "supersede_by", {"reference": "$1", "successor": "$2"}],
    ["edit $1 --reviewed", "edit", {"reference": "$1", "reviewed": true}],
    ["edit $1 --no-end", "edit", {"reference": "$1", "no_end": true}],
    ["check --accept $1", "verify.accept", {"references": ["$1"]}],
    ["outcome $1 good", "outcome", {"reference": "$1", "verdict": "good"}],
    ["outcome $1 bad", "outcome", {"reference": "$1", "verdict": "bad"}],
    ["inbox accept $1", "facts.promote", {"references": ["$1"]}, "fact"],
    ["inbox reject $1", "facts.reject", {"references": ["$1"]}, "fact"],
    ["inbox accept $1", "consent.approve", {"references": ["$1"]}, "proposal"],
    ["inbox reject $1", "consent.reject", {"references": ["$1"]}, "proposal"]
  ];
  /* What no undo reverts, and what it reverts by no memory's id */
  const FINAL = ["consent.reject"], BESIDE = /^(facts|consent)\./;
  let token = "", waiting = 0, loads = 0;

  async function ask(name, body) {
    if (!Object.keys(body).every((field) => ASKS[name].includes(field))) throw new Error(`the page sends more to ${name} than it may`);
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
    const answer = await fetch(live + name, { method: "POST", headers, credentials: "omit", body: JSON.stringify(body) });
    const said = await answer.json().catch(() => ({}));
    if (answer.ok) return said.data;
    const problem = new Error((said.error && [said.error.message, said.error.hint].filter(Boolean).join(": ")) || `the server says ${answer.status}`);
    problem.isUnknown = answer.status === 401;
    throw problem;
  }

  async function act(label, name, body, done) {
    try {
      await ask(name, body);
      if (done) done();
      await load();
      const changed = body.reference || body.start || (body.references || [])[0];
      tell(label, name === "undo" || FINAL.includes(name) ? null : BESIDE.test(name) ? {} : { reference: changed });
    } catch (problem) { failed(problem); }
  }

  function tell(text, back) {
    const old = document.getElementById("told");
    if (old) old.remove();
    document.body.append(el("div", { id: "told", class: "told", role: "status" }, el("span", {}, text),
      back ? el("button", { class: "act", type: "button", onclick: () => act("undone", "undo", back) }, "Undo") : null,
      el("button", { class: "act", type: "button", "aria-label": "Close", onclick: (event) => event.target.parentElement.remove() }, "\u00d7")));
  }

  function failed(problem) {
    if (problem.isUnknown) leave(problem.message); else tell(problem.message, null);
  }

  const action = (label, run) => el("button", { class: "act", type: "button", onclick: run }, label);
  const drawRestore = (id) => el("div", { class: "acts" }, action("Restore", () => act(`restored ${short(id)}`, "restore", { references: [id] })));

  function drawActions(memory) {
    const id = memory.id, name = short(id), box = el("div", { class: "acts" });
    const add = (label, run) => box.append(action(label, run));
    if (/^(superseded|merged)$/.test(memory.state)) return null;
    add("Edit", () => edit(memory, box));
    add(memory.pinned ? "Unpin" : "Pin", () => act(`${memory.pinned ? "unpinned" : "pinned"} ${name}`, "pin", { reference: id, pinned: !memory.pinned }));
    if (memory.state === "archived") add("Restore", () => act(`restored ${name}`, "restore", { references: [id] }));
    else if (isNow(memory)) add("Remove", () => act(`removed ${name}`, "rm", { references: [id] }));
    if (Object.keys(memory.disputed || {}).length) {
      add("Settle: keep this", () => act(`settled ${name}`, "settle", { references: [id] }));
      add("Settle: take the other", () => act(`settled ${name}`, "settle", { references: [id], other: true }));
    }
    if ((memory.cites || []).some((cited) => cited.state)) add("Still right: cite it as it is now", () => act(`agreed to ${name}`, "verify.accept", { references: [id] }));
    return box;
  }

  /* The button for one way to settle something; nothing where it has to be typed */
  function settler(need, one) {
    const said = one.command.split(" ").slice(1), memory = byId.get(need.memory);
    if (said.join(" ") === `edit ${said[1]}` && memory) return action(one.does, (event) => edit(memory, event.target.parentElement));
    for (const [pattern, name, body, kind] of SETTLED_BY) {
      if (kind && kind !== need.kind) continue;
      const words = pattern.split(" "), found = {};
      if (words.length !== said.length || !words.every((word, place) => (word[0] === "$" ? (found[word] = said[place]) : word === said[place]))) continue;
      const filled = JSON.parse(JSON.stringify(body), (_, value) => found[value] || value);
      return action(one.does, () => act(`${one.does}: done`, name, filled));
    }
    return null;
  }

  /* What a page shows is cut, and its secrets are masked: what is edited is what the record says */
  async function edit(memory, box) {
    box.classList.add("editor");
    try {
      const record = await ask("show", { reference: memory.id });
      box.replaceWith(drawEditor(memory.id, record.content, box));
    } catch (problem) { failed(problem); }
    box.classList.remove("editor");
  }

  function drawEditor(id, content, back) {
    const text = el("textarea", { rows: 4, "aria-label": "What it says", value: content });
    const form = el("form", { class: "editor", onsubmit: async (event) => {
      event.preventDefault();
      await act(`edited ${short(id)}`, "edit", { reference: id, content: text.value }, () => form.classList.remove("editor"));
    } }, text, el("div", { class: "acts" }, el("button", { class: "act", type: "submit" }, "Save"),
      action("Cancel", () => { form.replaceWith(back); back.querySelector("button").focus(); })));
    requestAnimationFrame(() => text.focus());
    return form;
  }

  async function load() {
    const mine = (loads += 1);
    stopWaiting();
    const [made, inbox, ...further] = await Promise.all([
      ask("report", {}), ask("inbox", { kinds: PRIVATE, limit: MOST_NEEDS }), ...own.map((task) => ask("receipts", { task }))]);
    if (mine !== loads) return;
    if (main.querySelector(".editor")) { heard(); return; }
    made.receipts = [...(made.receipts || []), ...further.flatMap((one) => one.items)];
    made.needs = [...(made.needs || []).filter((need) => !PRIVATE.includes(need.kind)),
      ...inbox.items.map((item) => ({ kind: item.kind, text: visible(item.text), why: visible(item.why), memory: item.id, choices: item.commands }))];
    const left = inbox.total - inbox.items.length;
    if (left) made.needs.push({ kind: "more", text: `${number(left)} more`, choices: [{ does: "go through all of it", command: "pmem inbox" }] });
    const kept = keep();
    start(made);
    document.title = `${report.project}: project memory`;
    document.getElementById("project").textContent = report.project;
    document.getElementById("asof").textContent = `As it is on ${date(report.now)}.`;
    putBack(kept);
  }

  /* Characters that nobody sees, and that turn the direction of others, are written out */
  const visible = (text) => text.replace(/[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu, (hidden) => `\\u{${hidden.codePointAt(0).toString(16)}}`);

  /* Where its reader was: what is searched for, which rows are open, what has the focus */
  function keep() {
    const focused = document.activeElement.closest("[data-keep], [data-row]");
    return {
      place: scrollY, focus: focused && Object.assign({}, focused.dataset),
      fields: [...main.querySelectorAll("[data-keep]")].map((field) => [field.dataset.keep, field.value]),
      open: [...main.querySelectorAll("[data-row] > [aria-expanded=true]")].map((button) => button.parentElement.dataset.row),
    };
  }

  function putBack(kept) {
    const find = (name, value) => [...main.querySelectorAll(`[data-${name}]`)].find((one) => one.dataset[name] === value);
    for (const [name, value] of kept.fields) {
      const field = find("keep", name);
      if (field && (field.tagName !== "SELECT" || [...field.options].some((one) => one.value === value))) field.value = value;
    }
    for (const field of [find("keep", "budget"), find("keep", "state")]) if (field) field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input"));
    for (const row of kept.open) { const found = find("row", row); if (found) found.querySelector("button").click(); }
    if (kept.focus) {
      const found = kept.focus.keep ? find("keep", kept.focus.keep) : find("row", kept.focus.row);
      if (found) (kept.focus.keep ? found : found.querySelector("button")).focus({ preventScroll: true });
    }
    scrollTo({ top: kept.place, behavior: "instant" });
  }

  /* Changes, whoever makes them: the page draws itself again, but never while somebody writes in it */

  function heard() {
    waiting ||= setTimeout(() => {
      waiting = 0;
      if (main.querySelector(".editor")) heard(); else load().catch(failed);
    }, 400);
  }

  function stopWaiting() {
    clearTimeout(waiting);
    waiting = 0;
  }

  async function listen() {
    const mine = token, heardOf = { last: "" };
    while (token === mine) {
      const leaving = new AbortController();
      const leave = () => document.hidden && leaving.abort();
      document.addEventListener("visibilitychange", leave);
      try {
        const headers = { Authorization: `Bearer ${mine}`, ...(heardOf.last ? { "Last-Event-ID": heardOf.last } : {}) };
        const answer = await fetch(root.dataset.changes, { headers, credentials: "omit", signal: leaving.signal });
        if (answer.ok) await follow(answer.body.pipeThrough(new TextDecoderStream()).getReader(), heardOf);
        else if (answer.status === 401) heard();
      } catch (problem) {
        if (!leaving.signal.aborted) document.getElementById("asof").textContent = "The server does not answer: this is how it was.";
      }
      document.removeEventListener("visibilitychange", leave);
      await new Promise((go) => setTimeout(go, PAUSE));
      if (document.hidden) await new Promise((go) => document.addEventListener("visibilitychange", go, { once: true }));
    }
  }

  async function follow(reader, heardOf) {
    for (let left = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (left + value).split("\n\n");
      left = events.pop();
      for (const event of events) {
        const id = /^id: (.*)$/m.exec(event), kind = /^event: (.*)$/m.exec(event);
        if (id) heardOf.last = id[1];
        if (kind && kind[1] !== "hello") heard();
      }
    }
  }

  function askToken(problem) {
    main.replaceChildren();
    document.getElementById("contents").replaceChildren();
    const input = el("input", { type: "password", autocomplete: "off", "aria-label": "Token", required: true });
    section("start", "Who are you?", "This memory is shown to whoever has its token; pmem serve --token person prints yours.",
      problem ? el("p", { role: "alert" }, problem) : null,
      el("form", { class: "ask", onsubmit: (event) => { event.preventDefault(); enter(input.value.trim()); } }, input, el("button", { class: "act", type: "submit" }, "Show it")));
    input.focus();
  }

  function leave(problem) {
    token = "";
    stopWaiting();
    sessionStorage.removeItem(TOKEN);
    askToken(problem);
  }

  async function enter(given) {
    token = given;
    try {
      await load();
      sessionStorage.setItem(TOKEN, token);
      if (root.dataset.changes) listen();
    } catch (problem) { leave(problem.message); }
  }

  function goLive() {
    const handed = new URLSearchParams(location.hash.slice(1)).get("token");
    if (handed) history.replaceState(null, "", location.pathname);
    const known = handed || sessionStorage.getItem(TOKEN);
    if (known) enter(known); else askToken("");
    addEventListener("hashchange", () => { if (location.hash.startsWith("#token=")) location.reload(); });
  }

  /* The whole page */

  function drawContents(figures) {
    const nav = document.getElementById("contents");
    nav.replaceChildren();
    const links = [...main.querySelectorAll("section")].map((part) => {
      const link = el("a", { href: `#${part.id}` }, part.querySelector("h2").textContent, figures[part.id] ? [" ", el("b", {}, number(figures[part.id]))] : "");
      nav.append(link);
      return [part, link];
    });
    const themes = ["light dark", "light", "dark"], labels = ["Auto", "Light", "Dark"];
    let theme = 0;
    nav.append(el("button", { type: "button", onclick: (event) => { theme = (theme + 1) % 3; root.style.colorScheme = themes[theme]; event.target.textContent = labels[theme]; say(`colours: ${labels[theme]}`); }, title: "Colours: as the system says, light, or dark" }, labels[0]));
    const watch = new IntersectionObserver(() => {
      const reached = links.filter(([part]) => part.getBoundingClientRect().top < innerHeight * 0.35).pop();
      links.forEach(([, link]) => link.removeAttribute("aria-current"));
      if (reached) reached[1].setAttribute("aria-current", "true");
    }, { rootMargin: "-35% 0px -65% 0px" });
    links.forEach(([part]) => watch.observe(part));
  }

  function start(made) {
    report = made;
    byId = new Map(report.memories.map((memory) => [memory.id, memory]));
    now = time(report.now);
    drawing.abort();
    drawing = new AbortController();
    main.replaceChildren();
    if (!report.memories.length && !(report.needs || []).length) {
      section("start", "Nothing is remembered yet", "Keep what was decided, what was tried, and what must hold; this page then shows how it came to be.",
        el("ul", { class: "needs" }, [
          ["a decision", "Why things are as they are", "pmem add \"We use PostgreSQL\" --type decision --subject database"],
          ["from git", "What the project's commits say, as proposals", "pmem import git"],
          ["from notes", "What AGENTS.md and its like say", "pmem import notes AGENTS.md"],
        ].map(([kind, text, line]) => el("li", {}, el("span", {}, el("span", { class: "chip" }, kind)), el("div", {}, text, el("div", { class: "acts" }, command(line)))))));
      document.getElementById("contents").hidden = true;
      performance.mark("pmem-drawn");
      return;
    }
    document.getElementById("contents").hidden = false;
    drawWeek();
    const needs = drawNeeds();
    drawExplorer();
    drawReceipts();
    drawUse();
    drawGrowth();
    drawGraph();
    drawContents({ needs });
    performance.mark("pmem-drawn");
  }

  if (live) goLive(); else start(JSON.parse(document.getElementById("report").textContent));
})();
