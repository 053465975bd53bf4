"use strict";

// The theme is set before the page is shown. Without a choice of the reader, that of the system holds.
const chosen = localStorage.getItem("docs.theme");
if (chosen) document.documentElement.style.colorScheme = chosen;

document.addEventListener("DOMContentLoaded", () => {
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const style = document.documentElement.style;
    const dark = style.colorScheme ? style.colorScheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    style.colorScheme = dark ? "light" : "dark";
    localStorage.setItem("docs.theme", style.colorScheme);
  });
  search();
});

function search() {
  const { root, index, nothing } = document.body.dataset;
  const query = document.getElementById("query");
  const results = document.getElementById("results");
  const found = document.getElementById("found");
  let loading; // the index, once the field is used
  query.hidden = false;
  const load = () => (loading ??= fetch(index).then((answer) => answer.json()).then(unpack));
  query.addEventListener("focus", load);
  query.addEventListener("input", async () => {
    const text = query.value;
    const hits = text.trim() ? find(await load(), text) : [];
    if (text !== query.value) return; // more was typed in the meantime
    results.replaceChildren(...hits.map((hit) => item(hit, root)));
    results.hidden = hits.length === 0;
    found.textContent = !text.trim() ? "" : hits.length ? `${results.getAttribute("aria-label")}: ${hits.length}` : nothing;
  });
  document.addEventListener("keydown", (event) => {
    const links = [...results.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const inside = at >= 0 || document.activeElement === query;
    if (event.key === "/" && !inside) query.focus();
    else if (event.key === "Escape" && inside) { results.hidden = true; query.focus(); }
    else if (event.key === "ArrowDown" && inside) links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] ?? query).focus();
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => { if (!event.target.closest("search")) results.hidden = true; });
}

// The index has the distances between the places of a word, and headings without their ids.
function unpack(index) {
  for (const page of index.pages) {
    const used = {};
    page.ids = page.h.map((heading) => {
      const id = heading.trim().toLowerCase().replaceAll(" ", "-").replace(/[^\p{L}\p{N}\p{Mn}_-]/gu, "");
      used[id] = (used[id] ?? -1) + 1;
      return used[id] ? `${id}-${used[id]}` : id;
    });
  }
  for (const places of Object.values(index.words)) {
    for (let i = 1; i < places.length; i++) places[i] += places[i - 1];
  }
  return index;
}

// A page is found if each word of the query begins a word of its title, its headings or its text.
function find({ pages, words }, text) {
  const wanted = text.toLowerCase().match(/[a-z0-9_]+|\p{Script=Han}+/gu) ?? [];
  if (wanted.length === 0) return [];
  const begins = (text, word) => /\p{Script=Han}/u.test(word) ? text.includes(word)
    : text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).some((w) => w.startsWith(word));
  const points = pages.map((page) => wanted.map((word) => begins(page.t, word) ? 12 : 0));
  wanted.forEach((word, n) => {
    const parts = /\p{Script=Han}{2}/u.test(word) ? [...word].slice(1).map((c, i) => [...word][i] + c) : [word.slice(0, 6)]; // the index has the beginnings of words
    for (const [entry, places] of Object.entries(words)) {
      if (!parts.some((part) => entry.startsWith(part))) continue;
      for (const place of places) points[place][n] = Math.max(points[place][n], entry === word ? 2 : 1);
    }
  });
  const hits = pages.map((page, place) => {
    let best = { score: 0 };
    page.h.forEach((heading, i) => {
      const matching = wanted.filter((word) => begins(heading, word));
      if (matching.length > best.score) best = { score: matching.length, id: page.ids[i], text: heading };
      matching.forEach((word) => { const n = wanted.indexOf(word); points[place][n] = Math.max(points[place][n], 5); });
    });
    const all = points[place].every((p) => p > 0);
    const own = page.l === document.documentElement.lang ? 1 : 0;
    return { page, heading: best, score: all ? points[place].reduce((a, b) => a + b) + own : 0 };
  });
  return hits.filter((hit) => hit.score > 0).sort((a, b) => b.score - a.score).slice(0, 12);
}

function item({ page, heading }, root) {
  const link = document.createElement("a");
  link.href = root + page.p + (heading.id ? "#" + heading.id : "");
  link.lang = page.l;
  link.textContent = page.t;
  if (heading.text) {
    const below = document.createElement("span");
    below.textContent = heading.text;
    link.append(below);
  }
  const li = document.createElement("li");
  li.append(link);
  return li;
}
