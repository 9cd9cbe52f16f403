// One card for each sense of a cut.

/** Place of a cut in `labels` and in the cuts of uses: level - 1, or the last one for the model's own. */
function placeOfCut(view, level) {
  return level === null ? view.cuts.length : level - 1;
}

function cutOf(view, level) {
  return level === null ? view.own : view.cuts[level - 1];
}

/** The level that the model's own senses are, or null where they are a cut of another kind. */
function ownLevel(view) {
  const own = view.own.join();
  const place = view.cuts.findIndex((cut) => cut.join() === own);
  return place < 0 ? null : place + 1;
}

const byShare = (view, cut) => [...cut].sort((a, b) => view.nodes[b].share - view.nodes[a].share || a - b);

/** What a sense is called: its name, or else words that tell it from the others. */
function titleOf(view, level, number) {
  const node = view.nodes[number];
  if (node.name) return { text: node.name, given: true };
  return { text: view.labels[placeOfCut(view, level)][number] || "", given: false };
}

/** Parts of how a card is made: `also` marks neighbours that another model has too, `onlevel` takes another cut. */
function senseCard(view, level, number, { model, also, onlevel, heading = "h2" }) {
  const node = view.nodes[number];
  const title = titleOf(view, level, number);
  const id = `sense-${model}-${number}`;
  const card = el(
    "article",
    { class: `card ${colourClass(node.colour)}`, "aria-labelledby": id, "data-sense": number },
  );
  card.append(el(
    "header",
    { class: "card-head" },
    badge(node.colour, number),
    el(
      "div",
      { class: "card-title" },
      el(
        heading,
        { id, class: title.given ? "given" : null },
        el("span", { class: "hidden" }, `Sense ${number}: `),
        ofModel(title.text || `sense ${number}`),
      ),
      el("p", { class: "key" }, ofModel(`${view.word}#${number}`)),
    ),
    el("p", { class: "share" }, percent(node.share), el("span", { class: "hidden" }, " of its uses")),
  ));
  card.append(wide(el("div", { class: "share-line", "aria-hidden": "true" }), node.share));
  const telling = tellingPoints(view, cutOf(view, level), number);
  if (telling.length) card.append(
    el("p", { class: "list-name", "aria-hidden": "true" }, "Sets it apart"),
    neighbourList(view, telling.slice(0, APART), model, also, "Words that set it apart"),
  );
  card.append(
    el("p", { class: "list-name", "aria-hidden": "true" }, "Nearest"),
    neighbourList(view, node.neighbours.slice(0, NEAREST), model, also, "Nearest words"),
  );
  card.append(el("div", { class: "uses-place" }));
  if (node.parts.length && onlevel) {
    const undone = levelThatUndoes(view, number);
    if (undone) {
      card.append(el(
        "p",
        { class: "parts" },
        el(
          "button",
          { type: "button", class: "quiet", onclick: () => onlevel(undone) },
          icon("M3 10h5l4-6h5M8 10l4 6h5"),
          `Split into ${node.parts.map((part) => percent(view.nodes[part].share)).join(" and ")}`,
          el("span", { class: "hidden" }, ` of the uses of ${view.word}`),
        ),
      ));
    }
  }
  return card;
}

const APART = 8;
const NEAREST = 8;

/** Neighbours of a node that are nearer to it than to the others of a cut, those first that tell it most from them. */
function tellingPoints(view, cut, number) {
  const others = cut.filter((other) => other !== number);
  if (!others.length) return [];
  const lead = ([point]) => view.near[point][number] - Math.max(...others.map((other) => view.near[point][other]));
  return view.nodes[number].neighbours.filter((near) => lead(near) > 0).sort((a, b) => lead(b) - lead(a));
}

function neighbourList(view, points, model, also, label) {
  const items = points.map(([point, cosine]) => {
    const [word, sense] = view.points[point];
    const common = also && also.has(word);
    const inner = [ofModel(word), common ? el("span", { class: "hidden" }, " (in both)") : null];
    const link = source.holds(word, model)
      ? el(
        "a",
        {
          class: "chip",
          href: address("word", word, { model }),
          title: `${word}#${sense}, cosine ${cosine.toFixed(2)}`,
        },
        inner,
      )
      : el("span", { class: "chip plain", title: `${word}#${sense}, cosine ${cosine.toFixed(2)}` }, inner);
    if (common) link.classList.add("common");
    return el("li", {}, wide(link, cosine));
  });
  return el("ul", { class: "chips near", "aria-label": label }, items);
}

