/** What would be a formula where a spreadsheet splits lines at semicolons. */
const FORMULA_WITHIN = /;(?=[\s"']*[-=+@\uFF0B\uFF0D\uFF1D\uFF20])/g;

/** Write a text so that no part of it is a formula, wherever a spreadsheet begins a cell within it. */
export const withoutFormulas = (text: string): string => text.replaceAll(FORMULA_WITHIN, ";'");
