// A form out of a parameter schema. It yields JSON, which can be edited by hand as well; both are checked at once.

/**
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => unknown} read  undefined where nothing was filled in
 * @property {(faults: Fault[]) => void} tell  shows the faults that are about this field
 */

const MAX_LEVELS = 6;
const MAX_FIELDS = 200;
let ids = 0;

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

/**
 * The form for `schema` with the JSON that comes of it; `subject` says what it is for.
 * @param {Schema} schema @param {string} subject
 */
function makeForm(schema, subject) {
  const text = /** @type {HTMLTextAreaElement} */ (make("textarea", { id: `json-${++ids}`, spellcheck: "false", autocomplete: "off" }));
  const verdict = make("p", { class: "verdict-line", role: "status" });
  const faults = make("ul", { class: "faults" });
  const copy = make("button", { type: "button", class: "main" }, "Copy JSON");
  const save = make("button", { type: "button" }, "Save as params.json");
  const field = expressible(schema) ? objectField(schema, schema, "", 0) : null;
  const fields = make("div", { class: "fields" });
  if (field) fields.append(field.element);
  else fields.append(make("p", { class: "muted" }, "A form cannot express this schema. Write the JSON by hand; it is checked as you type."));

  const check = () => {
    const { faults: found, unchecked } = checkText(schema, text.value);
    text.setAttribute("aria-invalid", String(found.length > 0));
    verdict.className = `verdict-line ${found.length ? "bad" : "good"}`;
    verdict.textContent = found.length ? `${found.length} ${found.length === 1 ? "thing" : "things"} to mend` : "Fits the schema";
    faults.replaceChildren(
      ...found.slice(0, 50).map((fault) => make("li", {}, `${fault.path || "The whole"} ${fault.message}`)),
      ...unchecked.slice(0, 10).map((what) => make("li", { class: "muted" }, `Left to the broker: ${what}`)),
    );
    field?.tell(found);
  };
  const fill = () => {
    text.value = JSON.stringify(field?.read() ?? Object.create(null), null, 2);
    check();
  };
  fields.addEventListener("input", fill);
  text.addEventListener("input", check);
  copy.addEventListener("click", () => copied(copy, text.value));
  save.addEventListener("click", () => saved(text.value));
  fill();
  return make(
    "div", { class: "request", role: "group", "aria-label": subject }, fields,
    make("div", {}, make("label", { for: text.id }, "JSON"), text, verdict, faults, make("p", { class: "actions" }, copy, save)),
  );
}

/** @param {Schema} schema @param {string} text */
function checkText(schema, text) {
  try {
    return checkRequest(schema, JSON.parse(text));
  } catch (error) {
    return { faults: [{ path: "", message: `is not JSON: ${error instanceof Error ? error.message : error}` }], unchecked: [] };
  }
}

/** Whether the fields of an object say all that there is to fill in. @param {Schema} schema */
function expressible(schema) {
  const properties = own(schema, "properties");
  return isObject(properties) && Object.keys(properties).length > 0 && Object.keys(properties).length <= MAX_FIELDS && !own(schema, "$ref");
}

/**
 * @param {Schema} root @param {Schema} schema @param {string} path @param {number} level
 * @returns {Field}
 */
function objectField(root, schema, path, level) {
  const required = list(schema.required);
  const fields = Object.entries(schema.properties).map(([name, inner]) => ({
    name,
    field: namedField(root, inner, name, below(path, name), required.includes(name), level),
  }));
  return {
    element: make("div", { class: "fields" }, ...fields.map((one) => one.field.element)),
    read() {
      // Without a prototype, so that a field may be called __proto__.
      const value = Object.create(null);
      for (const { name, field } of fields) {
        const inner = field.read();
        if (inner !== undefined) value[name] = inner;
      }
      return Object.keys(value).length ? value : undefined;
    },
    tell(faults) {
      for (const { field } of fields) field.tell(faults);
    },
  };
}

/**
 * @param {Schema} root @param {unknown} given @param {string} name @param {string} path @param {boolean} required @param {number} level
 * @returns {Field}
 */
function namedField(root, given, name, path, required, level) {
  const schema = resolved(root, given) ?? {};
  const title = make("span", {}, visible(name), required ? " (required)" : "");
  const types = typesOf(schema);
  if (types.length === 1 && types[0] === "object" && expressible(schema) && level < MAX_LEVELS) {
    const inner = objectField(root, schema, path, level + 1);
    const element = make("fieldset", { class: "group" }, make("legend", {}, title), ...hints(schema), inner.element);
    return { ...inner, element, read: () => inner.read() ?? (required ? Object.create(null) : undefined) };
  }
  const item = resolved(root, schema.items);
  if (types.length === 1 && types[0] === "array" && item && isScalar(item)) return listField(schema, item, title, path);
  return isScalar(schema) ? scalarField(schema, title, path, required) : jsonField(schema, title, path);
}

/** Whether one input is enough. @param {Schema} schema */
function isScalar(schema) {
  const types = typesOf(schema);
  const plain = types.length === 1 && ["string", "number", "integer", "boolean"].includes(types[0]);
  return plain || (Array.isArray(schema.enum) && schema.enum.length > 0 && schema.enum.length <= 500);
}

