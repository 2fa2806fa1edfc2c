/*
 * A file of people, onboarded by the real commands with a worker that is killed in the middle: every person once, and the
 * result has the ids of the service's books. The file has what files have: a person twice, one who was onboarded last week by
 * hand, a broken row, a refused and an incomplete identity check, and card limits whose sum needs a second person.
 */
import { runApp } from "@durable-payments/tools/testing";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { makeRig, settingsFile } from "./support/rig.ts";

const VERIFY_AFTER_MS = 3_000;
const { eu, folder, simulator, startWorker, variables } = await makeRig({
  verifyAfter: VERIFY_AFTER_MS,
});
const { apiKey, clientId, url: baseUrl } = eu;
const settings = {
  ...settingsFile(
    folder.path,
    {
      accounts: { eu: { apiKey, clientId, baseUrl } },
      assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 },
    },
    "files.json",
  ),
  PAYMENTS_LEDGER: `sqlite:${join(folder.path, "ledger.sqlite")}`,
};
const WITHIN = { timeout: 240_000, interval: 200 };

const HEADER =
  "key,account,email,first_name,last_name,date_birth,phone_number,card_holder_status,product_code,card_limit";

interface Person {
  readonly key: string;
  readonly account?: string;
  readonly last?: string;
  readonly born?: string;
  readonly email?: string;
  readonly limit?: string;
}

const line = ({ account = "", born, email, key, last, limit = "25.00" }: Person): string =>
  [
    key,
    account,
    email ?? `${key}@example.com`,
    `First ${key}`,
    last ?? `Last ${key}`,
    born ?? "1990-04-12",
    "+4930123456",
    "0",
    "prepaid-usd",
    limit,
  ].join(",");

const fileOf = (name: string, people: ReadonlyArray<Person>): string => {
  const file = join(folder.path, name);
  writeFileSync(file, [HEADER, ...people.map(line)].join("\n"));
  return file;
};

const run = (words: ReadonlyArray<string>, by = "ada") =>
  runApp("starter", [...words, "--by", by], variables(settings));
const read = (words: ReadonlyArray<string>) => runApp("starter", words, variables(settings));
const batchIn = ({ stdout }: { readonly stdout: string }): string =>
  /onboardings\/[0-9a-f]+/.exec(stdout)?.[0] ?? "";

const people = (from: number, to: number): ReadonlyArray<Person> =>
  Array.from({ length: to - from }, (_, at) => ({ key: `p${from + at}` }));

interface Question {
  readonly workflowId: string;
  readonly question: string;
}
interface Inbox {
  readonly items: ReadonlyArray<Question>;
}

/** The lines of the result by their columns. No cell of this test has a comma. */
const resultOf = async (batch: string) => {
  const { stdout } = await read(["show", batch, "--rows", "--csv"]);
  const [head = "", ...lines] = stdout.trimEnd().split("\n");
  const columns = head.split(",");
  return lines.map((cells) => {
    const of = cells.split(",");
    return (column: string): string => of[columns.indexOf(column)] ?? "no such column";
  });
};

