// The view of a word: its cards, the map, the tree; the number of senses is changed without asking again.

async function wordView(route) {
  const { word, model } = route;
  const view = await source.word(word, model);
  const known = await source.info();
  let level = levelOf(view, route.query.level);
  let uses = null;
  let awaited = known.uses;
  let drawn = null;

  const cards = el("section", { class: "cards", "aria-label": "Senses" });
  const mapBox = el("div", { class: "drawing" });
  const treeBox = el("div", { class: "drawing" });
  const bar = el("div", {});
  const control = levelControl(view, level, setLevel);
  const aside = el("div", { class: "aside" }, mapPanel(view, mapBox), treePanel(view, treeBox));
  const tools = exportTools(() => ({ view, level, uses, model: known.models[model].name, map: drawn }));
  const split = el("div", { class: "split" }, cards, aside);
  const page = el("div", { class: "word-view" }, wordHead(view, known, model), bar, control.box, split, tools);

  function setLevel(wanted, passing = false) {
    const next = wanted === null ? null : Math.max(1, Math.min(view.cuts.length, wanted));
    const changed = next !== level;
    level = next;
    if (changed) show();
    if (!passing) go(address("word", view.word, { model, level: level === ownLevel(view) ? undefined : level }), true);
    if (changed) announce(`${view.word} in ${several(cutOf(view, level).length, "sense", "senses")}`);
  }

  function divide(wanted) {
    setLevel(wanted);
    page.querySelector("#level").focus({ preventScroll: true });  // the button is gone
  }

  function show() {
    const cut = cutOf(view, level);
    control.show(level);
    bar.replaceChildren(shareBar(view, cut, (number) => focusCard(cards, number)));
    const made = byShare(view, cut).map((number) => senseCard(view, level, number, { model, onlevel: divide }));
    cards.replaceChildren(...made);
    fillUses(cards, view, level, uses, awaited, model);
    draw();
  }

  function draw() {
    const cut = cutOf(view, level);
    if (!mapBox.clientWidth) return;
    drawn = drawMap(mapBox, view, cut, (other) => {
      if (source.holds(other, model)) go(address("word", other, { model }));
    });
    drawTree(treeBox, view, cut, setLevel);
  }

  page.addEventListener("mouseover", (event) => light(page, event.target.closest("[data-sense]")));
  page.addEventListener("mouseleave", () => light(page, null));
  show();
  if (awaited) {
    const found = source.uses(view.word, model).then((answer) => { uses = answer; });
    found.catch((error) => announce(error.message)).finally(() => {
      awaited = false;
      fillUses(cards, view, level, uses, awaited, model);
    });
  }
  return {
    page, title: `${view.word}`, said: `${view.word}: ${several(cutOf(view, level).length, "sense", "senses")}`,
    resized: draw,
    update(next) {
      if (next.name !== "word" || next.word !== view.word || next.model !== model) return false;
      const wanted = levelOf(view, next.query.level);
      if (wanted !== level) { level = wanted; show(); }
      return true;
    },
  };
}

function levelOf(view, asked) {
  const level = Number(asked);
  return Number.isInteger(level) && level >= 1 && level <= view.cuts.length && view.cuts.length > 1
    ? level
    : ownLevel(view);
}

function wordHead(view, known, model) {
  const others = known.models.length > 1;
  return el(
    "div",
    { class: "word-head" },
    el("h1", { tabindex: "-1" }, ofModel(view.word)),
    el(
      "p",
      { class: "facts" },
      `${several(view.count, "use", "uses")} · rank ${grouped(view.rank)}`,
      others ? ` · ${known.models[model].name}` : "",
    ),
    others
      ? el(
        "a",
        { class: "button", href: address("compare", view.word, { a: model, b: model === 0 ? 1 : 0 }) },
        "Compare models",
      )
      : null,
    known.models[model].slices.length
      ? el("a", { class: "button", href: address("change", view.word, { model }) }, "Over time")
      : null,
  );
}

function mapPanel(view, box) {
  const shares = view.explained.reduce((sum, share) => sum + share, 0);
  const directions = shares > 0
    ? "Shape and colour say which sense each word is nearest to. The two directions in which the senses differ most, "
      + `with ${percent(shares)} of what sets them apart`
    : "The two main directions in which these words differ";
  return el("section", { class: "panel", "aria-label": "Map" }, el("h2", {}, "Nearest words"),
    box, el("p", { class: "note" }, `${directions}: what is near here need not be near in all.`));
}

function treePanel(view, box) {
  if (view.root === null || view.nodes.length < 2) return null;
  return el(
    "section",
    { class: "panel", "aria-label": "Sense tree" },
    el("h2", {}, "Sense tree"),
    box,
    el(
      "p",
      { class: "note" },
      "From the finest senses, right, to the word as a whole: the further left two are joined, the further apart "
        + "they are.",
    ),
  );
}

function focusCard(cards, number) {
  const card = cards.querySelector(`[data-sense="${number}"]`);
  if (card) card.scrollIntoView(
    { block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" }
  );
}

/** While the pointer is on something of a sense, what is of others steps back. */
function light(page, target) {
  const number = target ? target.getAttribute("data-sense") : null;
  page.classList.toggle("lit", number !== null);
  for (const part of page.querySelectorAll("[data-sense]")) part.classList.toggle(
    "bright",
    part.getAttribute("data-sense") === number,
  );
}
