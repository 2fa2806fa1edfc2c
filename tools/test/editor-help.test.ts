import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { operationNames } from "@durable-payments/api-core";
import { checkInput, operation } from "@durable-payments/api-core/contract";
import { beforeAll, describe, expect, it } from "vitest";
import { checkout } from "../src/processes/apps.ts";
import { openInEditor, type Place } from "./support/editor.ts";

const apiCore = join(checkout, "packages/api-core");
const declarations = join(apiCore, "out-tsc/editor-help");

const capitalized = (name: string) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;

const takesNothing = (name: string) => name === "ping" || name === "listPayers";

/** Calls every operation, and marks the places that are looked at. */
const callsFrom = (module: string) => `
import { makePaymentsClient, type PaymentsClient } from "${module}";
const client = makePaymentsClient({ baseUrl: "", clientId: "", apiKey: "" });
declare const effects: PaymentsClient["Service"];
${operationNames
  .map(
    (name) => `
export const ${name}Answer = client.${name}/*${name}*/(${takesNothing(name) ? "" : `{ /*fields of ${name}*/ }`});
export declare const ${name}Input: Parameters<typeof client.${name}>[0];
effects.${name}/*effect ${name}*/;`,
  )
  .join("")}
client.streams.listPayouts/*stream*/;
client./*members*/close;
`;

const lineAt = ({ file, line }: Place) => readFileSync(file, "utf8").split("\n")[line - 1];

const contract = join(apiCore, "src/contract/");

/** What a text says that a field may be: its limits, and the unit of what it holds. */
const factsOf = (text: string): ReadonlyArray<string> =>
  [
    /1 to \d+( characters)?/,
    /at most \d+ (characters|days)/,
    /\b1 or more/,
    /YYYY-MM-DD/,
    /(two|three)-letter/,
    /milliseconds since 1970/,
    /decimal (string|amount)/,
    /above zero/,
  ].flatMap((fact) => fact.exec(text)?.[0].replace("amount", "string") ?? []);

/** What the contract's checks say of a field that holds these. */
const WRONG_VALUES = ["", "?", "x".repeat(10_000), "-1", -1, 0.5, 1e9, 1e15];

const problemsOf = (name: (typeof operationNames)[number], field: string): string =>
  WRONG_VALUES.flatMap((value) => checkInput(name, { start: 0, [field]: value }))
    .filter((fault) => fault.field === field)
    .map(({ problem }) => problem)
    .join("; ");

/** The names that have no documentation. */
const undocumented = (documented: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...documented].flatMap(([name, documentation]) => (documentation === "" ? [name] : []));

/** A place in the contract where this is declared. */
const expectDeclared = (name: string, place: Place | undefined) => {
  if (place === undefined) return expect.fail(`${name} leads nowhere`);
  expect(place.file).toContain(contract);
  expect(lineAt(place)).toContain(name);
};

/** As the contract is in this repository, and as a user has it: declarations with maps to the sources. */
describe.each([
  ["the sources", join(apiCore, "src/index.ts")],
  ["the package's declarations", join(declarations, "index.js")],
])("%s in an editor", (of, module) => {
  let editor: ReturnType<typeof openInEditor>;

  beforeAll(async () => {
    if (of !== "the sources") {
      const project = ["-p", join(apiCore, "tsconfig.lib.json")];
      const output = ["--outDir", declarations, "--tsBuildInfoFile", `${declarations}/tsbuildinfo`];
      const tsc = join(checkout, "node_modules/.bin/tsc");
      await promisify(execFile)(tsc, [...project, "--emitDeclarationOnly", ...output]);
    }
    editor = openInEditor(callsFrom(module));
  });

  it("shows createPayout by the names of its types", () => {
    expect(editor.hover("createPayout").signature).toBe(
      "(property) createPayout: (input: CreatePayoutInput, options?: CallOptions) => Promise<Payout>",
    );
    expect(editor.hover("stream").signature).toMatch(
      /^\(property\) listPayouts: \(filters\?: Omit<ListPayoutsInput, .*=> AsyncIterable<Payout>$/,
    );
  });

  it.each(operationNames)(
    "says of %s what it does, how it is repeated, and how it is called",
    (name) => {
      const shown = editor.hover(name);
      const input = takesNothing(name)
        ? "input?: {} | undefined"
        : `input: ${capitalized(name)}Input`;
      expect(shown.signature).toContain(
        `(property) ${name}: (${input}, options?: CallOptions) => `,
      );
      expect(shown.signature).toMatch(
        / => Promise<(undefined|(readonly )?[A-Z]\w+(<\w+>)?(\[\])?)>$/,
      );
      expect(shown.documentation).toMatch(/^[A-Z][^.]+\./);
      expect(shown.documentation).toContain(`Idempotency class \`${operation(name).idempotency}\``);
      expect(shown.example).toContain(`client.${name}(`);
      expectDeclared(`${name}:`, shown.definition);
      expect(editor.hover(`effect ${name}`)).toMatchObject({
        documentation: shown.documentation,
        definition: shown.definition,
      });
    },
  );

  it.each(operationNames.filter((name) => !takesNothing(name)))(
    "documents every field of %s",
    (name) => {
      const { params, payload, query } = operation(name);
      const offered = editor.completions(`fields of ${name}`);
      const fields = [params, query, payload].flatMap((part) => part?.fields ?? []);
      expect([...offered.keys()].toSorted()).toStrictEqual(fields.toSorted());
      expect(undocumented(offered)).toStrictEqual([]);
      expect(
        [...offered].map(([field, documentation]) => [field, factsOf(documentation)]),
      ).toStrictEqual(
        [...offered.keys()].map((field) => [field, factsOf(problemsOf(name, field))]),
      );
    },
  );

  it.each(operationNames)("documents every field that %s answers", (name) => {
    const fields = editor.fields(`${name}Answer`);
    expect(fields.length === 0).toBe(
      editor.hover(name).signature.endsWith(" => Promise<undefined>"),
    );
    expect(
      undocumented(new Map(fields.map(({ documentation, path }) => [path, documentation]))),
    ).toStrictEqual([]);
    for (const { definition, path } of fields) {
      expectDeclared(path.split(".").at(-1) ?? "", definition);
    }
  });

  it("documents every member of the client", () => {
    const members = editor.completions("members");
    expect(members.size).toBeGreaterThan(operationNames.length);
    expect(undocumented(members)).toStrictEqual([]);
  });
});
