import { OpenApi } from "effect/http-api";
import { PaymentsApi } from "../src/contract.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** The OpenAPI document of the contract. */
export const openApiDocument: GeneratedFile = {
  file: new URL("../openapi.json", import.meta.url),
  about: "the OpenAPI document of the service, from the contract.",
  command: "npm exec nx run api-core:openapi",
  make: () => `${JSON.stringify(OpenApi.fromApi(PaymentsApi), null, 2)}\n`,
};
