import { csv, holding, jsonLines, makeRows } from "@durable-payments/tools/test-data";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { defaultAssumptions } from "@durable-payments/api-core";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, it } from "vitest";
import { checkBatchFile, type CheckedFile, chunksAgain } from "../../src/batch/check-file.ts";
import { COLUMNS } from "../../src/batch/columns.ts";
import { Totals } from "../../src/totals.ts";
import { csvLine } from "../../src/batch/result-file.ts";
import { InvalidInput } from "../../src/errors.ts";

const folder = await mkdtemp(join(tmpdir(), "batch-test-"));
afterAll(() => rm(folder, { recursive: true }));

const write = async (name: string, text: string | Uint8Array): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
};

const HEADER = "key,beneficiary_id,currency,amount,payout_reason,payment_date,is_payer";
const row = (key: string, more: { readonly amount?: string; readonly currency?: string } = {}) =>
  `${key},b-1,${more.currency ?? "EUR"},${more.amount ?? "1.00"},Goods,2026-12-01,Y`;

const check = (text: string | Uint8Array, name = "payouts.csv") =>
  write(name, text).then((file) => checkBatchFile(file, defaultAssumptions));

/** What a file is refused with. */
const refusal = async (text: string | Uint8Array, name?: string) => {
  const error: unknown = await check(text, name).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof InvalidInput)) throw new Error(`It was not refused: ${String(error)}`);
  return error;
};

const faultsOf = async (text: string, name?: string) =>
  (await refusal(text, name)).faults?.map(({ field, problem }) => `${field} ${problem}`);

describe("a sound file", () => {
  it("is counted and summed exactly, by currency", async () => {
    const rows = [
      row("a", { amount: "0.10" }),
      row("b", { amount: "0.20" }),
      row("c", { currency: "JPY", amount: "9007199254740993" }),
      row("d", { currency: "JPY", amount: "1" }),
    ];
    expect(await check([HEADER, ...rows].join("\n"))).toMatchObject({
      rows: 4,
      totals: { EUR: "0.30", JPY: "9007199254740994" },
    });
  });

  it("means the same in small letters as in capitals", async () => {
    const capitals = await check([HEADER, row("a"), row("b")].join("\n"));
    const small = await check([HEADER, row("a"), row("b", { currency: "eur" })].join("\n"));
    expect(small.totals).toEqual({ EUR: "2.00" });
    expect(small.batch).toBe(capitals.batch);
  });

  it("stands among the examples", async () => {
    const example = fileURLToPath(new URL("../../../../examples/payouts.csv", import.meta.url));
    expect(await checkBatchFile(example, defaultAssumptions)).toMatchObject({
      rows: 2,
      totals: { EUR: "349.50" },
    });
  });

  it("is the same however it is written", async () => {
    const rows = [row("a"), row("b")];
    const plain = await check([HEADER, ...rows].join("\n"));
    const quoted = rows.map((line) =>
      line
        .split(",")
        .map((cell) => `"${cell}"`)
        .join(),
    );
    const other = await check(`\uFEFF${[HEADER, ...quoted, ""].join("\r\n")}`);
    expect(other.batch).toBe(plain.batch);
    expect(other.batch).toMatch(/^payouts\/[0-9a-f]{32}$/);
    expect((await check([HEADER, rows[0]].join("\n"))).batch).not.toBe(plain.batch);
  });

  it("may be CSV or JSON Lines, with every field of beneficiary, payout and options", async () => {
    const rows = makeRows("same", 3);
    const [first, second] = [await check(csv(rows)), await check(jsonLines(rows), "p.jsonl")];
    expect(first).toMatchObject({ rows: 3, totals: { EUR: "6.00" } });
    expect(second).toMatchObject({ rows: 3, totals: { EUR: "6.00" } });
    const paymentsOf = async (checked: typeof first) => {
      const payments: Array<unknown> = [];
      for await (const chunk of chunksAgain(checked)) {
        payments.push(
          ...chunk.rows.map(({ fingerprint, input, key }) => ({ fingerprint, input, key })),
        );
      }
      return payments;
    };
    expect(await paymentsOf(first)).toEqual(await paymentsOf(second));
    for (const name of ["key", "beneficiary.iban", "amount", "options.onRefusal"]) {
      expect(COLUMNS).toContain(name);
    }
    expect(COLUMNS).not.toContain("unique_request_id");
  });

  it("is kept in chunks of at most 250 rows and 200,000 bytes", async () => {
    const short = await check(
      [HEADER, ...Array.from({ length: 501 }, (_, n) => row(`k${n}`))].join("\n"),
    );
    expect(short.chunks).toHaveLength(3);
    const note = "x".repeat(10_000);
    const long = makeRows("long", 40, () => ({
      payout: { ...makeRows("p", 1)[0]!.payout, payout_reason: note },
    }));
    expect((await check(jsonLines(long), "long.jsonl")).chunks).toHaveLength(3);
  });

  it("that is changed while it is read is refused", async () => {
    const checked = await check([HEADER, row("a"), row("b")].join("\n"), "changing.csv");
    await write("changing.csv", [HEADER, row("a", { amount: "2.00" }), row("b")].join("\n"));
    await expect(
      (async () => {
        for await (const chunk of chunksAgain(checked)) expect(chunk).toBe("refused");
      })(),
    ).rejects.toThrow("was changed while it was read");
  });
});

