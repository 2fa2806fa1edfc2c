import type { ClientOptions, InvalidSettings } from "@durable-payments/api-core";
import type * as Result from "effect/Result";

/** The service's address and the account's credentials; or why they are not known here. */
export type ServiceSettings = Result.Result<ClientOptions, InvalidSettings>;
