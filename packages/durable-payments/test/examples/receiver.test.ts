import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { expect, it, onTestFinished } from "vitest";
import { receiveEvents } from "./receiver.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

it("handles each event once, however often it comes, and refuses a forged one", async () => {
  const handled = new Map<string, string>();
  let isAway = true;
  const server = receiveEvents(SECRET, async (id, { type }) => {
    if (isAway) throw new Error("the database is away");
    handled.set(id, type);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  // It listens at a port.
  const { port } = server.address() as AddressInfo;
  const post = async (id: string, secret = SECRET): Promise<number> => {
    const body = JSON.stringify({ type: "payment.completed", data: {} });
    const now = new Date();
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": `${Math.floor(now.getTime() / 1_000)}`,
      "webhook-signature": new Webhook(secret).sign(id, now, body),
    };
    return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body })).status;
  };
  expect(await post("evt_1")).toBe(500);
  isAway = false;
  expect([await post("evt_1"), await post("evt_1"), await post("evt_2")]).toEqual([204, 204, 204]);
  expect(await post("evt_3", `whsec_${Buffer.alloc(32, 8).toString("base64")}`)).toBe(401);
  expect([...handled.keys()]).toEqual(["evt_1", "evt_2"]);
});
