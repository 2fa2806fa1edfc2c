import { Schema } from "effect";
import { AssumptionsSchema } from "../../src/contract/assumptions.ts";
import { defaultAssumptions } from "../../src/contract/default-assumptions.ts";
import { readAssumptions } from "./contract-documentation.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

const INTRODUCTION = `# Assumptions

This page is for engineers who connect to the service. It lists the client's assumptions about points that the
service's documentation leaves open. Change those that your service does differently.

\`\`\`json
{ "assumptions": { "updateBeneficiaryMethod": "PUT", "notCarriedOutStatuses": [503] } }
\`\`\`

This is part of the [settings file](settings.md). An object changes only the names that it contains; other values replace
the default. Statuses and words are compared without regard to case. Unknown names are rejected. The client's option \`assumptions\` takes the same object.

Check \`listLagSeconds\`, \`payoutKeyEcho\`, \`timeZone\`, and the statuses of a payout that completed, failed or came back first.
They determine how long the list may lack a payout whose response was lost, how it is recognised, and when it counts
as paid. If \`listLagSeconds\` is too small, a payout may be made twice.

This page is generated from \`packages/api-core/src/contract/assumptions.ts\`: \`npx vitest run --project=@durable-payments/client packages/api-core/test/documents.test.ts -u\`.
`;

const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What a setting takes, in a few words. */
const takes = (schema: JsonSchema): string => {
  const { anyOf, enum: values, items, properties, type } = schema;
  if (Array.isArray(anyOf)) return anyOf.filter(isSchema).map(takes).join(" or ");
  if (Array.isArray(values)) return values.map((value) => code(JSON.stringify(value))).join(", ");
  if (isSchema(properties)) {
    const [value] = Object.values(properties).filter(isSchema);
    return `object; each value: ${value === undefined ? "any" : takes(value)}`;
  }
  if (isSchema(items)) return `list; each item: ${takes(items)}`;
  if (type === "integer") return "whole number";
  return type === "boolean" ? "`true` or `false`" : "string";
};

const cell = (text: string): string => text.replace(/\s+/g, " ");

const makeTable = (): string => {
  const descriptions = readAssumptions();
  const schemas = Schema.toJsonSchemaDocument(AssumptionsSchema).schema.properties;
  const rows = Object.entries(defaultAssumptions).map(([name, byDefault]) => {
    const schema = isSchema(schemas) && isSchema(schemas[name]) ? schemas[name] : {};
    return [
      code(name),
      cell(descriptions.get(name) ?? ""),
      code(JSON.stringify(byDefault)),
      takes(schema),
    ];
  });
  const table = [["name", "meaning", "default", "allowed values"], ...rows];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...table.map((row) => (row[column] ?? "").length)),
  );
  const lines = table.map(
    (row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
};

/** The page of the assumptions, for people. */
export const assumptionsPage = (): string => `${INTRODUCTION}\n${makeTable()}\n`;
