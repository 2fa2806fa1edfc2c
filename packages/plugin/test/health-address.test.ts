import { createServer } from "node:net";
import { once } from "node:events";
import { expect, it } from "vitest";
import { CannotStart } from "../src/index.ts";
import { readHealthAddress } from "../src/health/health-address.ts";
import { HealthListener } from "../src/health/health-listener.ts";

it.each([
  ["9464", { host: "127.0.0.1", port: 9464 }],
  ["0.0.0.0:9464", { host: "0.0.0.0", port: 9464 }],
  ["[::1]:9464", { host: "::1", port: 9464 }],
  ["", undefined],
])("PAYMENTS_HEALTH_ADDRESS=%s", (given, address) => {
  expect(readHealthAddress({}, { PAYMENTS_HEALTH_ADDRESS: given })).toEqual(address);
});

it("a port may be a number", () => {
  expect(readHealthAddress({ healthAddress: 9464 }, {})).toEqual({ host: "127.0.0.1", port: 9464 });
});

it.each(["65536", "localhost", "0.0.0.0:", "-1"])("%s is no address", (given) => {
  expect(() => readHealthAddress({ healthAddress: given }, {})).toThrow(
    new CannotStart("healthAddress must be a port, or HOST:PORT such as 0.0.0.0:9464."),
  );
});

it("is not ready before it watches anything, and refuses a port that is taken", async () => {
  const first = await HealthListener.listen({ host: "127.0.0.1", port: 0 });
  const response = await fetch(`http://${first.address}/readyz`);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    check: "pollers",
    ok: false,
    why: "the worker starts",
  });
  const port = Number(first.address.split(":")[1]);
  await expect(HealthListener.listen({ host: "127.0.0.1", port })).rejects.toThrow(CannotStart);
  first.close();
  const freed = createServer().listen(port, "127.0.0.1");
  await once(freed, "listening");
  freed.close();
});
