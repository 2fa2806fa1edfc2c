import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiReport, readDeclarations } from "../src/release/api-report.ts";
import { readVersionPlan, unannouncedChange, type VersionPlan } from "../src/release/api.ts";

const index = 'export { pay, type Payment } from "./pay.ts";';

const changing = (amount: string, comment: string, own: string) => ({
  "index.d.ts": index,
  "pay.d.ts": `
    /** ${comment} */
    export declare const pay: (payment: Payment) => void;
    interface Money { readonly amount: ${amount}; }
    export interface Payment { readonly money: Money; }
    export declare const internal: ${own};`,
});

const long = (last: string) => ({
  "index.d.ts": `export declare const long: ${'"member" | '.repeat(2_000)}"${last}";`,
});

/** Declaration files of packages, all of which one program reads. */
const packages = {
  pay: {
    "index.d.ts": index,
    "pay.d.ts": `
      import { Money } from "./money.ts";
      /** Send it. */
      export declare const pay: (payment: Payment) => Promise<import("./receipt.ts").Receipt>;
      export interface Payment { readonly money: Money; }
      export interface Internal { readonly secret: string; }`,
    "money.d.ts": "export interface Money { readonly amount: bigint; }",
    "receipt.d.ts": "export declare class Receipt { readonly id: string; }",
  },
  before: changing("bigint", "Send it.", "1"),
  unseen: changing("bigint", "Make a payment.", "2"),
  seen: changing("number", "Send it.", "1"),
  one: long("one"),
  other: long("other"),
} satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

let folder: string;
let program: ReturnType<typeof readDeclarations>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "api-report-"));
  for (const [name, files] of Object.entries(packages)) {
    for (const [path, text] of Object.entries(files)) {
      const file = join(folder, name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  program = readDeclarations(Object.keys(packages).map(declarationsOf));
});
afterAll(() => rmSync(folder, { recursive: true }));

const declarationsOf = (name: string) => join(folder, name, "index.d.ts");

const reportOf = (name: keyof typeof packages): string =>
  apiReport(program, {
    name: "example",
    folder: join(folder, name),
    entries: [{ name: "example", declarations: declarationsOf(name) }],
  });

it("shows what is exported, and the types that this leads to", () => {
  const report = reportOf("pay");
  expect(report).toContain("the 2 exported names");
  expect(report).toContain('export {\n  Payment,\n  pay,\n} from "example";\n');
  expect(report).toContain("export declare const pay: (payment: Payment) => Promise<Receipt>;\n");
  expect(report).toContain("export interface Money {\n    readonly amount: bigint;\n}\n");
  expect(report).toContain("export declare class Receipt {\n    readonly id: string;\n}\n");
  expect(report).not.toMatch(/Internal|Send it/);
});

it("changes by a type that no entry exports, and by nothing that no user sees", () => {
  expect(reportOf("unseen")).toBe(reportOf("before"));
  expect(reportOf("seen")).not.toBe(reportOf("before"));
});

it("changes with an inferred type that is too long to be read", () => {
  expect(reportOf("one").length).toBeLessThan(1_000);
  expect(reportOf("one")).not.toBe(reportOf("other"));
});

it("names the file that is not built", () => {
  expect(() => readDeclarations([declarationsOf("absent")])).toThrow(
    'absent/index.d.ts is missing: run "npm run build"',
  );
});

describe("a version plan", () => {
  it.each([
    ["---\n__default__: minor\n---\n\nMore.\n", { bump: "minor", isCompatible: false }],
    [
      "---\n'durable-payments': 'major'\n---\n\nCompatible: wider.\n",
      { bump: "major", isCompatible: true },
    ],
    ["---\n---\n\nminor: no bump\n", undefined],
    ["No header: minor\n", undefined],
  ])("%j", (text, plan) => {
    expect(readVersionPlan(text)).toEqual(plan);
  });
});

describe("a change of a report", () => {
  const plan = (bump: VersionPlan["bump"], isCompatible = false): VersionPlan => ({
    bump,
    isCompatible,
  });
  const released = "a: string\nb: string\n";
  const same = { released, current: released };
  const more = { released, current: "a: string\nb: string\nc: string\n" };
  const other = { released, current: "a: number\nb: string\n" };
  const unreleased = { released: "", current: "a: string\n" };

  it.each([
    ["none needs no plan", same, []],
    ["an addition needs a minor release", more, [plan("patch"), plan("minor")]],
    ["an addition may come with a major one", more, [plan("major")]],
    ["a line that is gone needs a major release", other, [plan("major")]],
    ["a line that is gone may be compatible", other, [plan("minor", true)]],
    ["a first release needs a plan", unreleased, [plan("minor")]],
  ])("%s", (_, report, plans) => {
    expect(unannouncedChange(report, plans)).toBeUndefined();
  });

  it.each([
    ["an addition without a plan", more, [], "a version plan of a minor release"],
    ["an addition in a patch", more, [plan("patch")], "a version plan of a minor release"],
    ["a first release without a plan", unreleased, [], "a version plan of a minor release"],
    ["a line that is gone", other, [plan("minor")], "  - a: string\n"],
    ["a compatible line in a patch", other, [plan("patch", true)], "of a minor release"],
  ])("%s is refused", (_, report, plans, words) => {
    expect(unannouncedChange(report, plans)).toContain(words);
  });
});