describe("what was checked is computed again while the file is read", () => {
  const changes: ReadonlyArray<[string, Partial<CheckedFile>]> = [
    ["totals", { totals: { EUR: "1.00" } }],
    ["totals of another currency", { totals: { EUR: "2.00", USD: "1.00" } }],
    ["rows", { rows: 1 }],
    ["batch id", { batch: "c-1" }],
  ];

  it.each(changes)("other %s are refused", async (_, change) => {
    const checked = await check([HEADER, row("a"), row("b")].join("\n"), "claimed.csv");
    const reading = (async () => {
      for await (const { number } of chunksAgain({ ...checked, ...change })) {
        expect(number).toBe(1);
      }
    })();
    await expect(reading).rejects.toMatchObject({
      _tag: "Refused",
      message: holding("is not what was checked"),
    });
  });
});

describe("a key that a spreadsheet would take for a formula", () => {
  const FORMULAS = ["=cmd|' /C calc'!A0", "+1", "-1", "@sum", "\uFF1D1"];

  it.each(FORMULAS)(
    "%s is written as text, and names the same payment when read back",
    async (key) => {
      const outcome = {
        row: 2,
        key,
        workflow_id: `payout/${key}`,
        run_id: "",
        payout_id: "",
        state: "notStarted",
        reason: 'it says "no", or\rnothing',
        amount: "1.00",
        currency: "EUR",
        reference: "",
        beneficiary: "",
        completed_at: "",
        failure: "",
      } as const;
      const line = csvLine(outcome);
      const [head, cell = "", , , , , reason] = parse(line)[0] ?? [];
      expect([head, cell]).toEqual(["2", `'${key}`]);
      expect(reason).toBe('it says "no", or\\u{d}nothing');
      const [asGiven, asWritten] = await Promise.all(
        [key, cell].map((name) => check(`${HEADER}\n${row(name)}`, `${name.length}.csv`)),
      );
      expect(asWritten?.batch).toBe(asGiven?.batch);
    },
  );

  it.each(["a\u202eb", "a\u2028b", "a\u00a0b", "a;=1+1", "a; -1", "a;'=1"])(
    "no row has the key %j, which a result could not show as it is",
    async (key) => {
      expect((await faultsOf(`${HEADER}\n${row(key)}`))?.join()).toContain("must have 1 to");
      // One of an earlier version may.
      const line = csvLine({
        row: 2,
        key,
        workflow_id: `payout/${key}`,
        run_id: "",
        payout_id: "",
        state: "completed",
        reason: key,
        amount: "1.00",
        currency: "EUR",
        reference: "",
        beneficiary: "",
        completed_at: "",
        failure: "",
      });
      expect(line.trimEnd()).not.toMatch(/(?! )[\p{C}\p{Z}]|;\s*[-=+@]/u);
    },
  );

  it.each(["=1+1", "+1", "-x", "@sum", "\u001b]52;c;aGk=\u0007", "\t=1", "a\nb", "\u202e00.04"])(
    "a cell of %j has no formula and no command to a terminal, and the amounts are numbers",
    (text) => {
      const row = { row: 2, key: "k", workflow_id: "payout/k", run_id: "", payout_id: "" } as const;
      const line = csvLine({
        ...row,
        state: "completed",
        reason: text,
        amount: "40000.00",
        currency: "EUR",
        reference: text,
        beneficiary: text,
        completed_at: "",
        failure: text,
      });
      expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      const cells = parse(line)[0] ?? [];
      expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
      expect(cells[7]).toBe("40000.00");
    },
  );

  it("a cell shows a row of blanks by its length, and an id or a key has them as they are", () => {
    const blanks = `Invoice${" ".repeat(30)}40.00`;
    const line = csvLine({
      row: 2,
      key: "a  b",
      workflow_id: "payout/a  b",
      run_id: "",
      payout_id: "",
      state: "completed",
      reason: blanks,
      amount: "9000.00",
      currency: "EUR",
      reference: blanks,
      beneficiary: blanks,
      completed_at: "",
      failure: blanks,
    });
    const shown = "Invoice \\u{20}×30 40.00";
    expect(parse(line)[0]).toEqual(
      ["2", "a  b", "payout/a  b", "", "", "completed", shown, "9000.00", "EUR"].concat(
        shown,
        shown,
        "",
        shown,
      ),
    );
  });

  it("is one key, with and without the quote, in every kind of file", async () => {
    expect(await faultsOf([HEADER, row("=a"), row("'=a"), row("''=a")].join("\n"))).toEqual([
      "row 3, key: is that of row 2 already",
      "row 4, key: is that of row 2 already",
    ]);
    const [first, second] = makeRows("json", 2);
    const lines = jsonLines([
      { ...first!, key: "'=a" },
      { ...second!, key: "=a" },
    ]);
    expect(await faultsOf(lines, "keys.jsonl")).toEqual(["row 2, key: is that of row 1 already"]);
  });

  it("has no key with half a character: two such keys would be one id", async () => {
    const [first, second] = makeRows("json", 2);
    const lines = jsonLines([
      { ...first!, key: "a\uD83D" },
      { ...second!, key: "a\uD83E" },
    ]);
    expect(await faultsOf(lines, "halves.jsonl")).toEqual([
      holding("row 1, key: must have 1 to 200 visible characters"),
      holding("row 2, key: must have 1 to 200 visible characters"),
    ]);
  });

  it("keeps a quote that hides no formula", async () => {
    expect((await check([HEADER, row("'s"), row("s")].join("\n"))).rows).toBe(2);
  });
});

