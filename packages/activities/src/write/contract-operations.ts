/*
 * The writes of the service's contract: how each is described, sent, searched for, read and undone.
 *
 * The engine knows no operation. Here is what differs between them: which list shows a result, how an object is read by its
 * id, and what a send needs besides. Whether a result is that of a request is in result.ts.
 */
import type { Cardholder, Payout } from "@durable-payments/client/effect";
import { checkInput, operation as contractOf } from "@durable-payments/client/contract";
import type {
  JsonObject,
  Ledger,
  SendOutcome,
  WritePolicy,
  WriteRow,
} from "@durable-payments/ledger";
import { textAt } from "@durable-payments/protocol";
import { describeAccount } from "@durable-payments/protocol/account";
import { Result } from "effect";
import { cardholderReadings } from "../evidence/cardholders.ts";
import { ListReadings, PAGE_SIZE } from "../evidence/list-readings.ts";
import { reusableBeneficiary, takeTurn } from "./beneficiaries.ts";
import { matchPayout, plainKey } from "../evidence/match.ts";
import { type SearchedList, searchList } from "../evidence/search.ts";
import { type WindowOptions, WindowReadings } from "../evidence/windows.ts";
import {
  type ClientCall,
  operationOf,
  type PaymentsRuntime,
  readAt,
  readKnown,
  runCall,
  type Service,
} from "../run-operation.ts";
import { describeWrite, payeeOfRequest } from "./describe.ts";
import type { Dispatch } from "./dispatch.ts";
import { NOT_CONFIRMED } from "./guard.ts";
import { outcomeOfError } from "./outcomes.ts";
import {
  isListed,
  KEY_LIFETIME_MS,
  MADE_BEFORE,
  type ReadMade,
  type WriteName,
  writeNames,
  type WriteOperation,
  WRITES,
} from "./operation.ts";
import { keyOf, pickTexts } from "./request.ts";
import { comparedOf, compareCardholder, contradictionIn, madeOf } from "./result.ts";

/** Dependencies of the operations of the contract. */
export interface ContractOptions {
  readonly runtime: PaymentsRuntime;
  readonly options: Service["options"];
  readonly ledger: Ledger;
  readonly account: string;
}

