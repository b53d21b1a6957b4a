// The views of the page: all services with a search, or one of them. The address has the state, so that it can be shared.

/** @template {HTMLElement} T @param {string} id @returns {T | null} */
function byId(id) {
  return /** @type {T | null} */ (document.getElementById(id));
}

/**
 * @param {string} tag @param {Record<string, string>} attributes @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const form = /** @type {HTMLFormElement} */ (byId("find"));
const count = /** @type {HTMLElement} */ (byId("count"));
const back = /** @type {HTMLElement} */ (byId("back"));
const none = /** @type {HTMLElement} */ (byId("none"));
const more = /** @type {HTMLElement} */ (byId("more"));
const unfold = /** @type {HTMLElement} */ (byId("filters"));

const grid = /** @type {HTMLElement} */ (byId("services"));

/**
 * `names` is what is searched first: the names of the service; `text` is all that is searched.
 * @typedef {{ element: HTMLElement, names: string, text: string, tags: Set<string>, inside: Element | null }} Card
 */

/** @type {Card[]} */
const cards = Array.from(document.querySelectorAll("article.service"), (element) => ({
  element: /** @type {HTMLElement} */ (element), names: "", text: "", tags: new Set(), inside: null,
}));
/** The only service, which is always open. */
const only = cards.length === 1 ? cards[0].element : null;
let indexed = false;

/** Cards that are shown at once, before one scrolls: laying out a thousand takes longer than a key stroke may. */
const STEP = 60;
let limit = STEP;

/** Takes the plans of a closed card out of the document: each change of style passes through all that is in it. @param {Card} card */
function putAway(card) {
  card.inside = card.element.querySelector("details.body:not([open]) > .inside");
  card.inside?.remove();
}

/** @param {Card} [card] */
function putBack(card) {
  if (card?.inside) card.element.querySelector("details.body")?.append(card.inside);
  if (card) card.inside = null;
}

/** What is searched beside the names: descriptions, tags, plans, features and parameters, but no ids. */
const SEARCHED = [
  ":scope > .about", ":scope > .tags", ".inside > .text", ".plan > header a", ".plan > .text", ".plan > ul",
  ".plan > .ids > :first-child code", ".compare tbody", ".params th", ".params td:last-child",
].join();

/** Reads the texts for the search out of the cards; once, when the page has been shown. */
function index() {
  if (indexed) return;
  indexed = true;
  for (const card of cards) {
    // The name is the link of the card: nobody has to pass through a second one.
    card.element.querySelector(".body > summary")?.setAttribute("tabindex", "-1");
    card.names = textOf(card.element, ":scope > header");
    card.text = `${card.names}\n${textOf(card.element, SEARCHED)}`;
    card.tags = new Set(Array.from(card.element.querySelectorAll(":scope > .tags a"), (tag) => tag.textContent ?? ""));
    if (cards.length > STEP) putAway(card);
  }
}

/** @param {Element} element @param {string} selector */
function textOf(element, selector) {
  return Array.from(element.querySelectorAll(selector), (part) => part.textContent).join("\n").toLowerCase();
}

/** Every word of the page; made when a word is found nowhere. @type {Set<string> | undefined} */
let vocabulary;

