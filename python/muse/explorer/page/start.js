// The first page: what the models are, and words to begin with.

async function startView(route) {
  const known = await source.info();
  const lead = inside
    ? "The senses of some words, as a model found them in text."
    : "Look up a word, or type a sentence, to see the senses that a model found in text.";
  const page = el(
    "div",
    { class: "start-view" },
    el(
      "div",
      { class: "hero" },
      el("h1", { tabindex: "-1" }, "What does a word mean?"),
      el("p", { class: "lead" }, lead),
    ),
    part("begin", inside ? "Words of this file" : "Words with several clear senses", wordChips(known.start, (word) => (
      address("word", word, { model: route.model })
    ))),
    part("models", known.models.length > 1 ? "Models" : "Model", modelTable(known.models)),
    part("keys", "Keys", keysInWords()),
  );
  return { page, title: "", said: "First page", update: () => false };
}

function part(id, title, content) {
  return el("section", { "aria-labelledby": id }, el("h2", { id }, title), content);
}

function wordChips(words, to) {
  const links = words.map((word) => el("li", {}, el("a", { class: "chip", href: to(word) }, ofModel(word))));
  return el("ul", { class: "chips large" }, links);
}

function modelTable(models) {
  const names = ["name", "words", "senses", "tokens of text", "dimension", "sense trees"];
  const rows = models.map((model) => el(
    "tr",
    {},
    el("th", { scope: "row" }, ofModel(model.name)),
    [model.words, model.senses, model.tokens, model.dimension].map((count) => el("td", {}, grouped(count))),
    el("td", {}, model.trees ? "yes" : "no"),
  ));
  const head = el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)));
  return el(
    "div",
    { class: "table-box", role: "group", "aria-label": "Table of models", tabindex: "0" },
    el("table", { class: "facts-table" }, el("thead", {}, head), el("tbody", {}, rows)),
  );
}

function keysInWords() {
  const key = (name) => el("kbd", {}, name);
  return el(
    "p",
    { class: "keys" },
    [key("/"), " looks up a word, ", key("↓"), " and ", key("↑"), " go through the suggestions, ", key("Enter")],
    " opens one; arrow keys on the slider make more or fewer senses. Each view has an address of its own, so back and ",
    "forward work.",
  );
}
