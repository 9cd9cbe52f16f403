// Small tools: elements, numbers, what is said to screen readers. Text is always set as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; a function as the value of `onclick` and the like becomes a listener. */
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const byId = (id) => document.getElementById(id);

/** Text of the model, whose direction is its own. Odd words are shown so that one sees them. */
function ofModel(text, attributes = {}) {
  return el("bdi", { dir: "auto", ...attributes }, visible(text));
}

function visible(text) {
  if (text === "") return "“”";
  return text.replace(
    /[\u0000-\u001f\u007f]/g,
    (letter) => String.fromCodePoint(0x2400 + (letter === "\u007f" ? 0x21 : letter.codePointAt(0))),
  );
}

const grouped = (number) => number.toLocaleString("en");

function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share > 0.995) return ">99%";
  return `${Math.round(100 * share)}%`;
}

const several = (count, one, more) => `${grouped(count)} ${count === 1 ? one : more}`;

/** Tell a screen reader, politely. */
function announce(text) {
  byId("live").textContent = text;
}

/** A width that is a share of the whole; a style that the policy of the page lets scripts set. */
function wide(node, share) {
  node.style.setProperty("--part", `${Math.max(0, Math.min(1, share)) * 100}%`);
  return node;
}

function icon(path) {
  return svg("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: path }));
}

const failed = (error, near = []) => Object.assign(new Error(error), { near });

/** What to say where something went wrong, with words to go on with. */
function problem(error, model) {
  const box = el(
    "section",
    { class: "notice", role: "alert" },
    el("h1", { tabindex: "-1" }, "Nothing to show"),
    el("p", {}, error.message),
  );
  if (error.near && error.near.length) {
    const links = error.near.map(
      (word) => el("li", {}, el("a", { class: "chip", href: address("word", word, { model }) }, ofModel(word)))
    );
    box.append(el("p", {}, "Words that look like it:"), el("ul", { class: "chips" }, links));
  }
  return box;
}