/** The word itself, or those that begin almost like it where no card has it. @param {string} word */
function variants(word) {
  if (word.length < 4 || cards.some((card) => card.text.includes(word))) return [word];
  vocabulary ??= new Set(cards.flatMap((card) => card.text.split(/[\s,;:()"]+/).flatMap((each) => [each, ...each.split(/[-_./]/)])));
  return [...vocabulary].filter((each) => almostBegins(each, word));
}

/** Whether `text` begins with `word` after one letter is added, removed, replaced or swapped. @param {string} text @param {string} word */
function almostBegins(text, word) {
  let at = 0;
  while (at < word.length && word[at] === text[at]) at++;
  const rest = word.slice(at);
  return (
    text.startsWith(rest, at + 1) ||
    text.startsWith(rest.slice(1), at) ||
    text.startsWith(rest.slice(1), at + 1) ||
    text.startsWith(`${rest.charAt(1)}${rest.charAt(0)}${rest.slice(2)}`, at)
  );
}

const KEYS = ["q", "tag", "free", "platform", "broker"];

/** @param {string} key */
function control(key) {
  return /** @type {HTMLInputElement | HTMLSelectElement | null} */ (byId(key));
}

/** The search as it stands in the form; what is empty is left out. */
function wanted() {
  const found = new URLSearchParams();
  for (const key of KEYS) {
    const value = control(key)?.value.trim() ?? "";
    if (value) found.set(key, value);
  }
  return found;
}

/** @param {URLSearchParams} search @returns {(card: Card) => boolean} */
function matcher(search) {
  /** @param {string} key */
  const get = (key) => search.get(key) ?? "";
  return (card) => {
    const { broker, free, accepted } = card.element.dataset;
    return (
      (!get("tag") || card.tags.has(get("tag"))) &&
      (!get("free") || free === "both" || free === get("free")) &&
      (!get("platform") || (accepted ?? "").split(" ").includes(get("platform"))) &&
      (!get("broker") || broker === get("broker"))
    );
  };
}

/** Shows the first cards that match what is in the form, those with the words in their names first. */
function filter() {
  index();
  const search = wanted();
  const written = (search.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const words = written.map(variants);
  /** @param {Card} card @param {"names" | "text"} field */
  const has = (card, field) => words.every((some) => some.some((word) => card[field].includes(word)));
  const found = cards.filter(matcher(search)).filter((card) => has(card, "text"));
  const named = new Set(found.filter((card) => has(card, "names")));
  const shown = [...named, ...found.filter((card) => !named.has(card))].slice(0, limit);
  const elements = new Set(shown.map((card) => card.element));
  for (const { element } of cards) {
    const hidden = !elements.has(element);
    if (element.hidden !== hidden) element.hidden = hidden;
  }
  // Only those that stand elsewhere are moved: a focused link loses the focus when it moves.
  for (const [at, { element }] of shown.entries()) {
    if (grid.children[at] !== element) grid.insertBefore(element, grid.children[at]);
  }
  none.hidden = found.length > 0 || cards.length === 0;
  more.hidden = found.length <= limit;
  const similar = found.length > 0 && words.some((some, at) => some[0] !== written[at]);
  count.textContent = search.size ? `${found.length} of ${cards.length} services${similar ? ", with similar words" : ""}` : "";
  const narrowing = search.size - Number(search.has("q"));
  unfold.textContent = narrowing ? `Filters (${narrowing})` : "Filters";
  return search;
}

/** Shows the next cards, too. @param {number} [step] */
function grow(step = STEP) {
  limit += step;
  filter();
  // Who is at the end again before this was noticed gets the cards after them: only a new observation tells.
  nearEnd.unobserve(more);
  nearEnd.observe(more);
}

const nearEnd = new IntersectionObserver((seen) => {
  if (seen.some((one) => one.isIntersecting)) grow();
}, { rootMargin: "800px" });

/** @type {number | undefined} */
let later;

/** Puts the search into the address, a moment after the last key: browsers refuse too many changes. */
function remember() {
  limit = STEP;
  const search = filter();
  clearTimeout(later);
  later = setTimeout(() => history.replaceState(null, "", search.size ? `#?${search}` : "#"), 250);
}

/** Follows the address: to one service and a place in it, or to the list and its search. */
function route() {
  clearTimeout(later);
  // Links to a parameter of one plan lead to the parameters of all plans.
  const hash = location.hash.slice(1).replace(/^(service\/[^/]+)\/[^/]+\/(create|update|bind)(?=\/|$)/, "$1/parameters/$2");
  putBack(cards.find(({ element }) => hash === element.id || hash.startsWith(`${element.id}/`)));
  const target = hash ? document.getElementById(hash) : null;
  const service = /** @type {HTMLElement | null | undefined} */ (target?.closest("article.service")) ?? only;
  if (service) {
    showOne(service, target && service.contains(target) ? target : service);
    return;
  }
  if (hash === "" || hash.startsWith("?")) fillIn(new URLSearchParams(hash.slice(1)));
  showList();
}

/** @param {URLSearchParams} search */
function fillIn(search) {
  for (const key of KEYS) {
    const box = control(key);
    if (box instanceof HTMLSelectElement) {
      box.value = search.get(key) ?? "";
      if (box.selectedIndex < 0) box.selectedIndex = 0;
    } else if (box) box.value = search.get(key) ?? "";
  }
}

let listHash = "#";
let listTop = 0;

function showList() {
  const was = main.querySelector(".chosen");
  main.classList.remove("one");
  was?.classList.remove("chosen");
  const details = was?.querySelector("details.body");
  if (details instanceof HTMLDetailsElement) details.open = false;
  back.hidden = true;
  document.title = title;
  if (!was) limit = STEP;
  filter();
  if (was) {
    scrollTo({ top: listTop, behavior: "instant" });
    /** @type {HTMLElement | null} */ (was.querySelector("h2"))?.focus({ preventScroll: true });
  }
}

const title = document.title;

/** @param {HTMLElement} service @param {HTMLElement} target */
function showOne(service, target) {
  if (!main.classList.contains("one")) {
    const search = wanted();
    listHash = search.size ? `#?${search}` : "#";
    listTop = scrollY;
  }
  main.querySelector(".chosen")?.classList.remove("chosen");
  service.hidden = false;
  service.classList.add("chosen");
  main.classList.add("one");
  none.hidden = true;
  back.hidden = only !== null;
  back.querySelector("a")?.setAttribute("href", listHash);
  document.title = `${service.querySelector("h2")?.textContent} – ${title}`;
  for (let at = /** @type {Element | null} */ (target); at && at !== main; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
  const body = service.querySelector("details.body");
  if (body instanceof HTMLDetailsElement) body.open = true;
  prepare(body);
  const plan = target.closest(".plan");
  if (plan) choose.get(plan)?.();
  if (target === only && !location.hash) return;
  const heading = /** @type {HTMLElement} */ (target.querySelector("h2, h3") ?? target);
  heading.focus({ preventScroll: true });
  if (target === service) scrollTo({ top: 0, behavior: "instant" });
  else target.scrollIntoView({ behavior: "instant" });
}

/** What a part of a service gets when it is opened for the first time. @param {EventTarget | null} details */
function prepare(details) {
  if (!(details instanceof HTMLDetailsElement) || !details.open || details.dataset.ready) return;
  details.dataset.ready = "yes";
  if (details.matches(".body")) {
    putBack(cards.find((card) => card.element === details.parentElement));
    const table = details.querySelector("table.compare");
    if (table instanceof HTMLTableElement) offerChoice(table);
  }
  if (details.matches(".commands")) {
    for (const block of details.querySelectorAll("pre")) offerCopy(block);
    offerTabs(details);
  }
}

/** One tab for each platform; the chosen platform is remembered, and chosen everywhere. @param {HTMLElement} details */
function offerTabs(details) {
  const panels = Array.from(details.querySelectorAll(".tab"), (panel) => /** @type {HTMLElement} */ (panel));
  const list = make("div", { role: "tablist", "aria-label": "Platform" });
  for (const panel of panels) {
    const platform = panel.querySelector("h4")?.textContent ?? "";
    panel.querySelector("h4")?.remove();
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-label", platform);
    const tab = make("button", { type: "button", role: "tab" }, platform);
    tab.addEventListener("click", () => {
      store("osbctl-platform", platform);
      for (const each of document.querySelectorAll("details.commands")) chooseTab(each, platform);
    });
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => {
    const tabs = /** @type {HTMLElement[]} */ ([...list.children]);
    const at = tabs.indexOf(/** @type {HTMLElement} */ (event.target));
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const tab = tabs.at(next % tabs.length);
    tab?.click();
    tab?.focus();
  });
  details.querySelector("summary")?.after(list);
  chooseTab(details, stored("osbctl-platform") ?? "");
}

/** @param {Element} details @param {string} platform */
function chooseTab(details, platform) {
  const tabs = /** @type {HTMLElement[]} */ ([...details.querySelectorAll("[role=tab]")]);
  const panels = /** @type {NodeListOf<HTMLElement>} */ (details.querySelectorAll(".tab"));
  const chosen = Math.max(0, tabs.findIndex((tab) => tab.textContent === platform));
  for (const [at, tab] of tabs.entries()) {
    tab.setAttribute("aria-selected", String(at === chosen));
    tab.tabIndex = at === chosen ? 0 : -1;
    panels[at].hidden = at !== chosen;
  }
}

/** What the browser remembers of an earlier choice. @param {string} key */
function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a browser that keeps nothing
  }
}

/** @param {string} key @param {string} value */
function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // as above
  }
}

/** A button beside what heads the block: its command's name, or that of its file. @param {Element} block */
function offerCopy(block) {
  const button = make("button", { type: "button" }, "Copy");
  button.addEventListener("click", () => copied(button, block.textContent ?? ""));
  const head = block.previousElementSibling ?? "";
  block.before(make("div", { class: "copy" }, head, button));
}

/** @param {HTMLElement} button @param {string} text */
async function copied(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying is not allowed here";
  }
  setTimeout(() => {
    button.textContent = before;
  }, 2000);
}

/** More plans than this are too many to be read: the first `CHOSEN` are shown, and the reader chooses others. */
const MANY = 6;
const CHOSEN = 4;
/** More plans than this have a filter, which shows `MATCHES` at first, in place of a checkbox each. */
const FILTERED = 12;
const MATCHES = 12;

/** Shows a plan that a link leads to. @type {WeakMap<Element, () => void>} */
const choose = new WeakMap();

/**
 * What the reader chooses plans with: `chosen` tells which, and `add` chooses one more.
 * @typedef {{ elements: HTMLElement[], chosen: () => boolean[], add: (at: number) => void }} Choice
 */

/** Which plans are shown, side by side and below, and whether only what differs. @param {HTMLTableElement} table */
function offerChoice(table) {
  const sections = /** @type {HTMLElement[]} */ (Array.from(table.closest(".inside")?.querySelectorAll(".plan") ?? []));
  const heads = [...table.tHead?.rows[0].cells ?? []].slice(1);
  const differ = checkbox("Only what differs", false);
  const update = () => {
    const chosen = choice.chosen();
    table.classList.toggle("differ", differ.box.checked);
    for (const [at, section] of sections.entries()) section.hidden = !chosen[at];
    for (const row of table.rows) {
      const cells = [...row.cells].slice(1);
      for (const [at, cell] of cells.entries()) cell.classList.toggle("out", !chosen[at]);
      const texts = new Set(cells.filter((_, at) => chosen[at]).map((cell) => cell.textContent));
      if (row.parentElement === table.tHead) continue;
      row.classList.toggle("same", texts.size < 2);
      row.classList.toggle("out", texts.size === 1 && texts.has("not stated"));
    }
  };
  const names = sections.map((section, at) => `${titleOf(heads[at])} ${section.querySelector(".ids code")?.textContent ?? ""}`);
  const choice = heads.length > FILTERED ? filterPlans(heads, names, table.dataset.currency ?? "", update) : checkPlans(heads, update);
  const box = make("fieldset", { class: "choose" }, make("legend", {}, "Show"), ...choice.elements, differ.label);
  box.addEventListener("input", update);
  table.closest(".scroll")?.before(box);
  for (const [at, section] of sections.entries()) {
    choose.set(section, () => {
      choice.add(at);
      update();
    });
  }
  update();
}

/** @param {Element} head */
function titleOf(head) {
  return head.querySelector("a")?.textContent ?? "";
}

/** A checkbox for each plan, folded if there are many. @param {HTMLElement[]} heads @param {() => void} update @returns {Choice} */
function checkPlans(heads, update) {
  const many = heads.length > MANY;
  const plans = heads.map((head, at) => checkbox(titleOf(head), !many || at < CHOSEN));
  const summary = make("summary", {});
  /** @param {string} text @param {boolean} chosen */
  const every = (text, chosen) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("click", () => {
      for (const plan of plans) plan.box.checked = chosen;
      update();
    });
    return button;
  };
  const labels = plans.map((plan) => plan.label);
  const boxes = make("div", { class: "choose" }, every("All plans", true), every("No plan", false), ...labels);
  return {
    elements: many ? [make("details", {}, summary, boxes)] : labels,
    chosen() {
      const chosen = plans.map((plan) => plan.box.checked);
      summary.textContent = `Choose plans (${chosen.filter(Boolean).length} of ${plans.length})`;
      return chosen;
    },
    add(at) {
      plans[at].box.checked = true;
    },
  };
}

