import { SUCCESS_CODE } from "@durable-payments/api-core/contract";
import { Effect, Layer } from "effect";
import { HttpServerResponse } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import * as cards from "../model/cards.ts";
import * as lists from "../model/lists.ts";
import * as money from "../model/money.ts";
import * as payees from "../model/payees.ts";
import * as payouts from "../model/payouts.ts";
import type { Unit } from "../model/unit.ts";
import { refusalAnswer } from "./faults.ts";
import { asTheServiceLayer, SimulatedApi } from "./requests.ts";
import { signedInLayer, signIn } from "./sign-in.ts";
import type { Simulation } from "./simulation.ts";

const emptyAnswer = HttpServerResponse.jsonUnsafe({ code: SUCCESS_CODE, message: "Success" });

/** Answers a keyed operation: a repeated key as the newest fault about repeats says, or with the first data. */
const answerOnce = <Data>(
  { act, faults }: Simulation,
  operation: string,
  work: (unit: Unit) => { readonly data: Data; readonly repeated: boolean },
) =>
  Effect.map(act(work), ({ data, repeated }) => {
    switch (repeated ? faults.strikeRepeat(operation)?.kind : undefined) {
      case "repeated-key-empty":
        return emptyAnswer;
      case "repeated-key-refusal":
        return refusalAnswer("unique_request_id was used before", { status: 400 });
      default:
        return data;
    }
  });

/** The operations of the contract, each one unit of work of the service. */
export const serviceRoutes = (simulation: Simulation) => {
  const { act, settings } = simulation;
  const auth = HttpApiBuilder.group(SimulatedApi, "auth", (handlers) =>
    handlers.handleAll({
      signIn: ({ headers }) => act((unit) => signIn(unit, settings, headers)),
      ping: () => Effect.succeed({ message: "pong" }),
    }),
  );
  const beneficiaries = HttpApiBuilder.group(SimulatedApi, "beneficiaries", (handlers) =>
    handlers.handleAll({
      createBeneficiary: ({ payload }) => act((unit) => payees.createBeneficiary(unit, payload)),
      updateBeneficiary: ({ params, payload }) =>
        act((unit) => payees.updateBeneficiary(unit, { ...payload, ...params })),
      retrieveBeneficiary: ({ params }) =>
        act((unit) => payees.retrieveBeneficiary(unit, params.beneficiary_id)),
    }),
  );
  const paying = HttpApiBuilder.group(SimulatedApi, "payouts", (handlers) =>
    handlers.handleAll({
      createPayout: ({ payload }) => act((unit) => payouts.createPayout(unit, payload)),
      listPayouts: ({ query }) => act((unit) => payouts.listPayouts(unit, query)),
      retrievePayout: ({ params }) => act((unit) => payouts.retrievePayout(unit, params.payout_id)),
    }),
  );
  const payers = HttpApiBuilder.group(SimulatedApi, "payers", (handlers) =>
    handlers.handleAll({ listPayers: () => act(payees.listPayers) }),
  );
  const balances = HttpApiBuilder.group(SimulatedApi, "balances", (handlers) =>
    handlers.handleAll({
      createBalance: ({ payload }) => act((unit) => money.createBalance(unit, payload)),
      retrieveBalance: ({ params }) => act((unit) => money.retrieveBalance(unit, params.currency)),
      retrieveBalanceBankDetails: ({ params }) =>
        act((unit) => money.retrieveBankDetails(unit, params.currency)),
    }),
  );
  const transactions = HttpApiBuilder.group(SimulatedApi, "transactions", (handlers) =>
    handlers.handleAll({
      listTransactions: ({ query }) => act((unit) => lists.listTransactions(unit, query)),
    }),
  );
  const cardholders = HttpApiBuilder.group(SimulatedApi, "cardholders", (handlers) =>
    handlers.handleAll({
      createCardholder: ({ payload }) => act((unit) => cards.createCardholder(unit, payload)),
      listCardholders: ({ query }) => act((unit) => cards.listCardholders(unit, query)),
      removeCardholder: ({ params }) =>
        act((unit) => cards.removeCardholder(unit, params.card_holder_id)),
    }),
  );
  const cardsOfHolders = HttpApiBuilder.group(SimulatedApi, "cards", (handlers) =>
    handlers.handleAll({
      createCard: ({ payload }) =>
        answerOnce(simulation, "createCard", (unit) => cards.createCard(unit, payload)),
      withdrawFromCard: ({ payload }) =>
        answerOnce(simulation, "withdrawFromCard", (unit) => cards.withdrawFromCard(unit, payload)),
      updateCard: ({ payload }) => act((unit) => cards.updateCard(unit, payload)),
      cancelCard: ({ payload }) => act((unit) => cards.cancelCard(unit, payload.card_id)),
      freezeCard: ({ payload }) => act((unit) => cards.freezeCard(unit, payload.card_id)),
    }),
  );
  return HttpApiBuilder.layer(SimulatedApi).pipe(
    Layer.provide([
      auth,
      beneficiaries,
      paying,
      payers,
      balances,
      transactions,
      cardholders,
      cardsOfHolders,
    ]),
    Layer.provide(signedInLayer(simulation)),
    Layer.provide(asTheServiceLayer(simulation)),
  );
};
