// Two models, or two slices of time, side by side for one word.

async function compareView(route) {
  const known = await source.info();
  const count = known.models.length;
  if (count < 2) return { page: alone(), title: "Compare", said: "One model only", update: () => false };
  const pair = pairOf(route, count);
  const [a, b] = pair;
  const { word } = route;
  const page = el("div", { class: "compare-view" }, compareHead(known, word, a, b));
  if (!word) {
    const begin = el("p", {}, "Look up a word above, or begin with one of these:");
    page.append(begin, wordChips(known.start, (other) => address("compare", other, { a, b })));
    return { page, title: "Compare", said: "Two models side by side", update: () => false };
  }
  const names = pair.map((model) => known.models[model].name);
  const views = await Promise.all(pair.map((model) => source.word(word, model).catch((error) => error)));
  const found = views.some(isMissing) ? null : await source.compare(word, a, b);
  const levels = levelsOf(route, views);
  const ties = el("section", { class: "panel ties", "aria-label": "Senses that match", hidden: found === null });
  const sides = views.map((view, side) => compareSide(view, names[side], pair[side], side, (level, passing) => (
    setLevel(side, level, passing)
  )));
  page.append(ties, el("div", { class: "two" }, sides.map((side) => side.box)));
  if (found) page.append(exportTools(() => ({ compare: views, levels, names, found })));

  function setLevel(side, wanted, passing) {
    levels[side] = wanted === null ? null : Math.max(1, Math.min(views[side].cuts.length, wanted));
    show();
    if (!passing) go(address("compare", word, { a, b, la: told(0), lb: told(1) }), true);
  }
  const told = (side) => (isMissing(views[side]) || levels[side] === ownLevel(views[side]) ? undefined : levels[side]);

  function show() {
    const near = views.map((view, side) => (isMissing(view) ? new Set() : wordsNear(view, cutOf(view, levels[side]))));
    sides.forEach((side, place) => side.show(levels[place], near[1 - place]));
    if (found) drawTies(ties, views, levels, found, names);
  }
  show();
  return {
    page,
    title: `${word} in two models`,
    said: `${word} in ${names.join(" and ")}`,
    update(next) {
      if (next.name !== "compare" || next.word !== word || pairOf(next, count).join() !== pair.join()) return false;
      levelsOf(next, views).forEach((level, side) => { levels[side] = level; });
      show();
      return true;
    },
  };
}

const isMissing = (view) => view instanceof Error;

/** The two models that an address names. */
function pairOf(route, count) {
  const a = within(route.query.a, count, 0);
  return [a, within(route.query.b, count, a === 0 ? 1 : 0)];
}

function levelsOf(route, views) {
  const asked = [route.query.la, route.query.lb];
  return views.map((view, side) => (isMissing(view) ? null : levelOf(view, asked[side])));
}

function compareHead(known, word, a, b) {
  const title = word ? [ofModel(word), el("span", { class: "light" }, " in two models")] : "Two models side by side";
  return el(
    "div",
    { class: "compare-head" },
    el("h1", { tabindex: "-1" }, title),
    el(
      "div",
      { class: "pickers" },
      picker("First", known, a, (place) => go(address("compare", word, { a: place, b }))),
      picker("Second", known, b, (place) => go(address("compare", word, { a, b: place }))),
    ),
  );
}

function alone() {
  return el("div", { class: "notice" }, el("h1", { tabindex: "-1" }, "Compare two models"),
    el("p", {}, "The explorer was opened with one model. Open it with two, such as those of two slices of time:"),
    el("pre", {}, el("code", {}, "muse explore 1900s.safetensors 2000s.safetensors")));
}

function within(asked, count, otherwise) {
  const place = asked === undefined ? NaN : Number(asked);
  return Number.isInteger(place) && place >= 0 && place < count ? place : otherwise;
}

function picker(name, known, chosen, onchoose) {
  const select = el(
    "select",
    {},
    known.models.map((model, place) => el("option", { value: place, selected: place === chosen }, model.name)),
  );
  select.addEventListener("change", () => onchoose(Number(select.value)));
  return el("label", {}, el("span", {}, name), select);
}