/**
 * A filter by name, price and free.
 * @param {HTMLElement[]} heads @param {string[]} names @param {string} currency @param {() => void} update @returns {Choice}
 */
function filterPlans(heads, names, currency, update) {
  const texts = names.map((name) => name.toLowerCase());
  const name = field("Plan name", { type: "search", placeholder: "small, large", autocomplete: "off" });
  const most = field(`At most ${currency} a month`, { type: "number", min: "0", step: "any" });
  const free = checkbox("Only free plans", false);
  const said = make("output", { class: "muted" });
  const all = make("button", { type: "button" }, "Show all");
  /** @type {Set<number>} */
  const added = new Set();
  let everything = false;
  const elements = [name.label, all, said];
  if (heads.some((head) => Number(head.dataset.price) > 0)) elements.splice(1, 0, most.label);
  if (new Set(heads.map((head) => head.dataset.free)).size > 1) elements.splice(-2, 0, free.label);
  for (const control of [name.box, most.box, free.box]) {
    control.addEventListener("input", () => {
      added.clear();
      everything = false;
    });
  }
  all.addEventListener("click", () => {
    everything = true;
    update();
  });
  return {
    elements,
    chosen() {
      const written = name.box.value.toLowerCase().split(",").map((each) => each.split(/\s+/).filter(Boolean)).filter((each) => each.length);
      const limit = most.box.valueAsNumber;
      const matches = heads.map(({ dataset }, at) =>
        (!written.length || written.some((words) => words.every((word) => texts[at].includes(word)))) &&
        (Number.isNaN(limit) || (dataset.price !== "" && Number(dataset.price) <= limit)) &&
        (!free.box.checked || dataset.free === "yes"));
      const filtered = written.length > 0 || !Number.isNaN(limit) || free.box.checked;
      let left = everything ? heads.length : filtered ? MATCHES : CHOSEN;
      const chosen = matches.map((match, at) => added.has(at) || (match && left-- > 0));
      const count = matches.filter(Boolean).length;
      said.textContent = `${chosen.filter(Boolean).length} of ${count} ${filtered ? "matching plans" : "plans"}`;
      all.hidden = matches.every((match, at) => !match || chosen[at]);
      return chosen;
    },
    add(at) {
      added.add(at);
    },
  };
}

