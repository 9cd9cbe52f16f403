// The view of a sentence: the sense of each word, how sure it is, and which other words decide it.

const LEAST_SHOWN = 0.1;  // effect of a word that gets an arrow

async function sentenceView(route) {
  const { model } = route;
  const known = await source.info();
  const form = sentenceForm((text) => go(address("sentence", null, { text, model })));
  const tokens = el("ol", { class: "tokens", "aria-label": "Words of the sentence" });
  const detail = el("section", { class: "detail", "aria-label": "The chosen word" });
  const samples = examples(known, model);
  const head = el("h1", { tabindex: "-1" }, "Senses in a sentence");
  const page = el("div", { class: "sentence-view" }, head, form.box, samples, tokens, detail);
  let text = "";
  let tagged = null;
  let asked = 0;

  async function show(next) {
    const mine = ++asked;
    const given = next.query.text || "";
    samples.hidden = Boolean(given) && !inside;
    if (given !== text) {
      text = given;
      form.field.value = text;
      tokens.replaceChildren();
      detail.replaceChildren();
      tagged = text ? await source.sentence(text, model) : null;
      if (tagged) drawTokens(tokens, tagged, (at) => go(address("sentence", null, { text, at, model }), true));
    }
    if (tagged && mine === asked) await choose(chosenToken(tagged, next.query), mine);
  }

  async function choose(at, mine) {
    markTokens(tokens, at, null);
    if (at === null) {
      detail.replaceChildren(el("p", { class: "note" }, "The model knows no word of this sentence."));
      return;
    }
    const token = tagged.tokens[at];
    const view = source.word(token.word, model).catch(() => null);
    const why = await source.reasons(text, at, model);
    const cards = explained(token, why, tagged, await view, model);
    if (mine !== asked) return;  // another word was chosen meanwhile
    markTokens(tokens, at, why);
    detail.replaceChildren(...cards);
    announce(`${token.text}: ${percent(why.share)} sense ${why.number}`);
  }

  await show(route);
  return {
    page,
    title: text ? `“${text.slice(0, 60)}”` : "Sentence",
    said: "Senses in a sentence",
    focus: text ? null : form.field,
    async update(next) {
      if (next.name !== "sentence" || next.model !== model) return false;
      await show(next);
      return true;
    },
  };
}

function sentenceForm(onsentence) {
  const field = el("textarea", {
    id: "sentence",
    rows: 2,
    maxlength: 2000,
    dir: "auto",
    placeholder: "She sat on the bank of the river",
    spellcheck: "false",
    readonly: Boolean(inside),
  });
  const box = el(
    "form",
    { class: "sentence-form" },
    el("label", { for: "sentence" }, inside ? "Sentence" : "Type a sentence"),
    field,
    inside ? null : el("button", { type: "submit", class: "main" }, "Show its senses"),
  );
  function send(event) {
    event.preventDefault();
    if (field.value.trim()) onsentence(field.value.trim());
  }
  box.addEventListener("submit", send);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) send(event);
  });
  return { box, field };
}

function examples(known, model) {
  const ready = known.sentences.length || inside
    ? known.sentences
    : [
      "She sat on the bank of the river and watched the boats",
      "The bank raised interest rates on new loans",
      "Java runs on a virtual machine",
      "Coffee is grown on Java and Sumatra",
    ];
  if (!ready.length) return el("p", { class: "note" }, "This file holds no sentences.");
  return el(
    "ul",
    { class: "chips examples", "aria-label": inside ? "Sentences of this file" : "Examples" },
    ready.map(
      (text) => el(
        "li",
        {},
        el("a", { class: "chip", href: address("sentence", null, { text, model }) }, ofModel(text)),
      )
    ),
  );
}

/** The word that is asked for, or the one with the most to say: several senses, not of the most frequent words. */
function chosenToken(tagged, { at, word, nth = 0 }) {
  const { tokens } = tagged;
  const place = Number(at);
  if (at !== undefined && Number.isInteger(place) && tokens[place] && tokens[place].word !== null) return place;
  const same = tokens.map((token, order) => order).filter((order) => word !== undefined && tokens[order].word === word);
  if (same.length) return same[Number(nth)] ?? same[0];
  const said = (token) => (
    token.word === null
      ? -1
      : (token.senses.length > 1 ? 2 : 0) + (token.common ? 0 : 1) + token.senses[token.best].share / 2
  );
  const best = tokens.map((token, at) => at).sort((a, b) => said(tokens[b]) - said(tokens[a]) || a - b)[0];
  return best === undefined || tokens[best].word === null ? null : best;
}

/** The words of a sentence, each a button that chooses it. */
function drawTokens(list, tagged, onchoose) {
  list.replaceChildren(...tagged.tokens.map((token, place) => el(
    "li",
    {},
    token.word === null ? unknownToken(token) : tokenButton(token, place, onchoose),
  )));
}