const wordsNear = (view, cut) => new Set(
  cut.flatMap((number) => view.nodes[number].neighbours.map(([point]) => view.points[point][0]))
);

function compareSide(view, name, model, side, onlevel) {
  const box = el("section", { class: "side", "aria-label": name }, el("h2", {}, name));
  if (isMissing(view)) {
    box.append(el("p", { class: "notice" }, view.message));
    return { box, show() {} };
  }
  const bar = el("div");
  const cards = el("div", { class: "cards" });
  const control = levelControl(view, ownLevel(view), onlevel, `level-${side}`);
  box.append(
    el("p", { class: "facts" }, `${several(view.count, "use", "uses")} · rank ${grouped(view.rank)}`),
    bar,
    control.box,
    cards,
  );
  return {
    box,
    show(level, also) {
      const cut = cutOf(view, level);
      control.show(level);
      bar.replaceChildren(shareBar(view, cut, (number) => focusCard(cards, number)));
      cards.replaceChildren(
        ...byShare(view, cut).map((number) => senseCard(view, level, number, { model, also, heading: "h3" }))
      );
    },
  };
}

const ALIKE = 0.2;  // what counts as a match

/** For each sense of either cut the one of the other that is most like it; each pair once, the best first. */
function bestPairs(cuts, found) {
  const alike = (mine, theirs) => found.alike[mine][theirs];
  const best = (list, score) => list.reduce((one, other) => (score(other) > score(one) ? other : one), list[0]);
  const pairs = [
    ...cuts[0].map((mine) => [mine, best(cuts[1], (theirs) => alike(mine, theirs))]),
    ...cuts[1].map((theirs) => [best(cuts[0], (mine) => alike(mine, theirs)), theirs]),
  ].map(([mine, theirs]) => [mine, theirs, alike(mine, theirs)]).filter(([, , value]) => value >= ALIKE);
  return [...new Map(pairs.map((pair) => [pair.join(), pair])).values()].sort((x, y) => y[2] - x[2]);
}

function drawTies(box, views, levels, found, names) {
  const cuts = views.map((view, side) => cutOf(view, levels[side]));
  const pairs = bestPairs(cuts, found);
  const sense = (side, number) => el("td", {}, tieSense(views[side], levels[side], number));
  const rows = pairs.map(([mine, theirs, value]) => el("tr", {}, sense(0, mine), tieValue(value), sense(1, theirs)));
  for (const [side, cut] of cuts.entries()) {
    for (const number of byShare(views[side], cut).filter((one) => !pairs.some((pair) => pair[side] === one))) {
      const none = [el("td", { class: "none" }, "no match"), el("td", { class: "none" }, "–")];
      rows.push(el("tr", {}, side === 0 ? [sense(0, number), ...none] : [...none.reverse(), sense(1, number)]));
    }
  }
  const head = [names[0], "how alike", names[1]].map((name) => el("th", { scope: "col" }, name));
  box.replaceChildren(
    el("h2", {}, "Senses that match"),
    el("table", { class: "bars tie-table" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)),
    el(
      "p",
      { class: "note" },
      "Vectors of two models cannot be compared, but how near they are to "
        + `${grouped(found.anchors)} words that both know can: 1.00 is the same, 0 has nothing to do with it. `
        + "Framed words in the cards are near the word in both.",
    ),
  );
}

function tieSense(view, level, number) {
  const node = view.nodes[number];
  const title = ofModel(titleOf(view, level, number).text || `sense ${number}`);
  return el(
    "span",
    { class: "tie-sense" },
    badge(node.colour, number),
    title,
    el("span", { class: "figure" }, percent(node.share)),
  );
}

function tieValue(value) {
  const bar = wide(el("span", { class: "bar", "aria-hidden": "true" }), value);
  return el("td", { class: "bar-cell" }, bar, el("span", { class: "figure" }, value.toFixed(2)));
}
