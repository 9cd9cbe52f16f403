// Slices of time: which words changed, and the shares and uses of a word's senses in each slice.

async function changeView(route) {
  const known = await source.info();
  const { word, model } = route;
  if (!known.models[model].slices.length) {
    return { page: noSlices(), title: "Over time", said: "No slices of time", update: () => false };
  }
  if (word === null) return changedWords(await source.change(model), model);
  const [view, over] = await Promise.all([source.word(word, model), source.over(word, model)]);
  const level = ownLevel(view);
  const page = el(
    "div",
    { class: "change-view" },
    el("h1", { tabindex: "-1" }, ofModel(view.word), el("span", { class: "light" }, " over time")),
    el(
      "section",
      { class: "panel", "aria-labelledby": "shares" },
      el("h2", { id: "shares" }, "Shares of its senses"),
      drawShares(view, over),
      shareTable(view, over),
      el(
        "p",
        { class: "note" },
        "Shares are of the uses in each slice, with what the selector errs by allowed for; behind them stand their "
          + "95% intervals. They grow with the number of uses, not with the number of texts that agree.",
      ),
    ),
    view.own.length ? byShare(view, view.own).map((number) => senseOverTime(view, level, number, over, model)) : null,
  );
  return { page, title: `${view.word} over time`, said: `${view.word} over time`, update: () => false };
}

function noSlices() {
  return el("div", { class: "notice" }, el("h1", { tabindex: "-1" }, "Senses over time"),
    el("p", {}, "The explorer was opened with a model without slices of time. Make one with its slices:"),
    el("pre", {}, el("code", {}, "muse change 1900s.txt 2000s.txt --save model.safetensors\n"
      + "muse explore model.safetensors --slices")));
}

const probability = (p) => (p < 0.001 ? p.toExponential(0) : p.toFixed(3));

