import { faultsOf, faultsText } from "@durable-payments/api-core";
import { Refusal, REFUSAL_CODE, SUCCESS_CODE } from "@durable-payments/api-core/contract";
import { HttpServerResponse } from "effect/http";
import type { HttpApiError } from "effect/http-api";

/** An envelope that says no. */
export const refusalAnswer = (
  message: string,
  options: { readonly status: number; readonly headers?: Readonly<Record<string, string>> },
) => HttpServerResponse.jsonUnsafe({ code: REFUSAL_CODE, message }, options);

/** An envelope without data. */
export const emptyAnswer = HttpServerResponse.jsonUnsafe({
  code: SUCCESS_CODE,
  message: "Success",
});

/** An envelope around data that the contract does not shape. */
export const dataAnswer = (data: unknown) =>
  HttpServerResponse.jsonUnsafe({ code: SUCCESS_CODE, message: "Success", data });

/** What is wrong with a request that does not decode: `<field>: <problem>; …`. */
export const asRefusal = (error: HttpApiError.HttpApiSchemaError): Refusal =>
  new Refusal({
    code: REFUSAL_CODE,
    message: faultsText(faultsOf(error.cause.issue)),
  });
