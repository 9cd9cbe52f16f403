// The view of a sentence: the sense of each word, how sure it is, and which other words decide it.

async function sentenceView(route) {
  const { model } = route;
  const known = await source.info();
  let text = "";
  let at = null;
  const field = el("textarea", { id: "sentence", rows: 2, maxlength: 2000, dir: "auto", placeholder: "She sat on the bank of the river", spellcheck: "false", readonly: Boolean(inside) });
  const form = el("form", { class: "sentence-form" }, el("label", { for: "sentence" }, inside ? "Sentence" : "Type a sentence"), field,
    inside ? null : el("button", { type: "submit", class: "main" }, "Show its senses"));
  const tokens = el("ol", { class: "tokens", "aria-label": "Words of the sentence" });
  const detail = el("section", { class: "detail", "aria-label": "The chosen word" });
  const samples = examples(known, model);
  const page = el("div", { class: "sentence-view" }, el("h1", { tabindex: "-1" }, "Senses in a sentence"), form, samples, tokens, detail);
  let tagged = null;

  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); ask(); }
  });
  function ask() {
    if (field.value.trim()) go(address("sentence", null, { text: field.value.trim(), model }));
  }

  async function show(next) {
    const sameText = next.query.text === text;
    text = next.query.text || "";
    samples.hidden = Boolean(text) && !inside;
    if (!sameText) {
      field.value = text;
      tokens.replaceChildren();
      detail.replaceChildren();
      tagged = text ? await source.sentence(text, model) : null;
    }
    if (!tagged) return;
    at = chosenToken(tagged, next.query);
    drawTokens(tokens, tagged, at, null, (place) => go(address("sentence", null, { text, at: place, model }), true));
    if (at === null) return detail.replaceChildren(el("p", { class: "note" }, "The model knows no word of this sentence."));
    const token = tagged.tokens[at];
    const [why, view] = await Promise.all([source.reasons(text, at, model), source.word(token.word, model).catch(() => null)]);
    drawTokens(tokens, tagged, at, why, (place) => go(address("sentence", null, { text, at: place, model }), true));
    detail.replaceChildren(...explained(token, why, tagged, view, model));
    announce(`${token.text}: ${percent(why.share)} sense ${why.number}`);
  }

  await show(route);
  return {
    page, title: text ? `“${text.slice(0, 60)}”` : "Sentence", said: "Senses in a sentence",
    focus: text ? null : field,
    async update(next) {
      if (next.name !== "sentence" || next.model !== model) return false;
      const kept = document.activeElement && document.activeElement.getAttribute("data-token");
      await show(next);
      const again = kept === null ? null : tokens.querySelector(`[data-token="${kept}"]`);
      if (again) again.focus();
      return true;
    },
  };
}

function examples(known, model) {
  const ready = known.sentences.length || inside ? known.sentences : ["She sat on the bank of the river and watched the boats", "The bank raised interest rates on new loans", "Java runs on a virtual machine", "Coffee is grown on Java and Sumatra"];
  if (!ready.length) return el("p", { class: "note" }, "This file holds no sentences.");
  return el("ul", { class: "chips examples", "aria-label": inside ? "Sentences of this file" : "Examples" },
    ready.map((text) => el("li", {}, el("a", { class: "chip", href: address("sentence", null, { text, model }) }, ofModel(text)))));
}

/** The word that is asked for, or the one with the most to say: several senses, not of the most frequent words. */
function chosenToken(tagged, { at, word, nth = 0 }) {
  const { tokens } = tagged;
  const place = Number(at);
  if (at !== undefined && Number.isInteger(place) && tokens[place] && tokens[place].word !== null) return place;
  const same = tokens.map((token, order) => order).filter((order) => word !== undefined && tokens[order].word === word);
  if (same.length) return same[Number(nth)] ?? same[0];
  const said = (token) => (token.word === null ? -1 : (token.senses.length > 1 ? 2 : 0) + (token.common ? 0 : 1) + token.senses[token.best].share / 2);
  const best = tokens.map((token, at) => at).sort((a, b) => said(tokens[b]) - said(tokens[a]) || a - b)[0];
  return best === undefined || tokens[best].word === null ? null : best;
}

