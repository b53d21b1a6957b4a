// Tells from a text, without parsing it, whether it may be a catalog. The server parses it and decides; this only spares other
// projects the server: it looks for the same evidence, and passes what it cannot tell.

import { existsSync } from "node:fs";
import { basename, dirname, extname, join, relative, sep } from "node:path";

const KEY_OF_OFFERING = /\b(?:plans|bindable|service_definitions)\\*["']?[ \t]*:/;
const SERVICES = /\bservices["']?\s*:/;
const LIST_OF_SERVICES = /\bservices["']?\s*:(?:[ ]*&[\w-]+)?(?:\s|#.*$)*(?:-\s|\[)/m;
const OTHER_KEY_AT_THE_TOP = /^["']?(?!(?:services|\$schema)["']?[ \t]*:)[^\s#"'{}[\]-][^:\n]*:(?:\s|$)/m;
const PARTS = ["services", "schemas", "overlays"];
const MARKS = ["catalog.lock", "catalog.yaml", "catalog.yml", "catalog.json"];
const LEVELS = 4; // folders in which a file may belong to a source folder, its own first

/** Whether a file of JSON or YAML may hold a catalog, or the beginning of one, or be a part of a source folder. */
export function mayBeCatalog(path: string, text: string): boolean {
  if (KEY_OF_OFFERING.test(text) || isPart(path)) return true;
  const isNamed = basename(path, extname(path)).toLowerCase().includes("catalog");
  if (isNamed && /^[\w-]*$/.test(withoutComments(text))) return true;
  return (isNamed ? SERVICES : LIST_OF_SERVICES).test(text) && !OTHER_KEY_AT_THE_TOP.test(text);
}

/** Whether a text has no more than comments and space. */
export function isNothingYet(text: string): boolean {
  return withoutComments(text) === "";
}

function withoutComments(text: string): string {
  return text.replace(/#.*$|^---[ \t]*$/gm, "").trim();
}

function isPart(path: string): boolean {
  const folder = dirname(path);
  if (/[\\/]services[\\/][^\\/]+[\\/]plans$/.test(folder)) return true;
  if (basename(folder) === "services" && existsSync(join(folder, basename(path, extname(path)), "plans"))) return true;
  const folders = [folder];
  while (folders.length < LEVELS) folders.push(dirname(folders[folders.length - 1]));
  return folders.some((top) => {
    const first = relative(top, path).split(sep)[0];
    const isOwn = PARTS.includes(first) || MARKS.includes(first);
    return isOwn && existsSync(join(top, "services")) && MARKS.some((mark) => existsSync(join(top, mark)));
  });
}
