// The sense tree as a drawing: joins further left are wider; a line shows where the cut goes through.

function drawTree(holder, view, cut, labels, onlevel) {
  if (view.root === null || view.nodes.length < 2) return holder.replaceChildren();
  const width = Math.max(280, holder.clientWidth);
  const leaves = leavesOf(view, view.root);
  const row = 22;
  const height = leaves.length * row + 12;
  const stem = Math.min(width * 0.42, 230);
  const widest = Math.max(...view.nodes.map((node) => node.strength), 1e-6);
  const x = (node) => (node.parts.length ? 10 + (stem - 10) * (1 - node.strength / (1.04 * widest)) : stem);
  const places = new Map(leaves.map((number, at) => [number, 10 + row * at + row / 2]));
  const drawing = svg("svg", { class: "tree", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": treeInWords(view, cut) });
  const owner = new Map();
  for (const number of cut) for (const part of everyPart(view, number)) owner.set(part, number);

  const place = (number) => {
    const node = view.nodes[number];
    if (!places.has(number)) places.set(number, node.parts.map(place).reduce((sum, y) => sum + y, 0) / node.parts.length);
    return places.get(number);
  };
  place(view.root);
  for (const node of view.nodes) {
    if (!node.parts.length) continue;
    const mine = owner.has(node.number) ? ` inside ${colourClass(view.nodes[owner.get(node.number)].colour)}` : "";
    const level = levelThatUndoes(view, node.number);
    const lines = svg("g", { class: `join${mine}`, onclick: level ? () => onlevel(level) : null },
      svg("title", {}, `joined at ${node.strength.toFixed(2)}; ${percent(node.share)} of the uses`));
    const ys = node.parts.map((part) => places.get(part));
    lines.append(svg("path", { d: `M${x(node)} ${Math.min(...ys)}V${Math.max(...ys)}` }));
    for (const part of node.parts) {
      const below = view.nodes[part];
      const theirs = owner.has(part) ? ` inside ${colourClass(view.nodes[owner.get(part)].colour)}` : "";
      lines.append(svg("path", { class: `arm${theirs}`, d: `M${x(node)} ${places.get(part)}H${Math.max(x(below), x(node))}` }));
    }
    drawing.append(lines);
  }
  for (const number of cut) {
    const node = view.nodes[number];
    drawing.append(svg("g", { class: `centre ${colourClass(node.colour)}`, transform: `translate(${x(node)} ${places.get(number)})` },
      svg("path", { class: "mark", d: shapePath(node.colour, 8) }), markNumber(node.colour, number, 9.5)));
  }
  holder.replaceChildren(drawing);
  for (const number of leaves) {
    const node = view.nodes[number];
    const apart = tellingPoints(view, leaves, number);
    const near = [...apart, ...node.neighbours].slice(0, 6).map(([point]) => visible(view.points[point][0]));
    const text = svg("text", { class: "leaf", x: stem + 14, y: places.get(number) + 4 }, svg("tspan", { class: "leaf-share" }, percent(node.share)));
    const words = svg("tspan", { dx: 8 }, near.join(", "));
    text.append(words);
    drawing.append(text);
    while (near.length > 1 && stem + 14 + text.getComputedTextLength() + 20 > width) {
      near.pop();
      words.textContent = near.join(", ");
    }
  }
  return drawing;
}

function leavesOf(view, number) {
  const { parts } = view.nodes[number];
  return parts.length ? parts.flatMap((part) => leavesOf(view, part)) : [number];
}

function everyPart(view, number) {
  return [number, ...view.nodes[number].parts.flatMap((part) => everyPart(view, part))];
}

/** The first number of senses with which a node is not one of them, but its parts are; 0, if the slider ends before. */
function levelThatUndoes(view, number) {
  const [part] = view.nodes[number].parts;
  return view.cuts.findIndex((cut) => cut.includes(part)) + 1;
}

function treeInWords(view, cut) {
  return `Sense tree of ${view.word}: ${several(leavesOf(view, view.root).length, "finest sense", "finest senses")}, joined step by step, here cut into ${cut.length}. The slider above moves the cut.`;
}
