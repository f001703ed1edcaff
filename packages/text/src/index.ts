export { ANALYSER, analyse } from "./analyse.ts";
export { type Bm25Options, type Collection, idf, saturated } from "./bm25f.ts";
export { denseTerms } from "./dense.ts";
export { type Excerpt, excerpt } from "./excerpt.ts";
export { foldText, foldWord } from "./fold.ts";
export { ftsMatch, SPACE_TOKENIZER } from "./fts.ts";
export { type AnalysedQuery, analyseQuery } from "./query.ts";
export { type Run, splitRuns } from "./runs.ts";
export { stopWords } from "./stop-words.ts";
