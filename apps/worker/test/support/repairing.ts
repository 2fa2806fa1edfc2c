import { createClient } from "@durable-payments/client";
import { openPayments } from "@durable-payments/control/payments";
import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import { spawnProcess, appArguments } from "@durable-payments/tools/processes";
import { runApp } from "@durable-payments/tools/testing";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import type { makeRig } from "./rig.ts";
import { settingsFile } from "./rig.ts";

/*
 * The class: a repair that skips a run, or makes a holder or a card a second time, because the terminal, the worker or both
 * were killed in the middle. The books of the service are the judge, and `duplicates` must say the same.
 */

/** Kinds of failures, by what has to be done before a retry helps. */
const KINDS = ["holder", "identity", "card", "funds", "stuck"] as const;
type Kind = (typeof KINDS)[number];

/** The limit of the card is above the balance. */
const isTooMuch = (kind: Kind): boolean => kind === "funds" || kind === "stuck";

/** Only what hangs takes so long: no time is promised here. */
const WITHIN = { timeout: 600_000, interval: 200 };

/** Temporal answers no more starts at once in time on a machine under load. */
const STARTED_AT_ONCE = 10;

/** Onboards this many people, of which each fails, for five reasons; repairs them all, with kills in the middle. */
export const expectRepaired = async (
  {
    client,
    eu,
    folder,
    seal,
    simulator,
    startWorker,
    temporal,
    variables,
  }: Awaited<ReturnType<typeof makeRig>>,
  count: number,
): Promise<void> => {
  const { apiKey, clientId, url: baseUrl } = simulator;
  const accounts = { eu: { baseUrl: eu.url, clientId: eu.clientId, apiKey: eu.apiKey } };
  const place = `sqlite:${join(folder.path, "ledger.sqlite")}`;
  const assumptions = { listLagSeconds: 0, clockSkewSeconds: 0 };
  const settings = {
    PAYMENTS_LEDGER: place,
    ...settingsFile(folder.path, { accounts, assumptions }),
  };
  const first = await startWorker(settings);
  const keyring = variables()["PAYMENTS_KEYRING"] ?? "";
  const { address } = temporal;
  const access = { baseUrl, clientId, apiKey, accounts, keyring };
  const payments = await openPayments({ ...access, ledger: place, temporal: { address } });
  onTestFinished(() => payments[Symbol.asyncDispose]());
  const ledger = await openLedger(readLedgerPlace(place, ""), { seal });
  onTestFinished(() => ledger.close());

  const kindOf = (at: number): Kind => KINDS[at % KINDS.length] ?? "card";
  const people = Array.from({ length: count }, (_, at) => ({ at, kind: kindOf(at) }));
  const emailOf = (at: number) => `person-${at}@example.com`;
  const start = ({ at, kind }: (typeof people)[number]) =>
    payments.onboard(
      {
        ...(at % 2 === 1 && { account: "eu" }),
        cardholder: {
          ...inputs.cardholder,
          email: emailOf(at),
          first_name: `Person${at}`,
          last_name: kind === "identity" ? "Incomplete" : "Example",
          phone_number: `+49301${String(at).padStart(6, "0")}`,
        },
        card: {
          product_code: "prepaid-usd",
          card_limit: isTooMuch(kind) ? "999999.00" : "10.00",
        },
        ...(kind === "funds" && { options: { fundWithin: "1 second" } }),
      },
      { key: `p-${at}`, by: "ada" },
    );
  const FAULTS = { holder: "createCardholder", card: "createCard" } as const;
  const untilFailed = (wanted: number) =>
    vi.waitFor(async () => {
      const groups = await payments.failed();
      expect(groups.reduce((sum, { runs }) => sum + runs, 0)).toBe(wanted);
    }, WITHIN);
  let expected = 0;
  // One kind after the other, so that each fault meets its own.
  for (const kind of KINDS) {
    const some = people.filter((one) => one.kind === kind);
    if (kind in FAULTS)
      for (const service of [simulator, eu])
        await service.addFault({
          kind: "refusal-in-200",
          operation: FAULTS[kind as keyof typeof FAULTS],
          times: count,
        });
    // A start that Temporal did not answer in time is repeated: the same key starts nothing twice.
    const untilStarted = (one: (typeof people)[number]) => vi.waitFor(() => start(one), WITHIN);
    const runs = await atOnce(some, untilStarted, STARTED_AT_ONCE);
    if (kind === "stuck")
      for (const { workflowId } of runs) {
        const isMade = async () =>
          expect(await ledger.rowsOf(workflowId)).toMatchObject([{ state: "done" }]);
        await vi.waitFor(isMade, WITHIN);
        await client.workflow.getHandle(workflowId).terminate("stuck");
      }
    expected += some.length;
    await untilFailed(expected);
    for (const service of [simulator, eu]) await service.clearFaults();
  }
  const groups = await payments.failed({ type: "onboardCardholder" });
  expect(groups.map(({ runs }) => runs)).toEqual(KINDS.map(() => count / KINDS.length));
  expect(new Set(groups.map(({ step }) => step))).toEqual(
    new Set(["createCardholder", "createCard", "awaitVerification", "awaitFunds", null]),
  );
  // What a person does: the documents are complete, and the limits are lower.
  for (const service of [simulator, eu])
    for (const { card_holder_id, card_holder_status } of (await service.state()).cardholders)
      if (card_holder_status === "INCOMPLETE")
        await service.setVerification(card_holder_id, "SUCCESS");
  const patches = people.filter(({ kind }) => isTooMuch(kind));
  const file = join(folder.path, "amend.csv");
  writeFileSync(
    file,
    ["id,card.card_limit", ...patches.map(({ at }) => `onboardCardholder/p-${at},12.00`)].join(
      "\n",
    ),
  );
  const args = ["retry", "--all-failed", "--type", "onboardCardholder", "--amend", file];
  const command = [
    ...args,
    "--rate",
    String(count / 4),
    "--by",
    "ada",
    "--reason",
    "repair",
    "--yes",
  ];
  const terminal = spawnProcess(process.execPath, appArguments("starter", command), {
    env: variables(settings),
  });
  const repairs = async () => (await ledger.batches()).filter(({ type }) => type === "repair");
  await vi.waitFor(async () => expect(await repairs()).toHaveLength(1), {
    ...WITHIN,
    interval: 5,
  });
  await terminal.kill("SIGKILL");
  // The same command continues what was interrupted, whatever that was.
  const { id = "", state = "uploading" } = (await repairs())[0] ?? {};
  if (state === "uploading") {
    const again = await runApp("starter", [...command, "--json"], variables(settings));
    expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(id) });
  }
  const counts = async () =>
    Object.fromEntries(
      [...Map.groupBy(await ledger.listRows(id), ({ status }) => status)].map(
        ([status, rows]) => [status, rows.length] as const,
      ),
    );
  const isInTheMiddle = async () => {
    const { notStarted = 0 } = (await counts()) as { readonly notStarted?: number };
    expect(notStarted).toBeLessThan(count);
  };
  await vi.waitFor(isInTheMiddle, { ...WITHIN, interval: 20 });
  const begun = performance.now();
  await first.kill("SIGKILL");
  await startWorker(settings);
  await vi.waitFor(async () => expect(await counts()).toEqual({ succeeded: count }), WITHIN);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  process.stderr.write(`${count} runs repaired within ${seconds} s after the kill\n`);

  // The books of the service: each person once, each with one card of the limit that was meant.
  const books = await Promise.all([simulator.state(), eu.state()]);
  const holders = books.flatMap(({ cardholders }) => cardholders);
  const cards = books.flatMap((one) => one.cards);
  expect(holders.map(({ email }) => email).toSorted()).toEqual(
    people.map(({ at }) => emailOf(at)).toSorted(),
  );
  const limits = new Map(cards.map((card) => [card.card_holder_id, card.card_limit]));
  expect(cards).toHaveLength(count);
  expect(
    Object.fromEntries(holders.map((one) => [one.email, limits.get(one.card_holder_id)])),
  ).toEqual(
    Object.fromEntries(
      people.map(({ at, kind }) => [emailOf(at), isTooMuch(kind) ? "12.00" : "10.00"]),
    ),
  );
  expect(await payments.failed()).toEqual([]);
  const half = { cardholders: count / 2, cards: count / 2, listed: count / 2, whyNot: null };
  expect(await payments.duplicates({ batch: id })).toMatchObject({
    isProved: true,
    accounts: [half, half],
    duplicates: [],
  });
  // The proof fails as soon as one person has a second cardholder.
  const service = createClient({ baseUrl, clientId, apiKey });
  onTestFinished(() => service.close());
  const { first_name, last_name } = books[0]?.cardholders[0] ?? inputs.cardholder;
  const twice = await service.createCardholder({ ...inputs.cardholder, first_name, last_name });
  expect(await payments.duplicates({ batch: id })).toMatchObject({
    isProved: false,
    duplicates: [{ kind: "name", cardholders: expect.arrayContaining([twice.card_holder_id]) }],
  });
};