function unknownToken(token) {
  return el(
    "span",
    { class: "token unknown", title: "not in the model" },
    ofModel(token.text),
    el("span", { class: "token-sense" }, "unknown"),
  );
}

function tokenButton(token, place, onchoose) {
  const best = token.senses[token.best];
  const single = token.senses.length === 1;
  const look = `${single ? "single" : colourClass(best.colour)}${token.common ? " common" : ""}`;
  const sure = el("span", { class: "hidden" }, ` sure of sense ${best.number}`);
  return el(
    "button",
    { type: "button", class: `token ${look}`, "data-token": place, onclick: () => onchoose(place) },
    ofModel(token.text),
    el(
      "span",
      { class: "token-sense" },
      single ? "one sense" : [badge(best.colour, best.number), percent(best.share), sure],
    ),
  );
}

/** Which word is chosen, and, where it is known already, what speaks for its sense and what against it. */
function markTokens(list, at, why) {
  const effects = new Map((why ? why.words : []).map((word) => [String(word.token), word.effect]));
  const most = Math.max(...[...effects.values()].map(Math.abs), 0.5);
  for (const button of list.querySelectorAll("button")) {
    const token = button.getAttribute("data-token");
    const effect = effects.get(token) ?? 0;
    button.setAttribute("aria-pressed", String(token === String(at)));
    for (const old of button.querySelectorAll(".pull")) old.remove();
    if (Math.abs(effect) <= LEAST_SHOWN) continue;
    const arrows = (effect > 0 ? "▲" : "▼").repeat(1 + Math.round((2 * Math.abs(effect)) / most));
    button.append(el("span", { class: `pull ${effect > 0 ? "for" : "against"}`, "aria-hidden": "true" }, arrows));
  }
}

function explained(token, why, tagged, view, model) {
  const level = view ? ownLevel(view) : null;
  const order = [...token.senses].sort((a, b) => b.share - a.share);
  const rows = order.map((sense) => el(
    "tr",
    { class: colourClass(sense.colour) },
    el(
      "th",
      { scope: "row" },
      badge(sense.colour, sense.number),
      el(
        "span",
        {},
        ofModel(sense.name || (view ? titleOf(view, level, sense.number).text : "") || `${token.word}#${sense.number}`),
      ),
    ),
    el("td", { class: "bar-cell" }, wide(el("span", { class: "bar", "aria-hidden": "true" }), sense.share)),
    el("td", { class: "figure" }, percent(sense.share)),
  ));
  const left = el(
    "div",
    { class: "panel" },
    el(
      "h2",
      {},
      "What ",
      source.holds(token.word, model)
        ? el("a", { href: address("word", token.word, { model }) }, ofModel(token.word))
        : ofModel(token.word),
      " means here",
    ),
    el(
      "table",
      { class: "bars" },
      el("caption", { class: "hidden" }, "Probability of each sense"),
      el("tbody", {}, rows),
    ),
    token.alone
      ? el(
        "p",
        { class: "note" },
        "No other word of the sentence is known, so these are the shares in the training text.",
      )
      : null,
  );
  return [left, reasonPanel(token, why, tagged)];
}

function reasonPanel(token, why, tagged) {
  const panel = el("div", { class: "panel" }, el("h2", {}, "Words that decide it"));
  const told = why.words.filter((word) => Math.abs(word.effect) >= 0.02).sort(
    (a, b) => Math.abs(b.effect) - Math.abs(a.effect)
  ).slice(0, 10);
  if (token.senses.length === 1) panel.append(el("p", {}, "The word has one sense, so nothing is to be decided."));
  else if (!told.length) panel.append(el("p", {}, "No single word changes the answer."));
  else {
    const most = Math.max(...told.map((word) => Math.abs(word.effect)));
    panel.append(el(
      "table",
      { class: `bars effects ${colourClass(token.senses[token.best].colour)}` },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, "word"),
          el("th", { scope: "col" }, "speaks"),
          el("th", { scope: "col", class: "figure" }, "without it"),
        ),
      ),
      el(
        "tbody",
        {},
        told.map((word) => el(
          "tr",
          {},
          el("th", { scope: "row" }, ofModel(tagged.tokens[word.token].text)),
          el(
            "td",
            { class: "bar-cell" },
            wide(
              el("span", { class: `bar ${word.effect > 0 ? "for" : "against"}`, "aria-hidden": "true" }),
              Math.abs(word.effect) / most,
            ),
            el("span", { class: "pull-text" }, word.effect > 0 ? "for" : "against"),
          ),
          el("td", { class: "figure" }, percent(word.without)),
        )),
      ),
    ));
  }
  panel.append(el(
    "p",
    { class: "note" },
    `With all words the model is ${percent(why.share)} sure of sense ${why.number}. Each word is left out in turn and `
      + "the model asked again; two words that say the same cover for each other.",
  ));
  return panel;
}
