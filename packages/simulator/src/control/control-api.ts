import { Refusal } from "@durable-payments/api-core/contract";
import { Schema } from "effect";
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
} from "effect/http-api";
import { FaultOrder, OrderedFault } from "../faults/fault.ts";
import { Ledger } from "../ledger/records.ts";
import { Temperament } from "../temperament/temperament.ts";
import { VERIFICATIONS } from "../service/cardholders.ts";

/** Answers only this machine. */
export class ThisMachineOnly extends HttpApiMiddleware.Service<ThisMachineOnly>()(
  "@durable-payments/simulator/ThisMachineOnly",
  { error: Refusal },
) {}

const done = HttpApiSchema.NoContent;

/** The control API of the simulator itself; it is no part of the simulated service. */
export const ControlApi = HttpApi.make("simulator")
  .annotate(HttpApi.ParseOptions, { errors: "all", onExcessProperty: "error" })
  .add(
    HttpApiGroup.make("control", { topLevel: true })
      .add(
        HttpApiEndpoint.get("readLedger", "/_simulator/state", { success: Ledger, error: Refusal }),
        HttpApiEndpoint.post("addFault", "/_simulator/faults", {
          payload: FaultOrder,
          success: done,
          error: Refusal,
        }),
        HttpApiEndpoint.get("listFaults", "/_simulator/faults", {
          success: Schema.Array(OrderedFault),
        }),
        HttpApiEndpoint.delete("clearFaults", "/_simulator/faults", { success: done }),
        HttpApiEndpoint.get("readTemperament", "/_simulator/temperament", { success: Temperament }),
        HttpApiEndpoint.put("setTemperament", "/_simulator/temperament", {
          payload: Temperament,
          success: done,
          error: Refusal,
        }),
        HttpApiEndpoint.post("fund", "/_simulator/balances/:currency/fund", {
          params: { currency: Schema.String },
          payload: Schema.Struct({ amount: Schema.String }),
          success: done,
          error: Refusal,
        }),
        HttpApiEndpoint.post("setVerification", "/_simulator/cardholders/:id/verification", {
          params: { id: Schema.String },
          payload: Schema.Struct({ status: Schema.Literals(VERIFICATIONS) }),
          success: done,
          error: Refusal,
        }),
        HttpApiEndpoint.post("setPayoutStatus", "/_simulator/payouts/:id/status", {
          params: { id: Schema.String },
          payload: Schema.Struct({ status: Schema.NonEmptyString }),
          success: done,
          error: Refusal,
        }),
      )
      .middleware(ThisMachineOnly),
  );
