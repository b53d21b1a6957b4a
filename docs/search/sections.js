/*
 * Finds sections by the words of their headings, in any order. Sphinx finds them by the beginning of a phrase alone, so
 * that "duplicate plan name" would not lead to the rule "plan-name-duplicate".
 */
"use strict";

const LAST = ["changelog", "contributing/architecture", "contributing/publish"];

// Sphinx defines its search in a script that comes after this one, and runs it once the index is loaded.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return; // every page but that of the search
  const stemmer = new Stemmer();
  const stems = (text) =>
    splitQuery(text.toLowerCase())
      .filter((word) => !stopwords.has(word))
      .map((word) => stemmer.stemWord(word));
  const search = Search._performSearch;

  // Results are [page, title, anchor, description, score, file, kind], the best one last.
  Search._performSearch = (query, terms, ...others) => {
    const { alltitles, docnames, filenames, titles } = Search._index;
    const [found, distant] = [[], []];
    for (const [title, places] of Object.entries(alltitles)) {
      const words = new Set(stems(title));
      if (terms.size === 0 || ![...terms].every((term) => words.has(term))) continue;
      for (const [file, id] of places) {
        const isPage = titles[file] === title;
        const share = terms.size / words.size;
        const name = isPage ? title : `${titles[file]} > ${title}`;
        const anchor = isPage || id === null ? "" : `#${id}`;
        // A rule's heading is its id and a sentence: what only the sentence mentions may be about something else.
        const isNear = share >= 0.4 || [...terms].every((term) => stems(title.split(": ")[0]).includes(term));
        const group = isNear ? found : distant;
        group.push([docnames[file], name, anchor, null, share + (isPage ? 0.5 : 0), filenames[file], "title"]);
      }
    }
    const isFound = new Set([...found, ...distant].map(([page, , anchor]) => page + anchor));
    const rest = search(query, terms, ...others).filter(([page, , anchor]) => !isFound.has(page + anchor));
    const sorted = (group) => group.sort((one, other) => one[4] - other[4]);
    const all = [...sorted(distant), ...rest, ...sorted(found)];
    const isLast = ([page]) => LAST.includes(page);
    return [...all.filter(isLast), ...all.filter((one) => !isLast(one))];
  };
});
