import * as Schema from "effect/Schema";
import * as SchemaAST from "effect/SchemaAST";
import * as SchemaIssue from "effect/SchemaIssue";
import { didYouMean, type Fault } from "./faults.ts";

/** A request as it came, before anything is known of its fields. */
export type RawRequest = Readonly<Record<string, unknown>>;

/** A rule that ties several fields; it must cope with fields that are missing or of a wrong type. */
export type Rule = (request: RawRequest) => ReadonlyArray<Fault>;

const rulesKey = "@durable-payments/client/rules";

/** Text of a field, or the empty string if it is missing or not a text. */
export const given = (request: RawRequest, field: string): string => {
  const value = request[field];
  return typeof value === "string" ? value : "";
};

/** Requires `field` while `when` holds; `because` gives the reason, after "is required ". */
export const requiredWhen =
  (field: string, because: string, when: (request: RawRequest) => boolean): Rule =>
  (request) =>
    when(request) && given(request, field).trim() === ""
      ? [{ field, problem: `is required ${because}` }]
      : [];

/**
 * Adds rules across fields to a struct. They are part of the schema, so that the simulator refuses a request that breaks
 * one. {@link rulesOf} returns them: a request with faults in single fields then has every fault named at once.
 */
export const withRules = <S extends Schema.Struct<Schema.Struct.Fields>>(
  struct: S,
  rules: ReadonlyArray<Rule>,
): S["Rebuild"] =>
  struct
    .check(
      Schema.makeFilter((request: S["Type"]) =>
        rules
          // A struct's value is a plain record of its fields.
          .flatMap((rule) => rule(request as RawRequest))
          .map((fault) => ({ path: [fault.field], issue: fault.problem })),
      ),
    )
    .annotate({ [rulesKey]: rules });

/** The fields of a struct that {@link named} made, for the type that names it. */
export type Named<S extends { readonly fields: Schema.Struct.Fields }> = Schema.Struct.Type<
  S["fields"]
>;

/**
 * A struct under the name of its type: editors and declarations show that instead of all fields. The type is an interface
 * that extends {@link Named} of the result.
 *
 * @param rules across fields, see {@link withRules}
 */
export const named =
  <Self>() =>
  <Fields extends Schema.Struct.Fields>(fields: Fields, rules?: ReadonlyArray<Rule>) => {
    const struct = Schema.Struct(fields);
    return Schema.Opaque<Self>()(rules === undefined ? struct : withRules(struct, rules));
  };

/** The rules across fields that {@link withRules} added to a schema. */
export const rulesOf = (schema: Schema.Top): ReadonlyArray<Rule> => {
  const found = Schema.resolveAnnotations(schema)?.[rulesKey];
  // Only `withRules` writes this key.
  return Array.isArray(found) ? (found as ReadonlyArray<Rule>) : [];
};

/** Options of a check that finds every fault at once, unknown names among them. */
export const STRICT = { errors: "all", onExcessProperty: "error" } as const;

const KNOWN = "Expected a known name: ";

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey" && SchemaAST.isObjects(issue.ast)
      ? KNOWN + issue.ast.propertySignatures.map(({ name }) => String(name)).join(" ")
      : SchemaIssue.defaultLeafHook(issue),
});

/** Effect's message, worded as the end of a sentence that begins with the field. */
const problemOf = (message: string, name: string): string => {
  if (message === "Missing key") return "is required";
  if (message.startsWith(KNOWN)) {
    return `is not a known name${didYouMean([name], message.slice(KNOWN.length).split(" "))}`;
  }
  const expected = /^(?:Expected|must be) (.*)$/s.exec(message)?.[1] ?? "";
  if (expected.includes(" | ")) return `must be one of ${expected.replaceAll(" | ", ", ")}`;
  if (!message.startsWith("Expected ")) return message;
  if (/^(?:an?|null|undefined|never|"|\d|true|false)\b|^"/.test(expected))
    return `must be ${expected}`;
  return `must be ${/^[aeiou]/.test(expected) ? "an" : "a"} ${expected}`;
};

/**
 * Names the faults of a value that a schema rejects.
 *
 * @param issue of the schema's error
 * @returns each fault with its field, written as a path with points; empty for the value itself
 */
export const faultsOf = (issue: SchemaIssue.Issue): ReadonlyArray<Fault> =>
  issuesOf(issue).issues.map(({ message, path = [] }) => {
    const names = path.map(String);
    return { field: names.join("."), problem: problemOf(message, names.at(-1) ?? "") };
  });
