import { readSigningSecrets, type SigningSecrets } from "@durable-payments/activities";
import { messageOf } from "@durable-payments/api-core/values";
import { Runtime } from "@temporalio/worker";
import { CannotStart } from "../cannot-start.ts";
import type { PaymentsSettings } from "./payments-settings.ts";
import type { Environment } from "./worker-process.ts";

/**
 * Read the secrets by which approvals are proved; undefined where the API key proves them.
 *
 * @throws CannotStart
 */
export const readSigning = (
  { signingSecretFile }: PaymentsSettings,
  environment: Environment,
): SigningSecrets | undefined => {
  const path = (signingSecretFile ?? environment["PAYMENTS_SIGNING_SECRET_FILE"] ?? "").trim();
  if (path === "") return undefined;
  const name =
    signingSecretFile === undefined ? "PAYMENTS_SIGNING_SECRET_FILE" : "signingSecretFile";
  try {
    return readSigningSecrets(
      name,
      path,
      (message) => void Runtime.instance().logger.warn(message),
    );
  } catch (error) {
    throw new CannotStart(messageOf(error));
  }
};
