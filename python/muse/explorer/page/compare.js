// Two models, or two slices of time, side by side for one word.

async function compareView(route) {
  const known = await source.info();
  const count = known.models.length;
  if (count < 2) return { page: alone(), title: "Compare", said: "One model only", update: () => false };
  const a = within(route.query.a, count, 0);
  const b = within(route.query.b, count, a === 0 ? 1 : 0);
  const head = el("div", { class: "compare-head" });
  const page = el("div", { class: "compare-view" }, head);
  const word = route.word;
  head.append(el("h1", { tabindex: "-1" }, word ? [ofModel(word), el("span", { class: "light" }, " in two models")] : "Two models side by side"));
  head.append(el("div", { class: "pickers" }, picker("First", known, a, (place) => go(address("compare", word, { a: place, b }))), picker("Second", known, b, (place) => go(address("compare", word, { a, b: place })))));
  if (!word) {
    page.append(el("p", {}, "Look up a word above, or begin with one of these:"), el("ul", { class: "chips" }, known.start.map((other) => el("li", {}, el("a", { class: "chip", href: address("compare", other, { a, b }) }, ofModel(other))))));
    return { page, title: "Compare", said: "Two models side by side", update: () => false };
  }
  const answers = await Promise.all([a, b].map((model) => source.word(word, model).catch((error) => error)));
  const found = answers.every((answer) => !(answer instanceof Error)) ? await source.compare(word, a, b) : null;
  const levels = [route.query.la, route.query.lb].map((asked, side) => (answers[side] instanceof Error ? null : levelOf(answers[side], asked)));
  const ties = el("section", { class: "panel ties", "aria-label": "Senses that match" });
  const sides = answers.map((answer, side) => compareSide(answer, known.models[[a, b][side]].name, [a, b][side], (level, passing) => setLevel(side, level, passing), side));
  page.append(ties, el("div", { class: "two" }, sides.map((side) => side.box)),
    found ? exportTools(() => ({ compare: answers, levels, names: [a, b].map((model) => known.models[model].name), found })) : null);

  function setLevel(side, wanted, passing) {
    const view = answers[side];
    levels[side] = wanted === null ? null : Math.max(1, Math.min(view.cuts.length, wanted));
    show();
    if (!passing) go(address("compare", word, { a, b, la: told(0), lb: told(1) }), true);
  }
  const told = (side) => (levels[side] === ownLevel(answers[side]) ? undefined : levels[side]);

  function show() {
    const near = answers.map((view, side) => (view instanceof Error ? new Set() : wordsNear(view, cutOf(view, levels[side]))));
    sides.forEach((side, place) => side.show(levels[place], near[1 - place]));
    if (found) drawTies(ties, answers, levels, found, [a, b].map((model) => known.models[model].name));
  }
  show();
  return {
    page, title: `${word} in two models`, said: `${word} in ${known.models[a].name} and ${known.models[b].name}`,
    update(next) {
      if (next.name !== "compare" || next.word !== word || within(next.query.a, count, 0) !== a || within(next.query.b, count, 1) !== b || found === null) return false;
      [next.query.la, next.query.lb].forEach((asked, side) => { levels[side] = levelOf(answers[side], asked); });
      show();
      return true;
    },
  };
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
  const select = el("select", {}, known.models.map((model, place) => el("option", { value: place, selected: place === chosen }, model.name)));
  select.addEventListener("change", () => onchoose(Number(select.value)));
  return el("label", {}, el("span", {}, name), select);
}

const wordsNear = (view, cut) => new Set(cut.flatMap((number) => view.nodes[number].neighbours.map(([point]) => view.points[point][0])));

function compareSide(view, name, model, onlevel, side) {
  const box = el("section", { class: "side", "aria-label": name }, el("h2", {}, name));
  if (view instanceof Error) {
    box.append(el("p", { class: "notice" }, view.message));
    return { box, show() {} };
  }
  const bar = el("div");
  const cards = el("div", { class: "cards" });
  const control = levelControl(view, ownLevel(view), onlevel, `level-${side}`);
  box.append(el("p", { class: "facts" }, `${several(view.count, "use", "uses")} · rank ${grouped(view.rank)}`), bar, control.box, cards);
  return {
    box,
    show(level, also) {
      const cut = cutOf(view, level);
      control.show(level);
      bar.replaceChildren(shareBar(view, cut, (number) => focusCard(cards, number)));
      cards.replaceChildren(...byShare(view, cut).map((number) => senseCard(view, level, number, { model, also, heading: "h3" })));
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
  const sense = (side, number) => {
    const view = views[side];
    return el("span", { class: "tie-sense" }, badge(view.nodes[number].colour, number), ofModel(titleOf(view, levels[side], number).text || `sense ${number}`), el("span", { class: "figure" }, percent(view.nodes[number].share)));
  };
  const rows = pairs.map(([mine, theirs, value]) => el("tr", {}, el("td", {}, sense(0, mine)), el("td", { class: "bar-cell" }, wide(el("span", { class: "bar", "aria-hidden": "true" }), value), el("span", { class: "figure" }, value.toFixed(2))), el("td", {}, sense(1, theirs))));
  for (const [side, cut] of cuts.entries()) {
    for (const number of byShare(views[side], cut).filter((one) => !pairs.some((pair) => pair[side] === one))) {
      const none = el("td", { class: "none" }, "no match");
      const empty = el("td", { class: "none" }, "–");
      rows.push(el("tr", {}, side === 0 ? [el("td", {}, sense(0, number)), none, empty] : [empty, none, el("td", {}, sense(1, number))]));
    }
  }
  box.replaceChildren(el("h2", {}, "Senses that match"), el("table", { class: "bars tie-table" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, names[0]), el("th", { scope: "col" }, "how alike"), el("th", { scope: "col" }, names[1]))), el("tbody", {}, rows)),
    el("p", { class: "note" }, `Vectors of two models cannot be compared, but how near they are to ${grouped(found.anchors)} words that both know can: 1.00 is the same, 0 has nothing to do with it. Framed words in the cards are near the word in both.`));
}