function drawTokens(list, tagged, at, why, onchoose) {
  const effects = new Map((why ? why.words : []).map((word) => [word.token, word.effect]));
  const most = Math.max(...[...effects.values()].map(Math.abs), 0.5);
  list.replaceChildren(...tagged.tokens.map((token, place) => {
    if (token.word === null) return el("li", {}, el("span", { class: "token unknown", title: "not in the model" }, ofModel(token.text), el("span", { class: "token-sense" }, "unknown")));
    const best = token.senses[token.best];
    const single = token.senses.length === 1;
    const button = el("button", {
      type: "button", "data-token": place, "aria-pressed": String(place === at),
      class: `token ${single ? "single" : colourClass(best.colour)}${token.common ? " common" : ""}`, onclick: () => onchoose(place),
    }, ofModel(token.text), el("span", { class: "token-sense" }, single ? "one sense" : [badge(best.colour, best.number), percent(best.share), el("span", { class: "hidden" }, ` sure of sense ${best.number}`)]));
    if (!single) wide(button, best.share);
    const effect = effects.get(place);
    if (effect !== undefined && Math.abs(effect) > 0.1) {
      const strength = Math.abs(effect) / most;
      button.append(el("span", { class: `pull ${effect > 0 ? "for" : "against"}`, "aria-hidden": "true" }, (effect > 0 ? "▲" : "▼").repeat(1 + Math.round(2 * strength))));
    }
    return el("li", {}, button);
  }));
}

function explained(token, why, tagged, view, model) {
  const level = view ? ownLevel(view) : null;
  const order = [...token.senses].sort((a, b) => b.share - a.share);
  const rows = order.map((sense) => el("tr", { class: colourClass(sense.colour) },
    el("th", { scope: "row" }, badge(sense.colour, sense.number), el("span", {}, ofModel(sense.name || (view ? titleOf(view, level, sense.number).text : "") || `${token.word}#${sense.number}`))),
    el("td", { class: "bar-cell" }, wide(el("span", { class: "bar", "aria-hidden": "true" }), sense.share)),
    el("td", { class: "figure" }, percent(sense.share))));
  const left = el("div", { class: "panel" },
    el("h2", {}, "What ", source.holds(token.word, model) ? el("a", { href: address("word", token.word, { model }) }, ofModel(token.word)) : ofModel(token.word), " means here"),
    el("table", { class: "bars" }, el("caption", { class: "hidden" }, "Probability of each sense"), el("tbody", {}, rows)),
    token.alone ? el("p", { class: "note" }, "No other word of the sentence is known, so these are the shares in the training text.") : null);
  return [left, reasonPanel(token, why, tagged)];
}

function reasonPanel(token, why, tagged) {
  const panel = el("div", { class: "panel" }, el("h2", {}, "Words that decide it"));
  const told = why.words.filter((word) => Math.abs(word.effect) >= 0.02).sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)).slice(0, 10);
  if (token.senses.length === 1) panel.append(el("p", {}, "The word has one sense, so nothing is to be decided."));
  else if (!told.length) panel.append(el("p", {}, "No single word changes the answer."));
  else {
    const most = Math.max(...told.map((word) => Math.abs(word.effect)));
    panel.append(el("table", { class: `bars effects ${colourClass(token.senses[token.best].colour)}` }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "word"), el("th", { scope: "col" }, "speaks"), el("th", { scope: "col", class: "figure" }, "without it"))),
      el("tbody", {}, told.map((word) => el("tr", {},
        el("th", { scope: "row" }, ofModel(tagged.tokens[word.token].text)),
        el("td", { class: "bar-cell" }, wide(el("span", { class: `bar ${word.effect > 0 ? "for" : "against"}`, "aria-hidden": "true" }), Math.abs(word.effect) / most),
          el("span", { class: "pull-text" }, word.effect > 0 ? "for" : "against")),
        el("td", { class: "figure" }, percent(word.without)))))));
  }
  panel.append(el("p", { class: "note" }, `With all words the model is ${percent(why.share)} sure of sense ${why.number}. Each word is left out in turn and the model asked again; two words that say the same cover for each other.`));
  return panel;
}