/** Put uses into cards that are there already, so that what has the focus in them keeps it. */
function fillUses(cards, view, level, uses, awaited, model) {
  for (const card of cards.querySelectorAll(".card")) {
    const number = Number(card.getAttribute("data-sense"));
    const place = card.querySelector(".uses-place");
    if (uses) place.replaceChildren(useList(view, uses, level, number, model));
    else if (awaited) place.replaceChildren(el("p", { class: "no-uses" }, "Looking for uses in the text…"));
    else place.replaceChildren();
  }
}

function useList(view, uses, level, number, model) {
  const found = ((uses.cuts[placeOfCut(view, level)] || {})[number] || []).slice(0, 3);
  if (!found.length) return el(
    "p",
    { class: "no-uses" },
    uses.read ? "None of the uses that were read is of this sense." : "The text does not hold this word.",
  );
  const rows = found.map(([place, share]) => {
    const [before, word, after] = uses.texts[place];
    const text = [before, word, after].filter(Boolean).join(" ");
    const words = [
      before ? [ofModel(before), " "] : "",
      el("mark", {}, ofModel(word)),
      after ? [" ", ofModel(after)] : "",
    ].flat();
    const quoted = inside
      ? el("span", { class: "use" }, words)
      : el(
        "a",
        {
          class: "use",
          href: address(
            "sentence",
            null,
            { text, word, nth: before.split(" ").filter((token) => token === word).length || undefined, model },
          ),
          title: "See which words decide",
        },
        words,
      );
    return el(
      "li",
      {},
      quoted,
      el("span", { class: "sure" }, percent(share), el("span", { class: "hidden" }, " sure")),
    );
  });
  return el("ol", { class: "uses", "aria-label": "Uses of which the model is surest" }, rows);
}

/** A bar of the shares of all senses of a cut. */
function shareBar(view, cut, onsense) {
  const bar = el("div", { class: "share-bar", "aria-hidden": "true" });
  for (const number of byShare(view, cut)) {
    const node = view.nodes[number];
    const part = el(
      "div",
      {
        class: `share-part ${colourClass(node.colour)}`,
        "data-sense": number,
        title: `${view.word}#${number}: ${percent(node.share)}`,
        onclick: () => onsense(number),
      },
      node.share > 0.09 ? `${number} · ${percent(node.share)}` : node.share > 0.025 ? String(number) : "",
    );
    part.style.setProperty("flex-grow", String(Math.max(node.share, 0.004)));
    bar.append(part);
  }
  return bar;
}

/** A slider and two buttons for the number of senses. */
function levelControl(view, level, onlevel, name = "level") {
  const most = view.cuts.length;
  if (most < 2) return {
    box: el(
      "p",
      { class: "level one" },
      view.own.length === 1
        ? "One sense: too few uses for more, or the model was trained so."
        : `${view.own.length} senses; this model has no sense trees to cut anew.`,
    ),
    show() {},
  };
  const slider = el(
    "input",
    { type: "range", id: name, min: 1, max: most, step: 1, "aria-describedby": `${name}-told` },
  );
  const told = el("output", { for: name, id: `${name}-told` });
  const fewer = el(
    "button",
    { type: "button", class: "round", "aria-label": "Fewer senses", onclick: () => onlevel(Number(slider.value) - 1) },
    "−",
  );
  const more = el(
    "button",
    { type: "button", class: "round", "aria-label": "More senses", onclick: () => onlevel(Number(slider.value) + 1) },
    "+",
  );
  const own = el(
    "button",
    { type: "button", class: "quiet own", onclick: () => { onlevel(ownLevel(view)); slider.focus(); } },
    "As the model has it",
  );
  slider.addEventListener("input", () => onlevel(Number(slider.value), true));
  slider.addEventListener("change", () => onlevel(Number(slider.value)));
  function show(now) {
    slider.value = String(now ?? view.own.length);
    const count = cutOf(view, now).length;
    slider.setAttribute("aria-valuetext", several(count, "sense", "senses"));
    told.textContent = several(count, "sense", "senses");
    fewer.disabled = Number(slider.value) <= 1;
    more.disabled = Number(slider.value) >= most;
    own.hidden = now === ownLevel(view);
  }
  show(level);
  return {
    box: el(
      "div",
      { class: "level", role: "group", "aria-label": "How many senses" },
      el("label", { for: name }, "Senses"),
      fewer,
      slider,
      more,
      told,
      own,
    ),
    show,
  };
}
