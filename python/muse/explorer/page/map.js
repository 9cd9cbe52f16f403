// Marks of senses (a shape, a colour and a number each) and the map of a word's neighbours.

const COLOURS = 8;
const SHAPES = [
  (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,  // circle
  (r) => polygon(4, r * 1.2, Math.PI / 4),  // square
  (r) => polygon(3, r * 1.55, -Math.PI / 2),  // triangle
  (r) => polygon(4, r * 1.25, 0),  // diamond
  (r) => polygon(3, r * 1.55, Math.PI / 2),  // triangle that points down
  (r) => polygon(6, r * 1.12, 0),  // hexagon
  (r) => polygon(5, r * 1.2, -Math.PI / 2),  // pentagon
];

function polygon(corners, r, turn) {
  const points = Array.from({ length: corners }, (_, at) => turn + (2 * Math.PI * at) / corners);
  const places = points.map((angle) => `${(r * Math.cos(angle)).toFixed(2)} ${(r * Math.sin(angle)).toFixed(2)}`);
  return `M${places.join("L")}z`;
}

const colourClass = (colour) => `c${colour % COLOURS}`;
const shapePath = (colour, r) => SHAPES[colour % SHAPES.length](r);

/** The number in the middle of a mark; triangles have theirs off the middle, and little room. */
function markNumber(colour, number, size = 11.5) {
  const shape = colour % SHAPES.length;
  const down = shape === 2 ? 0.55 : shape === 4 ? 0.2 : 0.36;
  const letters = (shape === 2 || shape === 4 ? 0.85 : 1) * size * (number > 9 ? 0.85 : 1);
  return svg(
    "text",
    { class: "mark-number", "text-anchor": "middle", y: (down * size).toFixed(1), "font-size": letters.toFixed(1) },
    String(number),
  );
}

/** The mark of a sense in text: its shape and colour, with its number inside. */
function badge(colour, number) {
  return svg("svg", { class: `badge ${colourClass(colour)}`, viewBox: "-14 -14 28 28", "aria-hidden": "true" },
    svg("path", { class: "mark", d: shapePath(colour, 10.5) }), markNumber(colour, number));
}

/** The node of a cut that each point is nearest to. */
function nearestOf(view, cut) {
  return view.near.map(
    (cosines) => cut.reduce((best, number) => (cosines[number] > cosines[best] ? number : best), cut[0])
  );
}

/** Which points a cut shows: of each node the nearest and those that set it apart; what labels are for comes first. */
function shownPoints(view, cut) {
  const each = Math.max(4, Math.min(12, Math.round(44 / cut.length)));
  const lists = cut.map((number) => {
    const apart = tellingPoints(view, cut, number).slice(0, each);
    return [...apart, ...view.nodes[number].neighbours.slice(0, each)].map(([point]) => point);
  });
  const turns = Array.from({ length: 2 * each }, (_, at) => lists.map((list) => list[at]));
  return [...new Set(turns.flat())].filter((point) => point !== undefined);
}

/** Draw the map of a cut into `holder`. */
function drawMap(holder, view, cut, onword) {
  const width = Math.max(280, holder.clientWidth);
  const height = Math.round(Math.min(560, Math.max(340, width * 0.8)));
  const points = shownPoints(view, cut);
  const nearest = nearestOf(view, cut);
  const [x, y] = scales(view, cut, points, width, height);
  const drawing = svg(
    "svg",
    {
      class: "map",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": mapInWords(view, cut),
    },
  );
  holder.replaceChildren(drawing);  // so that text can be measured
  const marks = svg("g");
  const words = svg("g");
  drawing.append(marks, words);
  const taken = [];
  for (const number of cut) {
    const node = view.nodes[number];
    taken.push(boxAround(x(node.x), y(node.y), 12));
  }
  for (const point of points) taken.push(boxAround(x(view.points[point][2]), y(view.points[point][3]), 4));
  for (const point of points) {
    const [word, , px, py] = view.points[point];
    const node = view.nodes[nearest[point]];
    const mark = svg("path", { class: "mark", transform: moved(x(px), y(py)), d: shapePath(node.colour, 4) });
    const label = svg("text", { class: "map-word" }, visible(word));
    const look = { class: `point ${colourClass(node.colour)}`, "data-sense": nearest[point] };
    marks.append(svg("g", { ...look, onclick: () => onword(word) }, svg("title", {}, visible(word)), mark, label));
    if (!placed(label, x(px), y(py), taken, width, height)) label.remove();
  }
  for (const number of cut) words.append(centre(view.nodes[number], x(view.nodes[number].x), y(view.nodes[number].y)));
  return drawing;
}

/** The mark of a node in a drawing. */
function centre(node, x, y, r = 10.5, letters = 11.5) {
  return svg(
    "g",
    { class: `centre ${colourClass(node.colour)}`, "data-sense": node.number, transform: moved(x, y) },
    svg("path", { class: "mark", d: shapePath(node.colour, r) }),
    markNumber(node.colour, node.number, letters),
  );
}

/** From the plane of the principal components to the drawing: all that is shown fills it, both axes to one scale. */
function scales(view, cut, points, width, height) {
  const xs = [...points.map((point) => view.points[point][2]), ...cut.map((number) => view.nodes[number].x)];
  const ys = [...points.map((point) => view.points[point][3]), ...cut.map((number) => view.nodes[number].y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const side = Math.min(60, width * 0.1);
  const per = [(width - 2 * side) / Math.max(right - left, 0.2), (height - 50) / Math.max(high - low, 0.2)];
  const scale = per.map((one) => Math.min(one, 1.8 * Math.min(...per)));  // not too far from one scale
  return [
    (value) => width / 2 + (value - (left + right) / 2) * scale[0],
    (value) => height / 2 - (value - (low + high) / 2) * scale[1],
  ];
}

const moved = (x, y) => `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
const boxAround = (x, y, r) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r });
const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Put a label beside its point where nothing else is; false where there is no room. */
function placed(label, x, y, taken, width, height) {
  const length = label.getComputedTextLength();
  const [up, down] = [9, 3];  // of the letters
  const places = [
    [7, 4],
    [-7 - length, 4],
    [-length / 2, -8],
    [-length / 2, 16],
    [6, -6],
    [6, 13],
    [-6 - length, -6],
    [-6 - length, 13],
  ];
  for (const [dx, dy] of places) {
    const box = { left: x + dx - 1, right: x + dx + length + 1, top: y + dy - up, bottom: y + dy + down };
    if (box.left < 2 || box.right > width - 2 || box.top < 2 || box.bottom > height - 2) continue;
    if (taken.some((other) => overlap(box, other))) continue;
    taken.push(box);
    label.setAttribute("x", (x + dx).toFixed(1));
    label.setAttribute("y", (y + dy).toFixed(1));
    return true;
  }
  return false;
}

function mapInWords(view, cut) {
  const parts = cut.map((number) => {
    const near = view.nodes[number].neighbours.slice(0, 4).map(([point]) => view.points[point][0]);
    return `${view.word} ${number} near ${near.join(", ")}`;
  });
  return `Map of the nearest words of ${view.word}, by sense: ${parts.join("; ")}. The cards hold the same words.`;
}
