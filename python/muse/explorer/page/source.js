// Where answers come from: the server, or, in a page that is one file, the data inside it.

const inside = (() => {
  const data = byId("data");
  return data ? JSON.parse(data.textContent) : null;
})();

const remembered = new Map();
const REMEMBERED = 200;

async function ask(path, query) {
  const url = `api/${path}?${new URLSearchParams(query)}`;
  if (remembered.has(url)) return remembered.get(url);
  let answer;
  try {
    answer = await fetch(url, { credentials: "omit" });
  } catch {
    throw failed("The explorer does not answer: it may have been stopped. Start it again, and reload this page.");
  }
  const value = await answer.json();
  if (!answer.ok) throw failed(sentenceCase(value.error), value.near);
  if (remembered.size >= REMEMBERED) remembered.delete(remembered.keys().next().value);
  remembered.set(url, value);
  return value;
}

const sentenceCase = (text) => (text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".") : "");

/** What the file holds under some keys. */
function held(what, message, ...keys) {
  let found = what;
  for (const key of keys) found = found && Object.hasOwn(found, key) ? found[key] : undefined;
  if (found === undefined) throw failed(message);
  return found;
}

function heldWord(word, model) {
  const words = inside.models[model].words;
  for (const spelling of [word, word.toLowerCase()]) if (Object.hasOwn(words, spelling)) return spelling;
  throw Object.assign(
    failed(`This file does not hold “${visible(word)}” of ${inside.info.models[model].name}.`),
    { near: Object.keys(words).slice(0, 12) },
  );
}

const source = inside ? {
  info: async () => inside.info,
  suggest: async (letters, model) => {
    const start = letters.toLowerCase();
    return Object.values(inside.models[model].words).filter((view) => view.word.toLowerCase().startsWith(start)).map(
      (view) => [view.word, view.count]
    ).slice(0, 10);
  },
  word: async (word, model) => inside.models[model].words[heldWord(word, model)],
  uses: async (word, model) => inside.models[model].uses[heldWord(word, model)] || { read: 0, texts: [], cuts: [] },
  sentence: async (text, model) => held(
    inside.models[model].sentences,
    "This file holds the sentences below only; the explorer with its model takes any.",
    text,
  ),
  reasons: async (text, token, model) => held(
    inside.models[model].reasons,
    "This file does not hold that.",
    text,
    token,
  ),
  compare: async (word, a, b) => held(inside.compare, "This file does not hold that comparison.", `${a}-${b}`, word),
  change: async (model) => held(inside.models[model], "This file holds no slices of time.", "change"),
  over: async (word, model) => held(
    inside.models[model].over,
    `This file does not hold “${visible(word)}” over time.`,
    word,
  ),
  holds: (word, model) => Object.hasOwn(inside.models[model].words, word),
} : {
  info: () => ask("info", {}),
  suggest: async (letters, model) => (await ask("suggest", { q: letters, model })).words,
  word: (word, model) => ask("word", { word, model }),
  uses: (word, model) => ask("uses", { word, model }),
  sentence: (text, model) => ask("sentence", { text, model }),
  reasons: (text, token, model) => ask("reasons", { text, token, model }),
  compare: (word, a, b) => ask("compare", { word, a, b }),
  change: (model) => ask("change", { model }),
  over: (word, model) => ask("over", { word, model }),
  holds: () => true,
};
