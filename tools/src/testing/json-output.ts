import { Ajv } from "ajv";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../processes.ts";

interface Schema {
  readonly $id: string;
  readonly definitions: Readonly<Record<string, object>>;
}

const load = () => {
  const text = readFileSync(join(checkout, "docs/json-output.schema.json"), "utf8");
  const schema = JSON.parse(text) as Schema;
  return { ...schema, ajv: new Ajv({ allowUnionTypes: true, allErrors: true }).addSchema(schema) };
};

let loaded: ReturnType<typeof load> | undefined;

/**
 * Checks an answer of the command line by the published schema, with `--jsonl` each line. Otherwise nothing is checked.
 *
 * @throws Error with every difference.
 */
export const checkJsonOutput = (args: ReadonlyArray<string>, stdout: string): void => {
  if (args.includes("--jsonl"))
    for (const line of stdout.split("\n")) checkAnswer(args, line, "-line");
  else if (args.includes("--json")) checkAnswer(args, stdout);
};

const checkAnswer = (args: ReadonlyArray<string>, text: string, suffix = ""): void => {
  if (text === "") return;
  const { $id, ajv, definitions } = (loaded ??= load());
  const answer: unknown = JSON.parse(text);
  const [first = "", second = ""] = args;
  const command = [`${first}-${second}`, first].find((name) => name in definitions) ?? "overview";
  const isError = typeof answer === "object" && answer !== null && "error" in answer;
  const name = `${$id}#/definitions/${isError ? "error" : `${command}${suffix}`}`;
  if (ajv.validate(name, answer)) return;
  throw new Error(`The answer is not ${name}:\n${ajv.errorsText(ajv.errors, { separator: "\n" })}`);
};
