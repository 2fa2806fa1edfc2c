import { encryptedDataConverter, openKeyring } from "durable-payments/codec";
import { Client, type ConnectionLike } from "@temporalio/client";

/** The same converter goes to `Worker.create`, and to `bundleWorkflowCode` where you bundle ahead. */
export const encryptedClient = (connection: ConnectionLike, namespace: string, folder: string) => {
  const dataConverter = encryptedDataConverter({ namespace, keys: openKeyring(folder) });
  return new Client({ connection, namespace, dataConverter });
};