function changedWords(found, model) {
  const link = (word) => (source.holds(word, model)
    ? el("a", { href: address("change", word, { model }) }, ofModel(word))
    : ofModel(word));
  const heads = (names) => el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name))));
  const figures = (values) => values.map((value) => el("td", { class: "figure" }, value));
  const rows = found.rows.map((row) => el(
    "tr",
    {},
    el("th", { scope: "row" }, link(row.word)),
    figures([row.excess.toFixed(3), probability(row.p), probability(row.q)]),
    el("td", {}, row.changed ? "yes" : "no"),
    figures([grouped(row.uses_before), grouped(row.uses_after)]),
  ));
  const senseRows = (senses) => senses.map((row) => el(
    "tr",
    {},
    el("th", { scope: "row" }, link(row.sense.replace(/#\d+$/, "")), el("span", { class: "key" }, ` ${row.sense}`)),
    figures([percent(row.before), percent(row.after), probability(row.q)]),
    el("td", {}, ofModel(row.near)),
  ));
  const [before, after] = found.between;
  const box = (label, names, body) => el(
    "div",
    { class: "table-box", role: "group", "aria-label": label, tabindex: "0" },
    el("table", { class: "facts-table" }, heads(names), el("tbody", {}, body)),
  );
  const senses = (id, title, list, from, to) => (list.length
    ? part(id, title, box(title, ["sense", from, to, "q", "near"], senseRows(list)))
    : null);
  const page = el(
    "div",
    { class: "change-view" },
    el("h1", { tabindex: "-1" }, "Words that changed"),
    el(
      "p",
      { class: "lead" },
      `${grouped(found.called)} of ${several(found.ranked, "word is", "words are")} called changed from `,
      ofModel(before),
      " to ",
      ofModel(after),
      ", at a rate of false discoveries of 5%.",
    ),
    found.rows.length ? part("ranked", "The most changed", box(
      "Words by change",
      ["word", "change beyond chance", "p", "q", "called changed", `uses in ${before}`, `uses in ${after}`],
      rows,
    )) : null,
    senses("new", "Senses that came", found.new, before, after),
    senses("lost", "Senses that went", found.lost, after, before),
  );
  return { page, title: "Over time", said: "Words that changed", update: () => false };
}

const CHART = { width: 640, height: 300, left: 44, right: 24, top: 14, bottom: 30 };

/** Lines of the shares with their intervals; what they show stands in the table below. */
function drawShares(view, over) {
  const { width, height, left, right, top, bottom } = CHART;
  const count = over.slices.length;
  const x = (place) => left + (width - left - right) * (count > 1 ? place / (count - 1) : 0.5);
  const y = (share) => top + (height - top - bottom) * (1 - share);
  const at = (place, share) => `${x(place).toFixed(1)} ${y(share).toFixed(1)}`;
  const drawing = svg("svg", { class: "over", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Shares of the senses of ${view.word} in ${several(count, "slice", "slices")}` });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) drawing.append(
    svg("path", { class: "grid", d: `M${at(0, share)}H${(width - right).toFixed(1)}` }),
    svg("text", { x: left - 8, y: (y(share) + 4).toFixed(1), "text-anchor": "end" }, percent(share)),
  );
  over.slices.forEach((slice, place) => drawing.append(
    svg("text", { x: x(place).toFixed(1), y: height - 8, "text-anchor": "middle" }, visible(slice.name)),
  ));
  for (const number of view.own) {
    const points = over.slices.map((slice, place) => ({ place, ...slice.senses[number] })).filter(
      (point) => point.share !== null && point.share !== undefined
    );
    if (!points.length) continue;
    const band = [...points.map((point) => at(point.place, point.high)),
      ...[...points].reverse().map((point) => at(point.place, point.low))];
    const colour = view.nodes[number].colour;
    drawing.append(svg(
      "g",
      { class: `line ${colourClass(colour)}` },
      svg("path", { class: "band", d: `M${band.join("L")}z` }),
      svg("path", { class: "shares", d: `M${points.map((point) => at(point.place, point.share)).join("L")}` }),
      points.map((point) => svg("path", { class: "mark", d: shapePath(colour, 5),
        transform: `translate(${at(point.place, point.share)})` })),
    ));
  }
  return drawing;
}

function shareTable(view, over) {
  const head = el("tr", {}, el("th", { scope: "col" }, "sense"), over.slices.map(
    (slice) => el("th", { scope: "col" }, ofModel(slice.name), ` (${several(slice.uses, "use", "uses")})`)
  ));
  const rows = byShare(view, view.own).map((number) => el(
    "tr",
    {},
    el("th", { scope: "row" }, tieSense(view, ownLevel(view), number)),
    over.slices.map((slice) => el("td", { class: "figure" }, shareInWords(slice.senses[number]))),
  ));
  return el(
    "div",
    { class: "table-box", role: "group", "aria-label": "Table of shares", tabindex: "0" },
    el("table", { class: "facts-table" }, el("thead", {}, head), el("tbody", {}, rows)),
  );
}

function shareInWords(sense) {
  if (sense.share === null) return "–";
  return `${percent(sense.share)} (${percent(sense.low)} to ${percent(sense.high)})`;
}

/** The uses of a sense, slice beside slice. */
function senseOverTime(view, level, number, over, model) {
  const id = `over-${number}`;
  const title = titleOf(view, level, number).text || `sense ${number}`;
  const columns = over.slices.map((slice) => {
    const sense = slice.senses[number];
    const texts = sense.texts;
    const uses = texts && texts.map(([before, word, after]) => el("li", {}, el(
      "span",
      { class: "use" },
      before ? [ofModel(before), " "] : "",
      el("mark", {}, ofModel(word)),
      after ? [" ", ofModel(after)] : "",
    )));
    const none = texts ? "No use of this sense." : "The text of this slice is not at hand.";
    return el(
      "div",
      { class: "side" },
      el("h3", {}, ofModel(slice.name), el("span", { class: "light" }, ` ${shareInWords(sense)}`)),
      uses && uses.length ? el("ol", { class: "uses" }, uses) : el("p", { class: "no-uses" }, none),
    );
  });
  return el(
    "article",
    { class: `card ${colourClass(view.nodes[number].colour)}`, "aria-labelledby": id },
    el(
      "header",
      { class: "card-head" },
      badge(view.nodes[number].colour, number),
      el("div", { class: "card-title" }, el("h2", { id }, ofModel(title)),
        el("p", { class: "key" }, ofModel(`${view.word}#${number}`))),
    ),
    neighbourList(view, view.nodes[number].neighbours.slice(0, NEAREST), model, null, "Nearest words"),
    el("div", { class: "two" }, columns),
  );
}
