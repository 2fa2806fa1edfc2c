import { createClient } from "@durable-payments/client";
import { type Ledger, openLedger, type RecordedWrite } from "@durable-payments/ledger";
import { accountHash } from "@durable-payments/protocol/account";
import { startSimulator, type Simulator } from "@durable-payments/simulator";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openPaymentsOn } from "../../src/payments/internal.ts";
import { put, row } from "../support/rows.ts";

/*
 * The class: a cardholder or a card that exists twice, and a proof that does not see it; or a proof that is claimed though
 * something could not be compared.
 */

let ledger: Ledger;
let simulator: Simulator;
let client: ReturnType<typeof createClient>;
beforeEach(async () => {
  ledger = await openLedger("memory");
  simulator = await startSimulator({ verifyAfter: 0 });
  const { apiKey, clientId, url: baseUrl } = simulator;
  client = createClient({ apiKey, clientId, baseUrl });
});
afterEach(async () => {
  await client.close();
  await simulator.stop();
  await ledger.close();
});

const accountOf = ({ clientId, url: baseUrl }: Simulator) => accountHash({ clientId, baseUrl });

const found = async (
  which: { readonly account?: string; readonly batch?: string } = {},
  url = simulator.url,
) => {
  const { apiKey, clientId } = simulator;
  const assumptions = { listLagSeconds: 60 };
  await using payments = openPaymentsOn(ledger, { baseUrl: url, clientId, apiKey, assumptions });
  return await payments.duplicates(which);
};

/** Creates a cardholder at the service, and nothing in the ledger. */
const byHand = async (last_name: string, first_name = "Ada") => {
  const request = { ...inputs.cardholder, first_name, last_name };
  return (await client.createCardholder(request)).card_holder_id;
};

/** Records a write, as a worker of the account does. */
const record = (
  workflowId: string,
  step: string,
  payee: string,
  more: Partial<RecordedWrite> = {},
): Promise<void> =>
  put(
    ledger,
    row({
      account: accountOf(simulator),
      workflowId,
      step,
      operation: step,
      state: "done",
      request: { ...row().request, hash: `${step} ${payee}`, payee },
      ...more,
    }),
  );

const holder = async (workflowId: string, last_name: string, more: Partial<RecordedWrite> = {}) => {
  const madeId = await byHand(last_name);
  await record(workflowId, "createCardholder", `person/${last_name}`, { madeId, ...more });
  return madeId;
};

const cardByHand = async (card_holder_id: string) => {
  const { balance_id } = await client.retrieveBalance({ currency: "USD" });
  const unique_request_id = crypto.randomUUID();
  const request = { ...inputs.card, card_holder_id, balance_id, unique_request_id };
  return (await client.createCard(request)).card_id;
};

const card = async (workflowId: string, cardholder: string) => {
  const madeId = await cardByHand(cardholder);
  await record(workflowId, "createCard", cardholder, { madeId });
  return madeId;
};

it("proves that there is no duplicate, also of namesakes, of a removed cardholder, and of an end without an outcome", async () => {
  const ada = await holder("ada", "Lovelace");
  await card("ada", ada);
  await holder("alan", "Turing");
  const namesake = { request: { ...row().request, payee: "person/born on another day" } };
  await holder("namesake", "Lovelace", namesake);
  const removed = await holder("removed", "Turing", { state: "undone" });
  await client.removeCardholder({ card_holder_id: removed });
  const again = await holder("again", "Hopper");
  await record("again", "removeCardholder", again, { madeId: again });
  await client.removeCardholder({ card_holder_id: again });
  await holder("once-more", "Hopper");
  await record("ended", "createCardholder", "person/Liskov", { state: "ended", doubt: 1 });
  expect(await found()).toEqual({
    isProved: true,
    accounts: [
      {
        account: accountOf(simulator),
        name: "default",
        cardholders: 5,
        cards: 1,
        listed: 4,
        whyNot: null,
      },
    ],
    duplicates: [],
  });
});

it("finds a cardholder that the service has in addition to that of the ledger, in whichever order of the names", async () => {
  const ada = await holder("ada", "Lovelace");
  const other = await byHand("ADA", "Lovelace");
  expect(await found()).toMatchObject({
    isProved: false,
    duplicates: [{ kind: "name", cardholders: [ada, other].toSorted(), workflowIds: ["ada"] }],
  });
});

it("finds a person whom somebody has made twice by hand", async () => {
  const cardholders = [await byHand("Lovelace"), await byHand("Lovelace")].toSorted();
  expect((await found()).duplicates).toMatchObject([{ kind: "name", cardholders }]);
});

it("finds a person and a card that the ledger has requested under several ids", async () => {
  const cardholders = [await holder("one", "Lovelace"), await holder("two", "Lovelace")].toSorted();
  const [first = ""] = cardholders;
  const cards = [await card("one", first), await card("two", first)].toSorted();
  const workflowIds = ["one", "two"];
  expect((await found()).duplicates).toMatchObject([
    { kind: "person", cardholders, cards: [], workflowIds },
    { kind: "card", cardholders: [first], cards, workflowIds },
  ]);
});

it("finds a card that the service has in addition to that of the ledger", async () => {
  const ada = await holder("ada", "Lovelace");
  await card("ada", ada);
  await cardByHand(ada);
  expect((await found()).duplicates).toMatchObject([
    { kind: "cardCount", cardholders: [ada], workflowIds: ["ada"] },
  ]);
  // Cards of a cardholder that somebody else has made may be somebody else's.
  const alan = await byHand("Turing");
  await card("alan", alan);
  await cardByHand(alan);
  expect((await found()).duplicates).toHaveLength(1);
});

