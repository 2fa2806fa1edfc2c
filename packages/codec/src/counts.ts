/** How many payloads this process has encrypted or decrypted under a key. */
export interface PayloadCount {
  readonly operation: "encrypt" | "decrypt";
  readonly keyId: string;
  readonly payloads: number;
}

const counts = new Map<string, { -readonly [Name in keyof PayloadCount]: PayloadCount[Name] }>();

/** Count payloads. The key must exist: its id becomes a label of a metric. */
export const countPayloads = (
  operation: PayloadCount["operation"],
  keyId: string,
  payloads: number,
): void => {
  const name = `${operation} ${keyId}`;
  const count = counts.get(name);
  if (count === undefined) counts.set(name, { operation, keyId, payloads });
  else count.payloads += payloads;
};

/**
 * Read how many payloads this process has encrypted and decrypted, for its metrics.
 *
 * @returns a count for each operation and key.
 */
export const payloadCounts = (): ReadonlyArray<PayloadCount> => [...counts.values()];
