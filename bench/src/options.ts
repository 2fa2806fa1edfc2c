import { fileURLToPath } from "node:url";
import { resolve } from "node:path";
import { BadOption } from "@durable-payments/tools/command";
import type { ScenarioEntry } from "./scenario.ts";

/** The options of the command, as `parseArgs` takes them. */
export const benchOptions = {
  only: { type: "string", multiple: true },
  json: { type: "string" },
  quick: { type: "boolean" },
  server: { type: "string" },
} as const;

const defaultFile = fileURLToPath(new URL("../../.local/bench.json", import.meta.url));

/** What `--help` shows. */
export const helpOf = (
  scenarios: ReadonlyArray<ScenarioEntry>,
): string => `Usage: npm run bench [-- OPTIONS]

Measures what the project costs, each figure against a baseline of the same run: round by round,
one after the other. Prints a table and writes the figures as JSON.

Options:
  --only NAME   runs this scenario alone; may be given again
  --json FILE   where the figures go (.local/bench.json)
  --quick       fewer, shorter rounds: shows that it runs, its figures are rough
  --server postgres
                the ledger has to be measured in PostgreSQL, too, and Debian's package is installed
                where it may be; without it, PostgreSQL is measured where it is installed
  --help        shows this text

Scenarios:
${scenarios.map(({ about, name }) => `  ${name.padEnd(12)}  ${about}`).join("\n")}

Exit codes: 0 measured, whether targets are met or missed; 1 a scenario failed; 2 bad options;
130 interrupted.
`;

/**
 * The scenarios that `--only` names; all of them where it names none.
 *
 * @throws BadOption for a name that there is not
 */
export const chosen = (
  scenarios: ReadonlyArray<ScenarioEntry>,
  only: ReadonlyArray<string> = [],
): ReadonlyArray<ScenarioEntry> => {
  const unknown = only.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    throw new BadOption(
      `--only must be one of ${scenarios.map(({ name }) => name).join(", ")}; got "${unknown}".`,
    );
  }
  return only.length === 0 ? scenarios : scenarios.filter(({ name }) => only.includes(name));
};

/**
 * Whether PostgreSQL has to be measured.
 *
 * @throws BadOption for another server
 */
export const isPostgres = (server: string | undefined): boolean => {
  if (server === undefined || server === "postgres") return server !== undefined;
  throw new BadOption(`--server must be postgres; got "${server}".`);
};

/** The file that receives the figures. npm runs its scripts in the checkout, wherever the user is. */
export const fileOf = (json: string | undefined): string =>
  json === undefined ? defaultFile : resolve(process.env["INIT_CWD"] ?? "", json);
