import { readdir, readFile } from "node:fs/promises";
import { createLocalEnvironment, startApp } from "@durable-payments/tools/testing";

/** Where a worker of this bench finds its server and its service. */
export interface Place {
  readonly temporalAddress: string;
  readonly taskQueue: string;
  readonly baseUrl: string;
  readonly clientId: string;
  readonly apiKey: string;
}

/** A Temporal server in memory and a simulator in which no payout ends by itself. */
export interface WaitingWorld {
  readonly place: Place;
  /** Seconds of CPU of the Temporal server so far. */
  readonly serverCpu: () => Promise<number>;
  /** Requests that the simulator got so far, and the payouts that it has made. */
  readonly ledger: () => Promise<Ledger>;
  readonly complete: (payout_id: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** What is read of the simulator's ledger. */
interface Ledger {
  readonly requests: Readonly<Record<string, number>>;
  readonly payouts: ReadonlyArray<{ readonly payout_id: string }>;
}

/** Of Linux, where the kernel counts in hundredths of a second. */
const TICKS_A_SECOND = 100;

const processTimes = async (pid: string): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // After the command, which may hold spaces: user time is the 12th field, system time the 13th.
  const [user = "0", system = "0"] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / TICKS_A_SECOND;
};

/** The server of this process that listens on a port; the test environment does not give its id. */
const serverOn = async (port: string): Promise<string> => {
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const words = command.split("\0");
    if (words.includes("start-dev") && words.includes(port)) return pid;
  }
  throw new Error(`No Temporal server of port ${port} is among the processes (needs Linux).`);
};

/** Starts both, each in a separate process. */
export const startWaitingWorld = async (): Promise<WaitingWorld> => {
  const environment = await createLocalEnvironment();
  try {
    const simulator = await startApp("simulator", [
      "--json",
      "--port=0",
      "--settle-after=never",
      "--balance=USD=900000000.00",
    ]);
    const baseUrl = String(simulator.ready["url"]);
    const pid = await serverOn(environment.address.split(":").at(-1) ?? "");
    return {
      place: {
        temporalAddress: environment.address,
        taskQueue: "bench-waiting",
        baseUrl,
        clientId: String(simulator.ready["clientId"]),
        apiKey: String(simulator.ready["apiKey"]),
      },
      serverCpu: () => processTimes(pid),
      // The simulator's own shape.
      ledger: async () => (await (await fetch(`${baseUrl}/_simulator/state`)).json()) as Ledger,
      complete: async (payout_id) => {
        await fetch(`${baseUrl}/_simulator/payouts/${payout_id}/status`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ status: "completed" }),
        });
      },
      stop: async () => {
        await simulator.kill();
        await environment.teardown();
      },
    };
  } catch (error) {
    await environment.teardown();
    throw error;
  }
};