describe("faults", () => {
  it("are named by line, column and rule", async () => {
    const text = [
      HEADER,
      row("a"),
      "",
      '"b",b-1,EUR,-1,"Goods\nand more",2026-13-01,Y',
      row("a"),
      ",,EUR,1.00,Goods,2026-12-01,Y",
      ",,,,,,",
      "c,b-1,JPY,1.5,Goods,2026-12-01",
      row(' "d'.replace('"', "")),
      row("e", { currency: "JPY", amount: "1.5" }),
    ].join("\r\n");
    expect(await faultsOf(text)).toEqual([
      'row 4, amount: must be a decimal amount above zero, written plainly, such as "100.00"',
      "row 4, payout_reason: has a line break (U+000A): write it on one line",
      "row 4, payment_date: must be a calendar date, YYYY-MM-DD",
      "row 6, key: is that of row 2 already",
      holding("row 7, key: is required"),
      "row 7, beneficiary: or beneficiary_id must be given, exactly one of the two",
      "row 9: has 6 cells, the header has 7: quote cells with commas",
      holding("row 10, key: must have 1 to 200 visible characters"),
      "row 11, amount: has 1 digits after the point, JPY has 0",
    ]);
  });

  it("are the first hundred, and the others are counted", async () => {
    const rows = Array.from({ length: 150 }, (_, n) => row(`k${n}`, { amount: "0" }));
    const error = await refusal([HEADER, ...rows].join("\n"));
    expect(error.message).toBe(
      "The file has 150 faults, of which these are the first 100. Nothing was started.",
    );
    expect(error.faults).toHaveLength(100);
    expect(error.faults?.[0]).toMatchObject({ row: 2, column: "amount" });
  });

  it.each([
    [
      "is never closed",
      `${HEADER}\n${row("a")}\nb,"b-1,EUR`,
      /row 3: has a quote that is never closed/,
    ],
    ["stands within a cell", `${HEADER}\na,b"1,EUR`, /row 2: has a quote within a cell/],
    ["is followed by text", `${HEADER}\na,"b-1"x,EUR`, /row 2: has text behind a closing quote/],
  ])("a quote that %s", async (_, text, problem) => {
    expect((await faultsOf(text))?.at(-1)).toMatch(problem);
  });

  it("an account in which rows differ: a batch is paid from one", async () => {
    const rows = (...accounts: ReadonlyArray<string>) =>
      [`${HEADER},account`, ...accounts.map((name, index) => `${row(`k-${index}`)},${name}`)].join(
        "\n",
      );
    const different = "give each account a file of its own";
    expect(await faultsOf(rows("eu", "us", "eu", ""))).toEqual([
      `row 3, account: is us, and in row 2 eu: ${different}`,
      `row 5, account: is left out, and in row 2 eu: ${different}`,
    ]);
    expect(await faultsOf(rows("EU"))).toEqual([
      expect.stringContaining("row 2, account: must be the name of an account"),
    ]);
    const [unnamed, eu, us] = await Promise.all(
      [rows(""), rows("eu"), rows("us")].map((text, index) => check(text, `account-${index}.csv`)),
    );
    expect(unnamed).not.toHaveProperty("account");
    expect([eu?.account, us?.account]).toEqual(["eu", "us"]);
    expect(new Set([unnamed?.batch, eu?.batch, us?.batch]).size).toBe(3);
  });

  it("of lines of JSON", async () => {
    const [sound] = makeRows("json", 1);
    const text = [
      JSON.stringify(sound),
      "",
      "{",
      "[]",
      JSON.stringify({ ...sound, key: 7, payout: { ...sound?.payout, amount: 5 }, extra: 1 }),
    ].join("\n");
    expect(await faultsOf(text, "faulty.jsonl")).toEqual([
      "row 3: is no valid JSON",
      "row 4: must be a JSON object, as a payout file has it, with a key",
      "row 5, key: must be a string",
      "row 5, extra: is not a known field",
      "row 5, payout.amount: must be a string",
    ]);
  });

  it.each([
    [
      "unknown columns",
      "key,ammount,beneficiary_iban,zzzzzz\n",
      [
        "column ammount is not known: is it amount?",
        "column beneficiary_iban is not known: is it beneficiary.iban?",
        "column zzzzzz is not known",
      ],
    ],
    ["a column twice", "key,amount,amount\n", ["column amount stands there twice"]],
    ["no key", "amount\n", ["column key is missing"]],
  ])("of the header: %s", async (_, text, faults) => {
    expect(await faultsOf(text)).toEqual(faults);
  });

  it.each([
    ["nothing in it", "", "p.csv", "is empty"],
    ["no rows", `${HEADER}\n`, "p.csv", "has no rows"],
    ["semicolons", "key;amount\na;1\n", "p.csv", "separated by commas"],
    ["another kind", "x", "p.xlsx", "must end in .csv, .jsonl"],
    ["another encoding", new Uint8Array([0x6b, 0xfc, 0x0a]), "p.csv", "is not UTF-8"],
    ["UTF-16", Buffer.from(`\uFEFF${HEADER}`, "utf16le"), "p.csv", "is not UTF-8"],
  ])("of the file: %s", async (_, text, name, message) => {
    const error = await refusal(text, name);
    expect(error.message).toEqual(holding(message));
  });

  it("never repeat what a cell holds", async () => {
    const iban = "DE89370400440532013000";
    const error = await refusal(`key,beneficiary.iban\na,"${iban}"x\n`);
    expect(JSON.stringify(error.faults)).not.toContain(iban);
  });
});

