import { encryptedDataConverter, openKeyring } from "durable-payments/codec";
import { Client, type ConnectionLike } from "@temporalio/client";

/** Pass the same converter to `Worker.create`, and to `bundleWorkflowCode` if you bundle in advance. */
export const encryptedClient = (connection: ConnectionLike, namespace: string, folder: string) => {
  const dataConverter = encryptedDataConverter({ namespace, keys: openKeyring(folder) });
  return new Client({ connection, namespace, dataConverter });
};
