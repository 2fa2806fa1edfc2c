import * as SchemaIssue from "effect/SchemaIssue";
import type { Fault } from "./rules.ts";

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1();

/** Effect's message, worded as the end of a sentence that begins with the field. */
const problemOf = (message: string): string => {
  if (message === "Missing key") return "is required";
  if (message === "Expected no excess property") return "is not a known field";
  const expected = /^(?:Expected|must be) (.*)$/s.exec(message)?.[1];
  if (expected?.includes(" | ")) return `must be one of ${expected.replaceAll(" | ", ", ")}`;
  if (!message.startsWith("Expected ")) return message;
  return `must be ${/^(?:an?|null|undefined|never|"|\d|true|false)\b|^"/.test(expected ?? "") ? "" : "a "}${expected}`;
};

/**
 * Names the faults of a value that a schema rejects.
 *
 * @param issue of the schema's error
 * @returns each fault with its field, written as a path with points; empty for the value itself
 */
export const faultsOf = (issue: SchemaIssue.Issue): ReadonlyArray<Fault> =>
  issuesOf(issue).issues.map(({ message, path }) => ({
    field: (path ?? []).map(String).join("."),
    problem: problemOf(message),
  }));

/**
 * Keeps the first fault of each field: the others mostly follow from it.
 *
 * @param faults in the order in which they were found
 */
export const firstFaults = (faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> => {
  const named = new Set<string>();
  return faults.filter(({ field }) => !named.has(field) && named.add(field));
};

/**
 * Writes faults as one text.
 *
 * @returns `<field>: <problem>; …`
 */
export const faultsText = (faults: ReadonlyArray<Fault>): string =>
  faults.map(({ field, problem }) => (field === "" ? problem : `${field}: ${problem}`)).join("; ");
