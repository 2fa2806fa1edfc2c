import { isRecord } from "@durable-payments/client/values";
import { Schema } from "effect";
import { SettingsSchema } from "../../src/settings-schema.ts";
import { settingVariables } from "../../src/settings.ts";
import { readSettingDocs, settingNames } from "./setting-docs.ts";

const ADDRESS =
  "https://raw.githubusercontent.com/durable-payments/durable-payments/main/docs/settings.schema.json";

/** What the docstrings of the settings say. */
export const docs = readSettingDocs();

/** The same JSON Schema with the description of each setting; each account has the settings of the top level. */
const described = (schema: unknown, name = ""): unknown => {
  if (!isRecord(schema)) return schema;
  const inner = Object.entries(schema).map(([key, value]) => {
    if (key === "additionalProperties") return [key, described(value)];
    if (key !== "properties" || !isRecord(value)) return [key, value];
    const settings = Object.entries(value).map(([setting, one]) => [
      setting,
      described(one, name === "" ? setting : `${name}.${setting}`),
    ]);
    return [key, Object.fromEntries(settings) as unknown];
  });
  const description = docs.get(name)?.description;
  return { ...Object.fromEntries(inner), ...(description !== undefined && { description }) };
};

/** JSON Schema of the settings file, by which an editor completes and checks it. */
export const settingsSchema = (): string => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(SettingsSchema, {
    onExcessProperty: "error",
  });
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: ADDRESS,
    title: "Settings of durable-payments",
    ...(described(schema) as object),
    ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
};

const code = (text: string | undefined): string => (text === undefined ? "" : `\`${text}\``);

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const [head = []] = rows;
  const widths = head.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  const lines = rows.map(
    (row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
};

const settingsTable = (names: ReadonlyArray<string>): string =>
  table([
    ["setting", "meaning", "default", "environment variable"],
    ...names.map((name) => {
      const { description = "", otherwise = "" } = docs.get(name) ?? {};
      return [code(name), description, otherwise, code(settingVariables.get(name))];
    }),
  ]);

/** The settings of a group and of the groups within it, in the order of their declaration. */
export const namesIn = (group = ""): ReadonlyArray<string> =>
  (settingNames[group] ?? []).flatMap((one) => {
    const name = group === "" ? one : `${group}.${one}`;
    return [name, ...namesIn(name)];
  });

/** The reference of the settings. */
export const settingsPage = (): string => {
  const names = namesIn().filter((name) => name !== "$schema");
  const ofService = names.slice(0, names.indexOf("accounts"));
  const others = names.slice(ofService.length);
  return `# Settings

This page is for anyone who configures a worker, the command line or the codec server. It lists each setting and its environment variable.

A worker needs an account with its API key, Temporal, and the ledger. The command line needs the same settings as the workers. Commands that decide, such as \`durable-payments approve\`, and \`durable-payments inbox\` need only the ledger. The codec server needs \`keyring\` and \`TEMPORAL_NAMESPACE\`.

\`PAYMENTS_SETTINGS\` names one JSON file that holds all settings. An environment variable overrides its setting in the file. \`PaymentsPlugin\` takes those of an account, \`accounts\`, \`batchShare\`, \`healthAddress\`, \`hints\`, \`keyring\`, \`ledger\` and \`notify\` as options, which override both.

\`\`\`json
{
  "$schema": "${ADDRESS}",
  "baseUrl": "https://payments.example",
  "clientId": "my-client",
  "apiKeyFile": "/run/secrets/payments-api-key",
  "ledger": "postgres://payments@database.example/payments",
  "approveAbove": { "USD": "10000.00" },
  "notify": { "url": "https://alerts.example/payments", "overdueHours": 48 }
}
\`\`\`

The \`$schema\` line lets an editor complete and check the file. Unknown settings are refused. Paths are relative to the folder of the file. Do not put secrets into the file: use \`apiKeyFile\` or environment variables.

## Account with the service

Each entry of \`accounts\` takes the same settings. In flags such as \`--account\`, the account of the top level of the file is called \`default\`.

${settingsTable(ofService)}

\`maxAmounts\` and \`approveAbove\` apply to payouts, cards and withdrawals. \`approveAbove\` also applies to the totals of batches, and to amended and resent payments. The [limits of the account](answer-and-approve.md#limits), which every worker obeys, are in the ledger.

## Worker, ledger and tools

${settingsTable(others)}

## Temporal

${table([
  ["environment variable", "meaning", "default"],
  [
    "`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS_*`, `TEMPORAL_PROFILE`, `TEMPORAL_CONFIG_FILE`",
    "Temporal's own [environment configuration](https://docs.temporal.io/develop/environment-configuration).",
    "`localhost:7233`, `default`",
  ],
  ["`TEMPORAL_API_KEY_FILE`", "File with Temporal's API key. It is reloaded when it changes.", ""],
])}

This page and [settings.schema.json](settings.schema.json) are generated from \`packages/protocol/src/settings-schema.ts\`: \`npx vitest run --project=@durable-payments/protocol packages/protocol/test/settings.test.ts -u\`.
`;
};