it("tells only what a batch has made", async () => {
  await holder("ada", "Lovelace");
  await byHand("Lovelace");
  await holder("alan", "Turing");
  await record("unknown", "createCardholder", "person/Hopper", { state: "unknown", doubt: 1 });
  const of = async (id: string, workflowId: string, type = "onboardCardholder") => {
    const details = { file: "a.csv", contentHash: "c", createdBy: "ada", approvedBy: null };
    await ledger.saveBatch(id, () => ({
      batch: {
        id,
        account: accountOf(simulator),
        type,
        rows: 1,
        chunks: 1,
        state: "approved",
        createdAt: 0,
        details: "{}",
        ...details,
      },
    }));
    const nothing = { amount: null, currency: null, reference: null, payee: null, message: null };
    const plain = { terms: "", mark: null, shown: null, state: "started" } as const;
    await ledger.saveRows(id, [{ number: 1, fingerprint: id, workflowId, ...nothing, ...plain }]);
    return found({ batch: id });
  };
  expect(await of("with", "ada")).toMatchObject({ duplicates: [{ kind: "name" }] });
  expect(await of("without", "alan")).toMatchObject({
    isProved: true,
    accounts: [{ cardholders: 1, listed: 3 }],
  });
  await expect(found({ batch: "none" })).rejects.toMatchObject({ name: "NotFound" });
  await expect(of("paid", "alan", "payout")).rejects.toThrow("paid is a file of payouts");
});

it("proves nothing of an account whose list cannot be read, and still finds what the ledger has twice", async () => {
  await holder("one", "Lovelace");
  await holder("two", "Lovelace");
  const person = { kind: "person", workflowIds: ["one", "two"] };
  const { port } = new URL(simulator.url);
  await simulator.stop();
  expect(await found()).toMatchObject({
    isProved: false,
    accounts: [{ listed: null, whyNot: expect.stringContaining(port) }],
    duplicates: [person],
  });
});

it("proves nothing if the service refuses the list, or no access is set", async () => {
  const times = 100;
  await simulator.addFault({ kind: "refusal-in-200", operation: "listCardholders", times });
  const whyNot = expect.stringContaining("could not be read");
  expect(await found()).toMatchObject({ isProved: false, accounts: [{ listed: null, whyNot }] });
  await using decides = openPaymentsOn(ledger, { baseUrl: simulator.url, clientId: "c" });
  expect(await decides.duplicates()).toMatchObject({
    isProved: false,
    accounts: [{ listed: null, whyNot: expect.stringContaining("no access") }],
  });
  await using nobody = openPaymentsOn(ledger, {});
  await expect(async () => nobody.duplicates()).rejects.toMatchObject({ name: "InvalidInput" });
});

it("proves nothing if the service shows no names", async () => {
  await simulator.suppose({ card_holder_id: crypto.randomUUID() });
  const whyNot = "cardholders listed without a name: 1";
  expect(await found()).toMatchObject({ isProved: false, accounts: [{ whyNot }] });
});

it("proves nothing of an account that only the ledger knows", async () => {
  await record("elsewhere", "createCardholder", "person/Lovelace", {
    account: "another",
    madeId: "H-1",
  });
  const another = { account: "another", name: null, cardholders: 1, cards: 0, listed: null };
  expect(await found()).toMatchObject({
    isProved: false,
    accounts: [{ whyNot: null }, { ...another, whyNot: expect.stringContaining("no access") }],
  });
  expect(await found({ account: "default" })).toMatchObject({ isProved: true, accounts: [{}] });
});

it("proves nothing while an outcome is unknown, or a new cardholder is not listed yet", async () => {
  await record("unknown", "createCardholder", "person/Hopper", { state: "unknown", doubt: 1 });
  const isProved = false;
  expect(await found()).toMatchObject({
    isProved,
    accounts: [{ whyNot: expect.stringContaining("outcome is not known yet: 1") }],
  });
  await record("unknown", "createCardholder", "person/Hopper", { state: "refused" });
  expect(await found()).toMatchObject({ isProved: true });
  await simulator.setTemperament({ listLagMs: 60_000 });
  await holder("new", "Lovelace");
  expect(await found()).toMatchObject({
    isProved,
    accounts: [{ whyNot: expect.stringContaining("not listed yet: 1") }],
  });
});

it("cannot tell a person from a namesake once the earlier one was pruned", async () => {
  const first = await holder("one", "Lovelace");
  const { now } = await ledger.state();
  await ledger.prune(now + 60_000, { by: "ada", how: "test", reason: "housekeeping" });
  // The second request differs, so that its hash does, too.
  const second = await holder("two", "Lovelace");
  expect(await found()).toMatchObject({
    isProved: false,
    duplicates: [
      { kind: "name", cardholders: [first, second].toSorted(), workflowIds: ["one", "two"] },
    ],
  });
});

it("reads the list twice: 6 pages for 120 cardholders", async () => {
  for (let number = 1; number <= 120; number++) await byHand(`Person${number}`);
  expect(await found()).toMatchObject({ isProved: true, accounts: [{ listed: 120 }] });
  expect((await simulator.state()).requests["listCardholders"]).toBe(6);
});
