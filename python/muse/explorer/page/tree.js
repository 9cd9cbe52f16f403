// The sense tree as a drawing: joins further left are wider; a line shows where the cut goes through.

const ROW = 22;

function drawTree(holder, view, cut, onlevel) {
  if (view.root === null || view.nodes.length < 2) return holder.replaceChildren();
  const width = Math.max(280, holder.clientWidth);
  const leaves = leavesOf(view, view.root);
  const height = leaves.length * ROW + 12;
  const stem = Math.min(width * 0.42, 230);
  const widest = Math.max(...view.nodes.map((node) => node.strength), 1e-6);
  const x = (node) => (node.parts.length ? 10 + (stem - 10) * (1 - node.strength / (1.04 * widest)) : stem);
  const places = heights(view, leaves);
  const drawing = svg("svg", {
    class: "tree",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": treeInWords(view, cut),
  });
  const look = looks(view, cut);
  for (const node of view.nodes) if (node.parts.length) drawing.append(joinLines(view, node, x, places, look, onlevel));
  for (const node of cut.map((number) => view.nodes[number])) {
    drawing.append(centre(node, x(node), places.get(node.number), 8, 9.5));
  }
  holder.replaceChildren(drawing);  // so that text can be measured
  for (const number of leaves) leafText(drawing, view, leaves, number, stem + 14, places.get(number) + 4, width);
  return drawing;
}

/** How far down each node is: the finest senses one below the other, a join in the middle of its parts. */
function heights(view, leaves) {
  const places = new Map(leaves.map((number, at) => [number, 10 + ROW * at + ROW / 2]));
  function place(number) {
    const { parts } = view.nodes[number];
    if (!places.has(number)) places.set(number, parts.map(place).reduce((sum, y) => sum + y, 0) / parts.length);
    return places.get(number);
  }
  place(view.root);
  return places;
}

/** The class of lines that are inside a sense of the cut. */
function looks(view, cut) {
  const found = new Map();
  for (const number of cut) {
    for (const part of everyPart(view, number)) found.set(part, ` inside ${colourClass(view.nodes[number].colour)}`);
  }
  return (number) => found.get(number) || "";
}

function joinLines(view, node, x, places, look, onlevel) {
  const level = levelThatUndoes(view, node.number);
  const ys = node.parts.map((part) => places.get(part));
  const arms = node.parts.map((part) => svg("path", {
    class: `arm${look(part)}`,
    d: `M${x(node)} ${places.get(part)}H${Math.max(x(view.nodes[part]), x(node))}`,
  }));
  return svg(
    "g",
    { class: `join${look(node.number)}`, onclick: level ? () => onlevel(level) : null },
    svg("title", {}, `joined at ${node.strength.toFixed(2)}; ${percent(node.share)} of the uses`),
    svg("path", { d: `M${x(node)} ${Math.min(...ys)}V${Math.max(...ys)}` }),
    arms,
  );
}

/** Share and nearest words of a finest sense, as many as there is room for. */
function leafText(drawing, view, leaves, number, x, y, width) {
  const node = view.nodes[number];
  const apart = tellingPoints(view, leaves, number);
  const listed = [...apart, ...node.neighbours].map(([point]) => visible(view.points[point][0]));
  const near = [...new Set(listed)].slice(0, 6);
  const words = svg("tspan", { dx: 8 }, near.join(", "));
  const text = svg("text", { class: "leaf", x, y }, svg("tspan", { class: "leaf-share" }, percent(node.share)), words);
  drawing.append(text);
  while (near.length > 1 && x + text.getComputedTextLength() + 20 > width) {
    near.pop();
    words.textContent = near.join(", ");
  }
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
  const leaves = several(leavesOf(view, view.root).length, "finest sense", "finest senses");
  return `Sense tree of ${view.word}: ${leaves}, joined one by one, cut into ${cut.length}. The slider moves the cut.`;
}
