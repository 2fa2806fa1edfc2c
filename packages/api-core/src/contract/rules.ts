import * as Schema from "effect/Schema";

/** A request as it came, before anything is known of its fields. */
export type RawRequest = Readonly<Record<string, unknown>>;

/** One fault of a request: the field and what is wrong with it, as a person reads it. */
export interface Fault {
  /** Name of the field; empty if the whole request is wrong. */
  readonly field: string;
  /** What is wrong, after the name of the field: `must not be empty`. */
  readonly problem: string;
}

/** A rule that ties several fields; it must cope with fields that are missing or of a wrong type. */
export type Rule = (request: RawRequest) => ReadonlyArray<Fault>;

const rulesKey = "@durable-payments/api-core/rules";

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
 * Adds rules across fields to a struct. They are part of the schema (the simulator refuses what
 * breaks them) and can be had by {@link rulesOf}, so that a request with faults in single fields
 * still has every fault named at once.
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

/** The rules across fields that {@link withRules} added to a schema. */
export const rulesOf = (schema: Schema.Top): ReadonlyArray<Rule> => {
  const found = Schema.resolveAnnotations(schema)?.[rulesKey];
  // Only `withRules` writes this key.
  return Array.isArray(found) ? (found as ReadonlyArray<Rule>) : [];
};
