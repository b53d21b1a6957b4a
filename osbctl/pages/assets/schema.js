// Checks a request against a parameter schema: the keywords of JSON Schema (draft-04 to 2020-12) that catalogs use.
// What is not checked here is told, so that nobody takes silence for a yes.

/** @typedef {{ [key: string]: any }} Schema */
/** @typedef {{ path: string, message: string }} Fault  `path` is a JSON pointer (RFC 6901). */
/** @typedef {{ root: Schema, faults: Fault[], unchecked: Set<string>, steps: number }} Check */

const MAX_STEPS = 50_000;
const UNCHECKED = ["contains", "dependencies", "dependentRequired", "dependentSchemas", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef"];

/**
 * What is wrong with `value`, and which keywords were left to the broker.
 * @param {Schema} schema
 * @param {unknown} value
 * @returns {{ faults: Fault[], unchecked: string[] }}
 */
function checkRequest(schema, value) {
  /** @type {Check} */
  const check = { root: schema, faults: [], unchecked: new Set(), steps: MAX_STEPS };
  checkValue(check, schema, value, "");
  return { faults: check.faults, unchecked: [...check.unchecked] };
}

/** @param {Check} check @param {unknown} given @param {unknown} value @param {string} path */
function checkValue(check, given, value, path) {
  if (--check.steps < 0) {
    check.unchecked.add("a schema that refers to itself");
    return;
  }
  if (given === false) {
    check.faults.push({ path, message: "is not allowed" });
    return;
  }
  const schema = resolved(check.root, given);
  if (!schema) {
    if (isObject(given) && own(given, "$ref")) check.unchecked.add("a reference to elsewhere");
    return;
  }
  for (const keyword of UNCHECKED) if (own(schema, keyword) !== undefined) check.unchecked.add(keyword);
  /** @param {string | false | undefined} message */
  const fault = (message) => message && check.faults.push({ path, message });
  const types = typesOf(schema);
  if (types.length && !types.some((type) => isType(value, type))) {
    fault(`must be ${types.map(article).join(" or ")}`);
    return;
  }
  const choices = own(schema, "enum");
  fault(Array.isArray(choices) && !choices.some((one) => same(one, value)) && `must be one of ${choices.slice(0, 20).map(shown).join(", ")}`);
  fault(own(schema, "const") !== undefined && !same(schema.const, value) && `must be ${shown(schema.const)}`);
  if (typeof value === "string") checkString(check, schema, value, fault);
  if (typeof value === "number") checkNumber(schema, value, fault);
  if (Array.isArray(value)) checkArray(check, schema, value, path, fault);
  else if (isObject(value)) checkObject(check, schema, value, path, fault);
  checkCombined(check, schema, value, path, fault);
}

/** @typedef {(message: string | false | undefined) => unknown} Tell */

/** @param {Check} check @param {Schema} schema @param {string} value @param {Tell} fault */
function checkString(check, schema, value, fault) {
  const length = [...value].length;
  fault(length < number(schema.minLength, 0) && `must have at least ${schema.minLength} characters`);
  fault(length > number(schema.maxLength, Infinity) && `must have at most ${schema.maxLength} characters`);
  if (typeof schema.pattern !== "string") return;
  const pattern = harmless(schema.pattern);
  if (!pattern || length > 200) check.unchecked.add(`the pattern ${schema.pattern.slice(0, 100)}`);
  else fault(!pattern.test(value) && `must match ${schema.pattern}`);
}

/** @param {Schema} schema @param {number} value @param {Tell} fault */
function checkNumber(schema, value, fault) {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = schema;
  fault(value < number(minimum, -Infinity) && `must be at least ${minimum}`);
  fault(value > number(maximum, Infinity) && `must be at most ${maximum}`);
  // A boolean in draft-04, a number since draft-06.
  fault((above === true ? value === minimum : value <= number(above, -Infinity)) && `must be more than ${above === true ? minimum : above}`);
  fault((below === true ? value === maximum : value >= number(below, Infinity)) && `must be less than ${below === true ? maximum : below}`);
  const parts = value / number(multipleOf, 0);
  fault(Number.isFinite(parts) && Math.abs(parts - Math.round(parts)) > 1e-9 && `must be a multiple of ${multipleOf}`);
}

/** @param {Check} check @param {Schema} schema @param {unknown[]} value @param {string} path @param {Tell} fault */
function checkArray(check, schema, value, path, fault) {
  fault(value.length < number(schema.minItems, 0) && `must have at least ${schema.minItems} items`);
  fault(value.length > number(schema.maxItems, Infinity) && `must have at most ${schema.maxItems} items`);
  fault(schema.uniqueItems === true && value.some((one, at) => value.slice(0, at).some((other) => same(one, other))) && "must not have an item twice");
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(schema.items) ? schema.items : [];
  const rest = tuple === schema.items ? schema.additionalItems : schema.items;
  value.forEach((item, at) => {
    const inner = at < tuple.length ? tuple[at] : rest;
    if (inner !== undefined) checkValue(check, inner, item, `${path}/${at}`);
  });
}

/** @param {Check} check @param {Schema} schema @param {Schema} value @param {string} path @param {Tell} fault */
function checkObject(check, schema, value, path, fault) {
  const names = Object.keys(value);
  fault(names.length < number(schema.minProperties, 0) && `must have at least ${schema.minProperties} fields`);
  fault(names.length > number(schema.maxProperties, Infinity) && `must have at most ${schema.maxProperties} fields`);
  for (const name of /** @type {string[]} */ (list(schema.required))) {
    if (!Object.hasOwn(value, name)) check.faults.push({ path: below(path, name), message: "is required" });
  }
  const patterns = Object.entries(isObject(schema.patternProperties) ? schema.patternProperties : {});
  for (const name of names) {
    const inner = [];
    if (isObject(schema.properties) && Object.hasOwn(schema.properties, name)) inner.push(schema.properties[name]);
    let known = inner.length > 0;
    for (const [source, one] of patterns) {
      const pattern = name.length <= 200 ? harmless(source) : null;
      if (!pattern) check.unchecked.add(`the pattern ${source.slice(0, 100)}`);
      if (pattern?.test(name)) inner.push(one);
      known ||= !pattern || pattern.test(name);
    }
    if (!known && schema.additionalProperties === false) check.faults.push({ path: below(path, name), message: "is not known to the plan" });
    else if (!known && schema.additionalProperties !== undefined) inner.push(schema.additionalProperties);
    for (const one of inner) checkValue(check, one, value[name], below(path, name));
  }
}

/** @param {Check} check @param {Schema} schema @param {unknown} value @param {string} path @param {Tell} fault */
function checkCombined(check, schema, value, path, fault) {
  /** @param {unknown} inner */
  const fits = (inner) => {
    const trial = { ...check, faults: [] };
    checkValue(trial, inner, value, path);
    check.steps = trial.steps;
    return trial.faults.length === 0;
  };
  for (const inner of list(schema.allOf)) checkValue(check, inner, value, path);
  fault(Array.isArray(schema.anyOf) && !schema.anyOf.some(fits) && "fits none of the choices");
  const count = list(schema.oneOf).filter(fits).length;
  fault(Array.isArray(schema.oneOf) && count !== 1 && (count ? "fits more than one of the choices" : "fits none of the choices"));
  fault(schema.not !== undefined && fits(schema.not) && "is of a kind that is not allowed");
  if (schema.if !== undefined) {
    const then = fits(schema.if) ? schema.then : schema.else;
    if (then !== undefined) checkValue(check, then, value, path);
  }
}

/**
 * The schema that `schema` stands for, references within `root` followed; null where there is none to be checked.
 * @param {Schema} root @param {unknown} schema @returns {Schema | null}
 */
function resolved(root, schema) {
  let found = schema;
  for (let step = 0; step < 20 && isObject(found) && typeof own(found, "$ref") === "string"; step++) {
    found = located(root, found.$ref);
  }
  return isObject(found) && own(found, "$ref") === undefined ? found : null;
}

/** @param {Schema} root @param {string} reference */
function located(root, reference) {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return null;
  /** @type {any} */
  let found = root;
  for (const step of reference.slice(2).split("/")) {
    found = own(found, unescaped(step));
  }
  return found;
}

/** @param {string} step */
function unescaped(step) {
  try {
    step = decodeURIComponent(step);
  } catch {
    // not percent-encoded
  }
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/**
 * A pattern that a browser can try in a moment, whatever the text; null for one that it may never finish.
 *
 * Browsers backtrack. Without repeated groups and references back, a few repetitions on a text of 200 characters cost
 * at most some million steps.
 * @param {string} source
 */
function harmless(source) {
  if (source.length > 500) return null;
  const bare = source.replace(/\\./gs, "a").replace(/\[\^?\]?[^\]]*\]/gs, "a");
  if (/\)[*+?{]|\(\?<?[=!]/.test(bare) || /\\[1-9k]/.test(source)) return null;
  const repeats = bare.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  if (repeats.length > 2 || (bare.match(/\?/g) ?? []).length > 6) return null;
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // not of this dialect
    }
  }
  return null;
}

/** @param {Schema} schema @returns {string[]} */
function typesOf(schema) {
  const type = own(schema, "type");
  return (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
}

/** @param {unknown} value @param {string} type */
function isType(value, type) {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  return type === "object" ? isObject(value) : typeof value === type;
}

/** @param {string} type */
function article(type) {
  return type === "null" ? "null" : `${/^[aio]/.test(type) ? "an" : "a"} ${type}`;
}

/** @param {unknown} one @param {unknown} other @returns {boolean} */
function same(one, other) {
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((item, at) => same(item, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
}

/** @param {unknown} value @returns {value is Schema} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field of its own, never one that every object inherits. @param {any} value @param {string} name */
function own(value, name) {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** @param {unknown} value @returns {unknown[]} */
function list(value) {
  return Array.isArray(value) ? value : [];
}

/** @param {unknown} value @param {number} otherwise */
function number(value, otherwise) {
  return typeof value === "number" ? value : otherwise;
}

/** @param {unknown} value */
function shown(value) {
  return JSON.stringify(value);
}

/** @param {string} path @param {string} name */
function below(path, name) {
  return `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
