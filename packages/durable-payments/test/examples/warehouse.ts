import { defineOperation } from "durable-payments/worker";

const WAREHOUSE = "https://warehouse.example/reservations";

/** Reserves the goods of an order. The warehouse ignores a repeated key. */
export const reserveGoods = defineOperation<{ readonly orderId: string }>({
  repeat: "keyed",
  send: async ({ orderId }, { key, notCarriedOut, refused, signal }) => {
    const response = await fetch(WAREHOUSE, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ orderId }),
      signal,
    });
    if (response.status === 429) throw notCarriedOut("The warehouse is busy.");
    if (response.status === 409) throw refused("The goods are sold out.");
    if (!response.ok) throw new Error(`The warehouse answered ${response.status}.`);
    const { id } = (await response.json()) as { readonly id: string };
    return { id };
  },
  undo: async (id, { signal }) => {
    const response = await fetch(`${WAREHOUSE}/${id}`, { method: "DELETE", signal });
    if (!response.ok && response.status !== 404) throw new Error(`Not removed: ${response.status}`);
  },
});
