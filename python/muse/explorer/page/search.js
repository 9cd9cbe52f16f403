// The field in which words are looked up: suggestions as one types, arrow keys, "/" from anywhere.

function makeSearch(currentModel, go) {
  const field = byId("search");
  const list = byId("suggestions");
  let asked = 0;
  let chosen = -1;

  const options = () => [...list.children];

  function close() {
    list.hidden = true;
    chosen = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function choose(place) {
    const rows = options();
    if (!rows.length) return;
    chosen = (place + rows.length) % rows.length;
    rows.forEach((row, at) => row.setAttribute("aria-selected", String(at === chosen)));
    rows[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", rows[chosen].id);
  }

  function take(word) {
    close();
    field.value = "";
    field.blur();
    go(word);
  }

  async function suggest() {
    const mine = ++asked;
    const letters = field.value.trim();
    if (!letters) return close();
    let words = [];
    try {
      words = await source.suggest(letters, currentModel());
    } catch {
      return close();
    }
    if (mine !== asked || document.activeElement !== field) return;  // an older answer
    list.replaceChildren(...words.map(([word, count], place) => suggestion(word, count, place, take)));
    chosen = -1;
    list.hidden = words.length === 0;
    field.setAttribute("aria-expanded", String(words.length > 0));
    field.removeAttribute("aria-activedescendant");
    announce(
      words.length ? `${several(words.length, "word", "words")}; use the arrow keys` : "no known word begins so"
    );
  }

  field.addEventListener("input", suggest);
  field.addEventListener("focus", () => { if (field.value) suggest(); });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (list.hidden) suggest();
      else choose(chosen < 0 && step < 0 ? -1 : chosen + step);
    } else if (event.key === "Escape") {
      if (list.hidden) field.value = "";
      close();
    }
  });
  byId("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const rows = options();
    if (!list.hidden && chosen >= 0) rows[chosen].dispatchEvent(new MouseEvent("mousedown", { cancelable: true }));
    else if (field.value.trim()) take(field.value.trim());
  });
  listenForSlash(field);
}

/** "/" goes to the field from anywhere but where one types. */
function listenForSlash(field) {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=range]), textarea, select, [contenteditable]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

/** A row of the suggestions. */
function suggestion(word, count, place, take) {
  return el(
    "li",
    {
      id: `suggestion-${place}`,
      role: "option",
      "aria-selected": "false",
      onmousedown: (event) => {
        event.preventDefault();  // the field keeps the focus
        take(word);
      },
    },
    ofModel(word),
    el("span", { class: "count" }, grouped(count), el("span", { class: "hidden" }, " uses")),
  );
}
