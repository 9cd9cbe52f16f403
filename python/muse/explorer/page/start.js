// The first page: what the models are, and words to begin with.

async function startView(route) {
  const known = await source.info();
  const { model } = route;
  const page = el("div", { class: "start-view" },
    el("div", { class: "hero" }, el("h1", { tabindex: "-1" }, "What does a word mean?"),
      el("p", { class: "lead" }, inside ? "The senses of some words, as a model found them in text." : "Look up a word, or type a sentence, to see the senses that a model found in text.")),
    el("section", { "aria-labelledby": "begin" }, el("h2", { id: "begin" }, inside ? "Words of this file" : "Words with several clear senses"),
      el("ul", { class: "chips large" }, known.start.map((word) => el("li", {}, el("a", { class: "chip", href: address("word", word, { model }) }, ofModel(word)))))),
    el("section", { "aria-labelledby": "models" }, el("h2", { id: "models" }, known.models.length > 1 ? "Models" : "Model"),
      el("div", { class: "table-box", role: "group", "aria-label": "Table of models", tabindex: "0" }, el("table", { class: "facts-table" },
        el("thead", {}, el("tr", {}, ["name", "words", "senses", "tokens of text", "dimension", "sense trees"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, known.models.map((one) => el("tr", {}, el("th", { scope: "row" }, ofModel(one.name)), [one.words, one.senses, one.tokens, one.dimension].map((count) => el("td", {}, grouped(count))), el("td", {}, one.trees ? "yes" : "no"))))))),
    el("section", { "aria-labelledby": "keys" }, el("h2", { id: "keys" }, "Keys"),
      el("p", { class: "keys" }, el("kbd", {}, "/"), " looks up a word, ", el("kbd", {}, "↓"), " and ", el("kbd", {}, "↑"), " go through the suggestions, ", el("kbd", {}, "Enter"), " opens one; arrow keys on the slider make more or fewer senses. Each view has an address of its own, so back and forward work.")));
  return { page, title: "", said: "First page", update: () => false };
}
