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

/** @typedef {{ element: HTMLElement, text: string, tags: Set<string>, monthly: Map<string, number>, inside: Element | null }} Card */

/** @type {Card[]} */
const cards = Array.from(document.querySelectorAll("article.service"), (element) => ({
  element: /** @type {HTMLElement} */ (element), text: "", tags: new Set(), monthly: new Map(), inside: null,
}));
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

/** Reads what is searched for out of the cards; once, when the page has been shown. */
function index() {
  if (indexed) return;
  indexed = true;
  for (const card of cards) {
    const parts = card.element.querySelectorAll(":scope > header, :scope > .about, :scope > .tags, .plan > header a, .plan > p:nth-of-type(1), .plan > .ids");
    card.text = Array.from(parts, (part) => part.textContent).join("\n").toLowerCase();
    card.tags = new Set(Array.from(card.element.querySelectorAll(":scope > .tags a"), (tag) => tag.textContent ?? ""));
    for (const pair of (card.element.dataset.monthly ?? "").split(" ")) {
      const [currency, amount] = pair.split("=");
      if (amount) card.monthly.set(currency, Number(amount));
    }
    if (cards.length > STEP) putAway(card);
  }
}

const KEYS = ["q", "tag", "free", "max", "currency", "platform", "broker"];

/** @param {string} key */
function control(key) {
  return /** @type {HTMLInputElement | HTMLSelectElement | null} */ (byId(key));
}

/** The search as it stands in the form; what is empty is left out. */
function wanted() {
  const found = new URLSearchParams();
  for (const key of KEYS) {
    const value = control(key)?.value.trim() ?? "";
    if (value && (key !== "currency" || control("max")?.value)) found.set(key, value);
  }
  return found;
}

/** @param {URLSearchParams} search @returns {(card: Card) => boolean} */
function matcher(search) {
  /** @param {string} key */
  const get = (key) => search.get(key) ?? "";
  const words = get("q").toLowerCase().split(/\s+/).filter(Boolean);
  const max = Number.parseFloat(get("max"));
  return (card) => {
    const { broker, free, takes } = card.element.dataset;
    return (
      words.every((word) => card.text.includes(word)) &&
      (!get("tag") || card.tags.has(get("tag"))) &&
      (!get("free") || free === "both" || free === get("free")) &&
      (Number.isNaN(max) || card.monthly.has("*") || (card.monthly.get(get("currency")) ?? Infinity) <= max) &&
      (!get("platform") || (takes ?? "").split(" ").includes(get("platform"))) &&
      (!get("broker") || broker === get("broker"))
    );
  };
}

/** Shows the first cards that match what is in the form. */
function filter() {
  index();
  const search = wanted();
  const matches = matcher(search);
  let found = 0;
  for (const card of cards) {
    const fits = matches(card);
    found += Number(fits);
    const hidden = !fits || found > limit;
    if (card.element.hidden !== hidden) card.element.hidden = hidden;
  }
  none.hidden = found > 0 || cards.length === 0;
  more.hidden = found <= limit;
  count.textContent = search.size ? `${found} of ${cards.length} services` : "";
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
  const hash = location.hash.slice(1);
  putBack(cards.find(({ element }) => hash === element.id || hash.startsWith(`${element.id}/`)));
  const target = hash ? document.getElementById(hash) : null;
  const service = target?.closest("article.service");
  if (target && service) {
    showOne(/** @type {HTMLElement} */ (service), target);
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
  back.hidden = false;
  back.querySelector("a")?.setAttribute("href", listHash);
  document.title = `${service.querySelector("h2")?.textContent} – ${title}`;
  for (let at = /** @type {Element | null} */ (target); at && at !== main; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
  const body = service.querySelector("details.body");
  if (body instanceof HTMLDetailsElement) body.open = true;
  const heading = /** @type {HTMLElement} */ (target.querySelector("h2, h3") ?? target);
  heading.focus({ preventScroll: true });
  if (target === service) scrollTo({ top: 0, behavior: "instant" });
  else target.scrollIntoView({ behavior: "instant" });
}

/** What a part of a service gets when it is opened for the first time. @param {Event} event */
function opened(event) {
  const details = event.target;
  if (!(details instanceof HTMLDetailsElement) || !details.open || details.dataset.ready) return;
  details.dataset.ready = "yes";
  if (details.matches(".body")) {
    putBack(cards.find((card) => card.element === details.parentElement));
    const table = details.querySelector("table.compare");
    if (table instanceof HTMLTableElement) offerChoice(table);
    for (const block of details.querySelectorAll(".command pre")) offerCopy(block);
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

/** Which plans stand side by side, and whether only what differs. @param {HTMLTableElement} table */
function offerChoice(table) {
  const heads = [...table.tHead?.rows[0].cells ?? []].slice(1);
  const differ = checkbox("Only what differs", false);
  const plans = heads.map((head) => checkbox(head.querySelector("a")?.textContent ?? "", true));
  const update = () => {
    const chosen = plans.map((plan) => plan.box.checked);
    table.classList.toggle("differ", differ.box.checked);
    for (const row of table.rows) {
      const cells = [...row.cells].slice(1);
      for (const [at, cell] of cells.entries()) cell.classList.toggle("out", !chosen[at]);
      const texts = new Set(cells.filter((_, at) => chosen[at]).map((cell) => cell.textContent));
      if (row.parentElement !== table.tHead) row.classList.toggle("same", texts.size < 2);
    }
  };
  /** @param {string} text @param {boolean} chosen */
  const every = (text, chosen) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("click", () => {
      for (const plan of plans) plan.box.checked = chosen;
      update();
    });
    return button;
  };
  /** @type {HTMLElement[]} */
  let offered = [...plans.map((plan) => plan.label), differ.label];
  if (plans.length > 8) {
    // More would push the table off the screen.
    const boxes = make("div", { class: "choose" }, every("All plans", true), every("No plan", false), ...offered.slice(0, -1));
    offered = [differ.label, make("details", {}, make("summary", {}, "Choose plans"), boxes)];
  }
  const choice = make("fieldset", { class: "choose" }, make("legend", {}, "Compare"), ...offered);
  choice.addEventListener("change", update);
  table.closest(".scroll")?.before(choice);
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
  /** @type {string | null} */
  let stored = null;
  try {
    stored = localStorage.getItem("osbctl-theme");
  } catch {
    // a browser that keeps nothing
  }
  show(stored);
  dark.addEventListener("change", () => show());
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = show() === "dark" ? "light" : "dark";
    show(next);
    try {
      localStorage.setItem("osbctl-theme", next);
    } catch {
      // as above
    }
  });
}

themes();
form.hidden = cards.length === 0;
form.addEventListener("input", remember);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(remember));
byId("clear")?.addEventListener("click", () => {
  form.reset();
  control("q")?.focus();
});
document.addEventListener("toggle", opened, true);
addEventListener("hashchange", route);
more.querySelector("button")?.addEventListener("click", () => {
  const next = cards.filter((card) => !card.element.hidden).length;
  grow();
  /** @type {HTMLElement | null | undefined} */ (cards.filter((card) => !card.element.hidden)[next]?.element.querySelector("h2 a"))?.focus();
});
nearEnd.observe(more);
addEventListener("beforeprint", () => {
  if (!main.classList.contains("one")) {
    cards.forEach(putBack);
    grow(cards.length);
  }
  for (const details of document.querySelectorAll("main.one .chosen details, main:not(.one) details.level")) {
    if (details instanceof HTMLDetailsElement) details.open = true;
  }
});
route();
setTimeout(index);