/** Makes the write operations of the contract, over one client. */
export const makeContractOperations = ({
  account,
  ledger,
  options: { assumptions, requestTimeoutMs },
  runtime,
}: ContractOptions): ReadonlyMap<string, WriteOperation> => {
  const readOrNone = <A>(call: ClientCall<A>): Promise<A | undefined> => readKnown(runtime, call);

  const payoutPages = {
    idField: "payout_id",
    pageSize: PAGE_SIZE,
    mostPages: assumptions.reconciliationMaxPages,
  } as const;
  const readPayouts: WindowOptions<Payout>["read"] = (page_num, window = {}) =>
    readAt(runtime, (client) => client.listPayouts({ page_num, page_size: PAGE_SIZE, ...window }));
  const payouts: SearchedList<Payout> = {
    idField: "payout_id",
    facts: new WeakMap(),
    readings: new ListReadings<Payout>(() => ({ ...payoutPages, read: readPayouts })),
    ...(assumptions.listWindow === "createTime" && {
      windows: new WindowReadings({
        account,
        assumptions,
        ledger,
        list: payoutPages,
        read: readPayouts,
      }),
    }),
    keyOf: ({ unique_request_id: key }) => (key === undefined ? undefined : plainKey(key)),
    // The request was checked, so it has these fields.
    compare: (facts, row) =>
      matchPayout(facts as unknown as Parameters<typeof matchPayout>[0], row),
    kept: WRITES.createPayout.kept,
    shown: WRITES.createPayout.kept,
  };

  const cardholders: SearchedList<Cardholder> = {
    idField: "card_holder_id",
    facts: new WeakMap(),
    readings: cardholderReadings(runtime, assumptions.reconciliationMaxPages),
    compare: compareCardholder,
    kept: WRITES.createCardholder.kept,
    shown: ["card_holder_id", "first_name", "last_name", "card_holder_status", "create_time"],
  };

  const policyOf = (name: WriteName): WritePolicy => {
    const { idempotency } = contractOf(name);
    return {
      repeat: idempotency === "safe" ? "idempotent" : idempotency,
      isListed: isListed(name),
      whenLost: "resend",
      keyLifetimeMs: KEY_LIFETIME_MS,
      listLagMs: assumptions.listLagSeconds * 1_000,
      requestTimeoutMs,
    };
  };

  const send = async (name: WriteName, dispatch: Dispatch): Promise<SendOutcome> => {
    const { attempt, guard, isResend, key, request } = dispatch;
    const body = WRITES[name].isKeyed ? { ...request, unique_request_id: key } : request;
    // A call in flight is not aborted: its outcome would be unknown.
    const waiting = new AbortController();
    const giveUp = () => {
      if (!guard.isAsked) waiting.abort(guard.signal.reason);
    };
    guard.signal.addEventListener("abort", giveUp);
    try {
      const result = await runCall(
        runtime,
        (client) => guard.guarded(operationOf(client, name)(body, { isResend })),
        waiting.signal,
      );
      if (Result.isFailure(result))
        return outcomeOfError(
          result.failure,
          attempt,
          isResend && policyOf(name).repeat === "keyed",
        );
      const made = madeOf(name, request, key, result.success, assumptions);
      if (made.is === "made" && name === "createBeneficiary")
        dispatch.afterwards(() =>
          ledger.rememberPayees(account, [
            { payee: made.id, ...describeAccount(request, ledger.keyed) },
          ]),
        );
      return made;
    } finally {
      guard.signal.removeEventListener("abort", giveUp);
    }
  };

  /** Takes a beneficiary that the ledger has for the same account, or creates one. Calls wait for each other. */
  const sendBeneficiary = async (dispatch: Dispatch): Promise<SendOutcome> => {
    const { guard, key, options, request } = dispatch;
    if (options.reuse === false) return send("createBeneficiary", dispatch);
    const payee = payeeOfRequest("createBeneficiary", request, ledger.keyed) ?? "";
    const lease = await takeTurn(ledger, `createBeneficiary/${account}/${payee}`);
    if (lease === undefined) {
      const message = "Another step is creating the same beneficiary.";
      return { is: "later", message, retryAfterMs: 1_000 };
    }
    try {
      const found = await reusableBeneficiary({ account, payee, ledger, readOrNone, request });
      if (found === undefined) return await send("createBeneficiary", dispatch);
      await guard.permit("reused");
      const reused = madeOf("createBeneficiary", {}, key, found, assumptions);
      return reused.is === "made" ? { ...reused, by: "ledger" } : reused;
    } finally {
      dispatch.afterwards(lease);
    }
  };

  /** A repeated removal that is refused is done if nothing is left to remove. */
  const sendRemoval = async (dispatch: Dispatch): Promise<SendOutcome> => {
    const { key, request, sentForMs } = dispatch;
    const outcome = await send("removeCardholder", dispatch);
    if (outcome.is !== "refused" || sentForMs === undefined) return outcome;
    const isIt = (item: Cardholder) => item.card_holder_id === request["card_holder_id"];
    const { fault, items, unreadable } = await cardholders.readings.read(isIt);
    if (fault !== undefined || unreadable.length > 0 || items.some(isIt)) return outcome;
    // A new row may not be listed yet.
    return sentForMs < assumptions.listLagSeconds * 1_000
      ? { is: "lost", message: outcome.message }
      : madeOf("removeCardholder", request, key, {}, assumptions);
  };

  const sends: Partial<Record<WriteName, (dispatch: Dispatch) => Promise<SendOutcome>>> = {
    createBeneficiary: sendBeneficiary,
    removeCardholder: sendRemoval,
  };

  /** Reads what has an id; undefined if the service has no way to read it. */
  const shownOf = (name: WriteName, id: string): Promise<unknown> | undefined => {
    switch (name) {
      case "createPayout":
        return readOrNone((client) => client.retrievePayout({ payout_id: id }));
      case "createBeneficiary":
        return readOrNone((client) => client.retrieveBeneficiary({ beneficiary_id: id }));
      case "createCardholder": {
        const isIt = (item: Cardholder) => item.card_holder_id === id;
        return cardholders.readings.read(isIt).then(({ items }) => items.find(isIt));
      }
      default:
        return undefined;
    }
  };

  const readMade = async (
    name: WriteName,
    kept: WriteRow["request"],
    id: string,
    request: JsonObject | undefined,
  ): Promise<ReadMade> => {
    const { idField, kept: fields } = WRITES[name];
    const reading = shownOf(name, id);
    if (reading === undefined) return { is: "fits", result: { [idField]: id, ...NOT_CONFIRMED } };
    const shown = await reading;
    if (shown === undefined) return { is: "fault", fault: `The service does not know ${id}.` };
    const result = pickTexts(shown, fields);
    const sent = comparedOf(name, kept) ?? request;
    if (sent === undefined) return { is: "fits", result: { ...result, ...NOT_CONFIRMED } };
    const other = contradictionIn(name, sent, "", shown, assumptions);
    return other === undefined
      ? { is: "fits", result }
      : { is: "fault", fault: `For ${id}, the service shows ${other}.` };
  };

  const payeeOf = async (request: JsonObject) => {
    const beneficiary_id = textAt(request, "beneficiary_id") ?? "";
    const shown = await readOrNone((client) => client.retrieveBeneficiary({ beneficiary_id }));
    return describeAccount(shown, ledger.keyed);
  };

  const payeesOf: Partial<Record<WriteName, NonNullable<WriteOperation["payee"]>>> = {
    createPayout: payeeOf,
    createCard: (request) => ledger.person(account, textAt(request, "card_holder_id") ?? ""),
  };

  const make = (name: WriteName): WriteOperation => {
    const facts = WRITES[name];
    const policy = policyOf(name);
    const searchIn =
      <Item extends object>(list: SearchedList<Item>): WriteOperation["search"] =>
      (row, now) =>
        searchList(list, row, now, { assumptions, ledger, policy });
    const searches: Partial<Record<WriteName, WriteOperation["search"]>> = {
      createPayout: searchIn(payouts),
      createCardholder: searchIn(cardholders),
    };
    const { undoneBy } = facts;
    return {
      name,
      idField: facts.idField,
      policy: ({ whenLost = "resend" }) => ({ ...policy, whenLost }),
      faults: (request, isPlanned) => {
        const body = facts.isKeyed
          ? { ...request, unique_request_id: keyOf({ account, workflowId: "", step: "" }, 1) }
          : request;
        const ownKey =
          request["unique_request_id"] === undefined
            ? []
            : [{ field: "unique_request_id", problem: "is set by the step: leave it out" }];
        const later = isPlanned ? MADE_BEFORE : [];
        return [...ownKey, ...checkInput(name, body, { assumptions, later })];
      },
      describe: (request) => describeWrite(name, request, ledger.keyed),
      send: sends[name] ?? ((dispatch) => send(name, dispatch)),
      search: searches[name],
      read: (row, id, request) => readMade(name, row.request, id, request),
      payee: payeesOf[name],
      undo:
        undoneBy === undefined
          ? undefined
          : (id) => ({
              operation: make(undoneBy),
              request: { [WRITES[undoneBy].idField]: id },
            }),
    };
  };

  return new Map(writeNames.map((name) => [name, make(name)]));
};