/** @param {Schema} schema @param {HTMLElement} title @param {string} path @param {boolean} required @returns {Field} */
function scalarField(schema, title, path, required) {
  const { element, read } = input(schema, required);
  return labelled(schema, title, path, element, read);
}

/** @param {Schema} schema @param {boolean} required @returns {{ element: HTMLElement, read: () => unknown }} */
function input(schema, required) {
  const choices = Array.isArray(schema.enum) ? schema.enum : typesOf(schema)[0] === "boolean" ? [true, false] : null;
  if (choices) {
    const none = make("option", { value: "" }, required ? "Choose…" : "Not set");
    const options = choices.map((choice, at) => make("option", { value: String(at) }, visible(typeof choice === "string" ? choice : shown(choice))));
    const select = /** @type {HTMLSelectElement} */ (make("select", {}, none, ...options));
    return { element: select, read: () => (select.value === "" ? undefined : choices[Number(select.value)]) };
  }
  const numeric = typesOf(schema)[0] !== "string";
  const box = /** @type {HTMLInputElement} */ (make("input", { type: "text", autocomplete: "off", spellcheck: "false", ...(numeric ? { inputmode: "decimal" } : {}) }));
  return { element: box, read: () => (box.value === "" ? undefined : numeric ? asNumber(box.value) : box.value) };
}

/** What is no number stays a text, for the check to speak of it. @param {string} text */
function asNumber(text) {
  return /^\s*-?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/.test(text) ? Number(text) : text;
}

/** @param {Schema} schema @param {Schema} item @param {HTMLElement} title @param {string} path @returns {Field} */
function listField(schema, item, title, path) {
  const items = make("div", { class: "items" });
  /** @type {{ element: HTMLElement, read: () => unknown }[]} */
  let rows = [];
  const add = make("button", { type: "button" }, "Add");
  add.setAttribute("aria-label", `Add to ${title.textContent}`);
  add.addEventListener("click", () => {
    const row = input(item, true);
    row.element.setAttribute("aria-label", `${title.textContent}, item ${rows.length + 1}`);
    const remove = make("button", { type: "button", "aria-label": `Remove item ${rows.length + 1} of ${title.textContent}` }, "Remove");
    const line = make("div", { class: "item" }, row.element, remove);
    remove.addEventListener("click", () => {
      rows = rows.filter((one) => one !== row);
      line.remove();
      add.focus();
      items.dispatchEvent(new Event("input", { bubbles: true }));
    });
    rows.push(row);
    items.append(line);
    row.element.focus();
  });
  const read = () => {
    const values = rows.map((row) => row.read()).filter((value) => value !== undefined);
    return values.length ? values : undefined;
  };
  const fault = make("p", { class: "fault", role: "alert" });
  const element = make("fieldset", { class: "group" }, make("legend", {}, title), ...hints(schema), items, make("p", { class: "actions" }, add), fault);
  return {
    element,
    read,
    tell(faults) {
      fault.textContent = rows.length ? about(faults, path) : "";
    },
  };
}

/** @param {Schema} schema @param {HTMLElement} title @param {string} path @returns {Field} */
function jsonField(schema, title, path) {
  const box = /** @type {HTMLTextAreaElement} */ (make("textarea", { class: "small", spellcheck: "false", autocomplete: "off", placeholder: "JSON" }));
  return labelled(schema, title, path, box, () => {
    if (!box.value.trim()) return undefined;
    try {
      return JSON.parse(box.value);
    } catch {
      return box.value; // a text, for the check to speak of it
    }
  });
}

/**
 * @param {Schema} schema @param {HTMLElement} title @param {string} path @param {HTMLElement} control @param {() => unknown} read
 * @returns {Field}
 */
function labelled(schema, title, path, control, read) {
  control.id = `field-${++ids}`;
  const fault = make("p", { class: "fault", id: `${control.id}-fault` });
  control.setAttribute("aria-describedby", fault.id);
  let touched = false;
  const touch = () => {
    touched = true;
  };
  control.addEventListener("input", touch);
  control.addEventListener("blur", touch);
  return {
    element: make("div", {}, make("label", { for: control.id }, title), control, ...hints(schema), fault),
    read,
    tell(faults) {
      const message = touched ? about(faults, path) : "";
      fault.textContent = message;
      control.setAttribute("aria-invalid", String(message !== ""));
    },
  };
}

/** The first fault at `path` or below it. @param {Fault[]} faults @param {string} path */
function about(faults, path) {
  const found = faults.find((fault) => fault.path === path || fault.path.startsWith(`${path}/`));
  return found ? `${found.message[0].toUpperCase()}${found.message.slice(1)}` : "";
}

/** @param {Schema} schema @returns {HTMLElement[]} */
function hints(schema) {
  const words = [typeof schema.description === "string" ? schema.description.slice(0, 1000) : ""];
  if (own(schema, "default") !== undefined) words.push(`Default: ${shown(schema.default)}.`);
  const text = words.filter(Boolean).join(" ");
  return text ? [make("p", { class: "hint" }, visible(text))] : [];
}

/** A text on one line with whatever could fool a reader shown as an escape, as the rest of the page has it. @param {string} text */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]|(?!\u200d)\p{Cf}/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
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

/** @param {string} text */
function saved(text) {
  const address = URL.createObjectURL(new Blob([`${text}\n`], { type: "application/json" }));
  make("a", { href: address, download: "params.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
