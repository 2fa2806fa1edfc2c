import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiReports } from "../src/release/api-report.ts";

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

/** The same inferred type as two builds wrote it. */
const union = (members: string) => ({
  "index.d.ts": `export declare const made: import("./made.ts").Made<${members}>;`,
  "made.d.ts": "export interface Made<Kind> { readonly kind: Kind; }",
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
      import type { Stats } from "node:fs";
      /** Send it. */
      export declare const pay: (payment: Payment) => Promise<import("./receipt.ts").Receipt>;
      export interface Payment { readonly money: Money; readonly file: Stats; }
      export interface Internal { readonly secret: string; }`,
    "money.d.ts": "export interface Money { readonly amount: bigint; }",
    "receipt.d.ts": "export declare class Receipt { private cache; readonly id: string; }",
  },
  before: changing("bigint", "Send it.", "1"),
  unseen: changing("bigint", "Make a payment.", "2"),
  seen: changing("number", "Send it.", "1"),
  ordered: union('{ readonly id: "a" | "b" } | Error'),
  reordered: union('Error | { readonly id: "b" | "a" }'),
  one: long("one"),
  other: long("other"),
} satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

let folder: string;
let reports: ReadonlyMap<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "api-report-"));
  for (const [name, files] of Object.entries(packages)) {
    for (const [path, text] of Object.entries(files)) {
      const file = join(folder, name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  reports = apiReports(Object.keys(packages).map((name) => built(name)));
});
afterAll(() => rmSync(folder, { recursive: true }));

const built = (name: string) => ({
  name,
  folder: join(folder, name),
  entries: [{ name: "example", declarations: join(folder, name, "index.d.ts") }],
});

const reportOf = (name: keyof typeof packages): string => {
  const [, report = ""] = (reports.get(name) ?? "").split("# API of " + name);
  return report;
};

it("tells what is exported, and the types that this leads to", () => {
  const report = reportOf("pay");
  expect(report).toContain('export {\n  Payment,\n  pay,\n} from "example";\n');
  expect(report).toContain('import { Stats } from "node:fs";\n');
  expect(report).toContain("export declare const pay: (payment: Payment) => Promise<Receipt>;\n");
  expect(report).toContain("export interface Money {\n    readonly amount: bigint;\n}\n");
  expect(report).toContain("export declare class Receipt {\n    readonly id: string;\n}\n");
  expect(report).not.toMatch(/Internal|Send it/);
});

it("changes by a type that no entry exports, and by nothing that no user sees", () => {
  expect(reportOf("unseen")).toBe(reportOf("before"));
  expect(reportOf("seen")).not.toBe(reportOf("before"));
});

it("does not change with the order in which a build writes a union", () => {
  expect(reportOf("reordered")).toBe(reportOf("ordered"));
});

it("changes with an inferred type that is too long to be read", () => {
  expect(reportOf("one").length).toBeLessThan(1_000);
  expect(reportOf("one")).not.toBe(reportOf("other"));
});

it("names the entry that is not built", () => {
  expect(() => apiReports([built("missing")])).toThrow(
    'example has no declarations: run "npm run build"',
  );
});