it("onboards each of 20 people once, although the worker is killed in the middle", async () => {
  const killed = await startWorker(settings);
  const lastWeek = fileOf("last-week.json", []);
  const old = { email: "old@example.com", first_name: "First old", last_name: "Last old" };
  const cardholder = { ...old, date_birth: "1980-01-02", phone_number: "1", card_holder_status: 0 };
  writeFileSync(
    lastWeek,
    JSON.stringify({ cardholder, card: { product_code: "prepaid-usd", card_limit: "5.00" } }),
  );
  const single = ["onboard", lastWeek, "--id", "last-week", "--wait", "--timeout", "60s"];
  expect(await run(single)).toMatchObject({ exitCode: 0 });

  const rest = people(1, 17);
  const special: ReadonlyArray<Person> = [
    { key: "refused", last: "Refused" },
    { key: "incomplete", last: "Incomplete" },
    { key: "expensive", limit: "400.00" },
  ];
  const known = { key: "known", born: "1977-07-07", email: old.email };
  const twice = { key: "p1-again", email: "P1@example.com" };

  // A broken row refuses the file, by its line and column, and without what is in the cell.
  const broken = { key: "broken", born: "12.04.1990", limit: "1e3" };
  const invalid = fileOf("broken.csv", [...rest, broken]);
  const faulty = await run(["onboard", invalid, "--yes"]);
  expect(faulty.exitCode).toBe(2);
  expect(faulty.stderr).toMatch(/row 18, date_birth:/);
  expect(faulty.stderr).toMatch(/row 18, card_limit:/);
  expect(faulty.stderr).not.toMatch(/12\.04|1e3/);

  // A person in the file twice, or onboarded before by whichever mark, needs a reason.
  const likely = await run(["onboard", fileOf("twice.csv", [...rest, known, twice]), "--yes"]);
  expect(likely.exitCode).toBe(6);
  expect(likely.stderr).toMatch(
    /Row 18 may be a duplicate of last-week of .*, cardholder\screated/,
  );
  expect(likely.stderr).toMatch(/Row 19 may be a duplicate of row \d+ of this file/);

  const file = fileOf("people.csv", [...rest, ...special, { key: "p20" }]);
  const plan = await run(["onboard", file, "--dry-run", "--approve-above", "700.00"]);
  expect(plan.stdout).toMatch(/^20 rows, all valid. To onboard: 20 rows, 875.00 USD/);
  expect(plan.stdout).toMatch(/A second person has to approve it/);
  expect((await simulator.state()).cardholders).toHaveLength(1);

  const uploaded = await run(["onboard", file, "--yes", "--approve-above", "700.00"]);
  expect(uploaded.exitCode).toBe(0);
  const batch = batchIn(uploaded);
  const shown = await read(["show", batch]);
  expect(shown.stdout).toMatch(/400.00 USD  First expensive/);
  expect(shown.stdout).toMatch(/Together: card limits of 875.00 USD for 20 people/);
  const hash = /hash\s+([0-9a-f]{32})/.exec(shown.stdout)?.[1] ?? "";
  expect((await run(["approve", batch, "--hash", hash])).exitCode).not.toBe(0);
  expect(await run(["approve", batch, "--hash", hash], "grace")).toMatchObject({ exitCode: 0 });

  // Killed while cards are issued. If a cardholder was being created, a person is asked, who looks at the service.
  const books = () => simulator.state();
  await vi.waitFor(async () => expect((await books()).cards.length).toBeGreaterThan(3), WITHIN);
  await killed.kill("SIGKILL");
  await startWorker(settings);
  const answer = async ({ question, workflowId }: Question): Promise<void> => {
    const email = `${workflowId.replace("onboardCardholder/", "")}@example.com`;
    const found = (await books()).cardholders.find((one) => one.email === email)?.card_holder_id;
    const chosen = found === undefined ? ["resend"] : ["found", "--found", found];
    const given = ["answer", workflowId, "--for", question, "--choose", ...chosen];
    expect(await run([...given, "--reason", "the service's list"])).toMatchObject({ exitCode: 0 });
  };
  const ended = async () => {
    const { items } = JSON.parse((await read(["inbox", "--json"])).stdout) as Inbox;
    for (const item of items) await answer(item);
    expect(await read(["show", batch, "--exit-status"])).toMatchObject({ exitCode: 1 });
  };
  await vi.waitFor(ended, WITHIN);

  const rows = await resultOf(batch);
  const { cardholders, cards } = await books();
  const holderOf = new Map(cardholders.map((one) => [one.email, one.card_holder_id]));
  const cardOf = new Map(cards.map((one) => [one.card_holder_id, one]));
  expect(cardholders).toHaveLength(21);
  expect(cards).toHaveLength(19);
  expect(rows).toHaveLength(20);
  for (const row of rows) {
    const key = row("workflow_id").replace("onboardCardholder/", "");
    const isRefused = key === "refused" || key === "incomplete";
    const card = cardOf.get(row("card_holder_id"));
    expect(row("card_holder_id")).toBe(holderOf.get(`${key}@example.com`));
    expect(row("card_id")).toBe(card?.card_id ?? "");
    expect(row("money")).toBe(isRefused ? "notPaid" : "paid");
    expect(row("reason")).toMatch(
      isRefused ? /was not verified|check of the cardholder .* is incomplete/ : /^$/,
    );
    expect(card?.card_limit).toBe(isRefused ? undefined : row("amount"));
    expect(row("payee")).toContain(`First ${key}`);
    expect(row("started_at")).toMatch(/^2\d{3}-/);
    expect(row("ended_at")).toMatch(/^2\d{3}-/);
  }
  const text = await read(["show", batch]);
  expect(text.stdout).toMatch(/card issued\s+18\s+825.00 USD/);
  expect(text.stdout).toMatch(/no card\s+2\s+50.00 USD/);

  // The same people again, in the same file or under the same keys in another one, are onboarded no more.
  const again = ["onboard", file, "--yes", "--approve-above", "700.00"];
  // The file is finished some seconds after the outcome of its last row.
  await vi.waitFor(async () => expect((await run(again)).stdout).toMatch(/finished/), WITHIN);
  const more = await run(["onboard", fileOf("more.csv", [...rest, { key: "new" }]), "--dry-run"]);
  expect(more.stdout).toMatch(/To onboard: 1 row, 25.00 USD/);
  expect(more.stdout).toMatch(/16 rows already covered by another batch/);
}, 600_000);

it("the cards of a named account are issued by it, and a cancelled file onboards nobody", async () => {
  await startWorker(settings);
  const file = fileOf("eu.csv", [
    { key: "e1", account: "eu" },
    { key: "e2", account: "eu" },
  ]);
  const done = await run(["onboard", file, "--yes", "--wait", "--timeout", "120s"]);
  expect(done).toMatchObject({ exitCode: 0 });
  expect((await eu.state()).cards).toHaveLength(2);

  const held = fileOf("held.csv", [{ key: "h1", account: "eu" }]);
  const batch = batchIn(await run(["onboard", held, "--yes", "--approve-above", "1.00"]));
  expect((await run(["cancel", batch, "--reason", "wrong file", "--yes"])).exitCode).toBe(0);
  expect((await run(["onboard", held, "--yes"])).exitCode).toBe(6);
  expect((await eu.state()).cardholders).toHaveLength(2);
}, 600_000);
