import { appArguments, awaitReadyLine } from "@durable-payments/tools/processes";
import { join } from "node:path";
import { type Spawn, SupervisedProcess } from "../environment/supervised-process.ts";
import type { Credentials, Service } from "./service.ts";
import { SimulatorControl } from "./simulator-control.ts";
import { SETTLE_AFTER_MS, VERIFY_AFTER_MS } from "./simulator-timing.ts";
import { drawTemperament } from "./temperament.ts";

const READY_WITHIN_MS = 60_000;

/** Starts the simulator with a state file: it is killed, and takes faults of requests. */
export const startSimulator = async ({
  folder,
  funds,
  port,
  seed,
  spawn,
}: {
  readonly folder: string;
  readonly funds: Readonly<Record<string, string>>;
  readonly port: number;
  readonly seed: number;
  readonly spawn: Spawn;
}): Promise<Service> => {
  const temperament = drawTemperament(seed);
  let credentials: Credentials = { clientId: "", apiKey: "" };
  const process_ = new SupervisedProcess({
    name: "the simulator",
    spawn: (start) =>
      spawn(
        `simulator-${start}`,
        process.execPath,
        appArguments("simulator", [
          "--json",
          `--port=${port}`,
          `--state-file=${join(folder, "service.jsonl")}`,
          `--settle-after=${SETTLE_AFTER_MS / 1_000}`,
          `--verify-after=${VERIFY_AFTER_MS / 1_000}`,
          `--seed=${seed}`,
          `--temperament=${JSON.stringify(temperament.settings)}`,
          ...Object.entries(funds).map(([currency, amount]) => `--balance=${currency}=${amount}`),
        ]),
      ),
    ready: async (started) => {
      const { apiKey, clientId } = await awaitReadyLine(started, READY_WITHIN_MS);
      credentials = { clientId: String(clientId), apiKey: String(apiKey) };
    },
  });
  await process_.start();
  const url = `http://127.0.0.1:${port}`;
  const control = new SimulatorControl(url);
  return {
    url,
    credentials: () => credentials,
    behaviour: temperament.settings,
    assumptions: temperament.assumptions,
    simulator: { process: process_, control },
    faults: () => ({}),
    ledger: () => control.ledger(),
    end: () => process_.end(),
  };
};
