// Addresses, the look, and what is shown.

const VIEWS = { start: startView, word: wordView, sentence: sentenceView, compare: compareView, change: changeView };
let shown = null;
let showing = 0;

/** The address of a view: #/word/bank?level=3. */
function address(name, word, query = {}) {
  const given = Object.entries(query).filter(
    ([key, value]) => value !== undefined && value !== null && !(key === "model" && value === 0)
  );
  const path = name === "start"
    ? ""
    : name + (word === null || word === undefined ? "" : `/${encodeURIComponent(word)}`);
  return `#/${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [name, word] = path.split("/");
  const given = Object.fromEntries(new URLSearchParams(query));
  let decoded = null;
  try {
    decoded = word === undefined || word === "" ? null : decodeURIComponent(word);
  } catch {
    decoded = word;
  }
  const known = Object.hasOwn(VIEWS, name) && !(name === "word" && decoded === null) ? name : "start";
  return { name: known, word: decoded, query: given, model: Math.max(0, Math.trunc(Number(given.model)) || 0) };
}

/** Go to an address; `quiet`: the view has shown it already. */
function go(hash, quiet = false) {
  if (hash === location.hash) return quiet ? undefined : show();
  if (!quiet) { location.hash = hash; return undefined; }
  history.pushState(null, "", hash);
  return show();
}

async function show() {
  const mine = ++showing;
  const route = routeOf(location.hash);
  const main = byId("main");
  if (shown && (await shown.update(route))) return mark(route);
  if (mine !== showing) return undefined;
  main.setAttribute("aria-busy", "true");
  let next;
  try {
    const known = await source.info();
    if (route.model >= known.models.length) route.model = 0;
    next = await VIEWS[route.name](route);
  } catch (error) {
    next = { page: problem(error, route.model), title: "Nothing to show", said: error.message, update: () => false };
  }
  if (mine !== showing) return undefined;  // somebody went on
  const first = shown === null;
  shown = next;
  main.removeAttribute("aria-busy");
  main.replaceChildren(next.page);
  if (next.resized) next.resized();  // now it has a width
  window.scrollTo(0, 0);
  announce(next.said);
  const head = next.focus || main.querySelector("h1");
  if (head && (!first || next.focus)) head.focus({ preventScroll: true });
  return mark(route);
}

async function mark(route) {
  const known = await source.info();
  document.title = [shown.title, known.title, "MUSE"].filter(Boolean).join(" · ");
  for (const link of document.querySelectorAll("[data-view]")) {
    const view = link.getAttribute("data-view");
    if (view === (route.name === "start" ? "word" : route.name)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (view === "change") link.hidden = !known.models.some((model) => model.slices.length);
    if (route.word && view !== "sentence") link.href = address(
      view,
      route.word,
      view === "compare" ? { a: route.model } : { model: route.query.a || route.model },
    );
    else link.href = view === "word" ? "#/" : address(view, null, view === "sentence" ? { model: route.model } : {});
  }
  byId("model").value = String(route.model);
  byId("model").closest("label").hidden = known.models.length < 2 || route.name === "compare";
}

const LOOKS = {  // and their icons: half and half, sun, moon
  auto: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  light: "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.5 4.5l1.4 1.4M14.1 14.1l1.4 1.4"
    + "M4.5 15.5l1.4-1.4M14.1 5.9l1.4-1.4",
  dark: "M15.5 12.5A6.5 6.5 0 0 1 7.5 4.5a6.5 6.5 0 1 0 8 8z",
};

function makeTheme() {
  const button = byId("theme");
  const looks = Object.keys(LOOKS);
  let look = "auto";
  try {
    look = localStorage.getItem("muse-look") || "auto";
  } catch { /* a page without storage */ }
  function wear(next) {
    look = looks.includes(next) ? next : "auto";
    document.documentElement.setAttribute("data-look", look);
    button.replaceChildren(
      icon(LOOKS[look]),
      el("span", { class: "look-name" }, look),
      el("span", { class: "hidden" }, " look; press for the next"),
    );
    try {
      localStorage.setItem("muse-look", look);
    } catch { /* it lasts as long as the page */ }
    if (shown && shown.resized) shown.resized();
  }
  button.addEventListener("click", () => wear(looks[(looks.indexOf(look) + 1) % looks.length]));
  wear(look);
}

async function start() {
  makeTheme();
  byId("skip").addEventListener("click", () => byId("main").focus());
  makeSearch(() => routeOf(location.hash).model, (word) => {
    const route = routeOf(location.hash);
    go(
      route.name === "compare"
        ? address("compare", word, { a: route.query.a, b: route.query.b })
        : address(route.name === "change" ? "change" : "word", word, { model: route.model })
    );
  });
  window.addEventListener("hashchange", show);
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    if (shown && shown.resized) shown.resized();
  });
  const choice = byId("model");
  try {
    const known = await source.info();
    choice.append(...known.models.map((model, place) => el("option", { value: place }, model.name)));
  } catch { /* said by the view */ }
  choice.addEventListener("change", () => {
    const route = routeOf(location.hash);
    go(address(route.name, route.word, { ...route.query, model: Number(choice.value), level: undefined }));
  });
  show();
}

start();
