import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Rig } from "./rig.ts";
import { type Service, startService } from "./service.ts";

/** Stands for what a hook has started last, so that tests can name it before the hook has run. */
const startedLast = <A extends object>(started: () => A | undefined): A => {
  const get = (): A => {
    const value = started();
    if (value === undefined) throw new Error("It is started by a hook: use it in a test.");
    return value;
  };
  // Each property is that of what was started, of which the type is A.
  return new Proxy({} as A, {
    get: (_, name) => Reflect.get(get(), name),
    set: (_, name, value) => Reflect.set(get(), name, value),
  });
};

/** Starts a rig before all tests of a file or a `describe`, and ends it after them. */
export const useRig = (start: () => Promise<Rig>): Rig => {
  let rig: Rig | undefined;
  beforeAll(async () => {
    rig = await start();
  });
  afterAll(() => rig?.end(), 60_000);
  return startedLast(() => rig);
};

/** Starts a service before each test, by what {@link startService} takes, and stops it after the test. */
export const useService = (...options: Parameters<typeof startService>): Service => {
  let service: Service | undefined;
  beforeEach(async () => {
    service = await startService(...options);
  });
  afterEach(() => service?.stop());
  return startedLast(() => service);
};

/** Starts such a service, over whose activities a second person approves what is above 100.00 USD. */
export const useServiceWithLimit = (options: Parameters<typeof startService>[0]): Service =>
  useService(options, {}, { readPause: async () => undefined, approveAbove: { USD: "100.00" } });