/** @param {string} text @param {Record<string, string>} attributes */
function field(text, attributes) {
  const box = /** @type {HTMLInputElement} */ (make("input", attributes));
  return { box, label: make("label", { class: "narrow" }, text, box) };
}

/** @param {string} text @param {boolean} checked */
function checkbox(text, checked) {
  const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox" }));
  box.checked = checked;
  return { box, label: make("label", { class: "check" }, box, text) };
}

/** The theme: that of the system until the reader chooses. */
function themes() {
  const button = /** @type {HTMLButtonElement} */ (byId("theme"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  /** @param {string | null} [chosen] */
  const show = (chosen) => {
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
    const now = document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
    button.textContent = now === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Change to the ${now === "dark" ? "light" : "dark"} theme`);
    return now;
  };
  show(stored("osbctl-theme"));
  dark.addEventListener("change", () => show());
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = show() === "dark" ? "light" : "dark";
    show(next);
    store("osbctl-theme", next);
  });
}

/** `/` goes to the search, Esc back from a service, or empties the search. @param {KeyboardEvent} event */
function shortcut(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
  const search = control("q");
  const writing = event.target.closest("input:not([type=checkbox]), select");
  if (event.key === "/" && !writing && !form.hidden) {
    event.preventDefault();
    leave();
    search?.focus();
  } else if (event.key === "Escape" && search && event.target === search) {
    search.value = "";
    remember();
  } else if (event.key === "Escape" && !writing) leave();
}

/** Goes from a service back to the list. */
function leave() {
  if (!main.classList.contains("one") || only) return;
  history.pushState(null, "", listHash);
  route();
}

themes();
main.classList.add("live");
main.classList.toggle("only", only !== null);
form.hidden = cards.length < 2;
form.addEventListener("input", remember);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(remember));
byId("clear")?.addEventListener("click", () => {
  form.reset();
  control("q")?.focus();
});
document.addEventListener("toggle", (event) => prepare(event.target), true);
document.addEventListener("keydown", shortcut);
unfold.addEventListener("click", () => {
  unfold.setAttribute("aria-expanded", String(form.classList.toggle("unfolded")));
});
addEventListener("hashchange", route);
more.querySelector("button")?.addEventListener("click", () => {
  const next = cards.filter((card) => !card.element.hidden).length;
  grow();
  /** @type {HTMLElement | null | undefined} */ (cards.filter((card) => !card.element.hidden)[next]?.element.querySelector("h2 a"))?.focus();
});
nearEnd.observe(more);
addEventListener("beforeprint", () => {
  if (!main.classList.contains("one")) grow(cards.length);
});
route();
setTimeout(index);
