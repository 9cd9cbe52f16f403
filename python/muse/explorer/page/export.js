// What is shown, to be kept: JSON, CSV, and the map as SVG.

function exportTools(what) {
  function take(make) {
    const made = make(what());
    if (!made) return;
    keep(made.name, made.type, made.text);
    announce(`${made.name} saved`);
  }
  const button = (label, kind, make) => el(
    "button",
    { type: "button", class: "quiet", "data-export": kind, onclick: () => take(make) },
    icon("M10 3v9M6 9l4 4 4-4M4 16h12"),
    label,
  );
  const tools = [button("JSON", "json", asJson), button("CSV", "csv", asCsv)];
  if (!("compare" in what())) tools.push(button("Map as SVG", "svg", asSvg));
  return el(
    "section",
    { class: "export", "aria-label": "Export" },
    el("span", { class: "export-label" }, "Export what is shown"),
    tools,
  );
}

function keep(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name.replace(/[^\p{L}\p{N}._-]+/gu, "_") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The senses of a cut as plain data. */
function plainSenses(view, level, uses) {
  return byShare(view, cutOf(view, level)).map((number) => {
    const node = view.nodes[number];
    const quoted = uses ? ((uses.cuts[placeOfCut(view, level)] || {})[number] || []) : [];
    return {
      sense: `${view.word}#${number}`, name: node.name, label: view.labels[
        placeOfCut(view, level)
      ][number], share: node.share,
      neighbours: node.neighbours.map(([point, cosine]) => (
        { word: view.points[point][0], sense: `${view.points[point][0]}#${view.points[point][1]}`, cosine }
      )),
      uses: quoted.map(([place, probability]) => (
        { before: uses.texts[place][0], word: uses.texts[place][1], after: uses.texts[place][2], probability }
      )),
    };
  });
}

function asJson({ view, level, uses, model, compare, levels, names, found }) {
  const value = compare
    ? {
      word: compare[0].word,
      models: compare.map(
        (one, side) => ({ model: names[side], count: one.count, senses: plainSenses(one, levels[side], null) })
      ),
      alike: alikePairs(compare, levels, found),
    }
    : {
      word: view.word,
      model,
      count: view.count,
      level: cutOf(view, level).length,
      senses: plainSenses(view, level, uses),
    };
  return { name: `${value.word}.json`, type: "application/json", text: `${JSON.stringify(value, null, 2)}\n` };
}

function alikePairs(views, levels, found) {
  const [mine, theirs] = views.map((view, side) => cutOf(view, levels[side]));
  return mine.flatMap((one) => theirs.map((other) => ({ first: one, second: other, alike: found.alike[one][other] })));
}

function asCsv({ view, level, uses, model, compare, levels, names }) {
  const views = compare
    ? compare.map((one, side) => [one, levels[side], null, names[side]])
    : [[view, level, uses, model]];
  const rows = [["model", "word", "sense", "name", "share", "kind", "text", "value"]];
  for (const [one, at, quoted, name] of views) {
    for (const sense of plainSenses(one, at, quoted)) {
      const begin = [name, one.word, sense.sense, sense.name || sense.label, sense.share];
      for (const near of sense.neighbours) rows.push([...begin, "neighbour", near.sense, near.cosine]);
      for (const use of sense.uses) rows.push(
        [...begin, "use", [use.before, use.word, use.after].filter(Boolean).join(" "), use.probability]
      );
    }
  }
  return {
    name: `${views[0][0].word}.csv`,
    type: "text/csv",
    text: `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`,
  };
}

/** A cell of a CSV; text that a spreadsheet would take for a formula gets an apostrophe before it. */
function cell(value) {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}

const DRAWN = [
  "fill",
  "stroke",
  "stroke-width",
  "font-family",
  "font-size",
  "font-weight",
  "opacity",
  "paint-order",
  "stroke-linejoin",
];

/** The map as a file that looks as it does here: what the style sheet says is written into its parts. */
function asSvg({ view, map }) {
  if (!map) return null;
  const copy = map.cloneNode(true);
  const [from, to] = [[map, ...map.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((part, place) => {
    const style = getComputedStyle(part);
    for (const name of DRAWN) to[place].setAttribute(name, style.getPropertyValue(name));
    to[place].removeAttribute("class");
  });
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  return { name: `${view.word}.svg`, type: "image/svg+xml", text: `${new XMLSerializer().serializeToString(copy)}\n` };
}