it("a total has all its digits", () => {
  const totals = new Totals();
  totals.add("USD", "1e3".replace("e3", ""));
  totals.add("USD", "0.005");
  totals.add("JPY", "3");
  expect(totals.amounts).toEqual({ JPY: "3", USD: "1.005" });
});

it("keeps nothing of the rows that it has checked but a digest of each key", async () => {
  setFlagsFromString("--expose-gc");
  // What the flag puts into every context made from now on.
  const collectGarbage = runInNewContext("gc") as () => void;
  const file = join(folder, "large.csv");
  const [header = "", line = ""] = csv(makeRows("KEY", 1)).split("\n");
  await pipeline(async function* lines() {
    yield `${header}\n`;
    for (let n = 0; n < 25_000; n += 1) yield `${line.replace("KEY-0", `large-${n}`)}\n`;
  }, createWriteStream(file));
  const heap: Array<number> = [];
  const checked = await checkBatchFile(file, defaultAssumptions, (rows) => {
    if (rows % 10_000 !== 5_000) return;
    collectGarbage();
    heap.push(process.memoryUsage().heapUsed);
  });
  expect(checked).toMatchObject({ rows: 25_000, totals: { EUR: "25000.00" } });
  const [first = 0, , last = 0] = heap;
  // Twenty thousand rows more are 50 MB; their digests 3.
  expect((last - first) / 1e6).toBeLessThan(10);
});
