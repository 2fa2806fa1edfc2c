import type {
  JournalSettings,
  NamedAccount,
  ServiceSettings,
  Temporal,
  TemporalSettings,
} from "@durable-payments/operations/connection";
import type { DoubtedStep } from "@durable-payments/operations/history";
import type { Assumptions } from "@durable-payments/api-core";

// What the operations take as parameters, the command line takes from the environment. Each is loaded
// when a command needs it.

/**
 * Read how Temporal is reached.
 *
 * @throws ConnectionFailed where its configuration is wrong.
 */
const readTemporalSettings = async (): Promise<TemporalSettings> => {
  const { temporalSettings } = await import("@durable-payments/operations/connection");
  return temporalSettings(process.env);
};

/**
 * Connect to Temporal, do something, and close the connection.
 *
 * @throws ConnectionFailed within about five seconds.
 */
export const withTemporal = async <A>(use: (temporal: Temporal) => Promise<A>): Promise<A> => {
  const { traceStarts, withTemporal } = await import("@durable-payments/operations/connection");
  const settings = await readTemporalSettings();
  const tracing = await openTracing();
  if (tracing === undefined) return withTemporal(settings, use);
  try {
    return await withTemporal({ ...settings, interceptors: [traceStarts(tracing)] }, use);
  } finally {
    await tracing.close();
  }
};

/** Traces are for whoever runs the platform: where none can be exported, a command works as ever and says nothing. */
const openTracing = async () => {
  const { openTracing } = await import("@durable-payments/api-core/tracing");
  try {
    return await openTracing(process.env, {
      serviceName: "durable-payments-starter",
      warn: () => undefined,
    });
  } catch (error) {
    const { badUsage } = await import("./exit-codes.ts");
    const { messageOf } = await import("@durable-payments/api-core/values");
    throw badUsage(`${messageOf(error)}.`);
  }
};

/** An account of these settings. */
export interface Account {
  /** Its name; undefined for the one of PAYMENTS_CLIENT_ID. */
  readonly name: string | undefined;
  readonly journal: JournalSettings;
  /** The service's address and the account's credentials, or why they are wrong. */
  readonly service: () => Promise<ServiceSettings>;
}

const readService = async (client: NamedAccount["client"]): Promise<ServiceSettings> => {
  const { clientOptionsWithEnvironment } = await import("@durable-payments/api-core");
  const { result, runPromise } = await import("effect/Effect");
  return runPromise(result(clientOptionsWithEnvironment(client)));
};

const unnamed = (): Account => ({
  name: undefined,
  journal: {
    clientId: process.env["PAYMENTS_CLIENT_ID"],
    journal: process.env["PAYMENTS_JOURNAL"],
  },
  service: () => readService({}),
});

const namedAccounts = async (): Promise<ReadonlyArray<Account>> => {
  if (process.env["PAYMENTS_ACCOUNTS_FILE"] === undefined) return [];
  const { readNamedAccounts } = await import("@durable-payments/operations/connection");
  return readNamedAccounts(process.env).map(({ client, journal, name }) => ({
    name,
    journal,
    // Without its own, those of another account would count.
    service: () => readService({ clientId: "", apiKey: "", ...client }),
  }));
};

/**
 * Read the account of a name; where it is not known here, what is asked of it is not known either.
 *
 * @param name undefined for the one of PAYMENTS_CLIENT_ID.
 * @throws InvalidInput where the file of accounts is wrong.
 */
export const readAccount = async (name: string | undefined): Promise<Account> => {
  if (name === undefined) return unnamed();
  const known = (await namedAccounts()).find((account) => account.name === name);
  return (
    known ?? {
      name,
      journal: { account: name, clientId: undefined, journal: process.env["PAYMENTS_JOURNAL"] },
      service: async () => {
        const { InvalidSettings } = await import("@durable-payments/api-core");
        const { fail } = await import("effect/Result");
        return fail(
          new InvalidSettings({ message: `PAYMENTS_ACCOUNTS_FILE has no account ${name} here.` }),
        );
      },
    }
  );
};

/**
 * Read all accounts of these settings: that of PAYMENTS_CLIENT_ID where it is set, or nothing else is, and those with
 * a name.
 *
 * @throws InvalidInput where the file of accounts is wrong.
 */
export const readAccounts = async (): Promise<readonly [Account, ...ReadonlyArray<Account>]> => {
  const [first, ...others] = await namedAccounts();
  if (first === undefined) return [unnamed()];
  return (process.env["PAYMENTS_CLIENT_ID"] ?? "") === ""
    ? [first, ...others]
    : [unnamed(), first, ...others];
};

/**
 * Read what the journals of these settings have of what is in doubt of runs. None is opened where nothing is.
 *
 * @throws InvalidInput where the file of accounts is wrong.
 */
export const withRecords = async <
  Run extends { readonly workflowId: string; readonly inDoubt: ReadonlyArray<DoubtedStep> },
>(
  runs: ReadonlyArray<Run>,
): Promise<ReadonlyArray<Run>> => {
  if (runs.every(({ inDoubt }) => inDoubt.length === 0)) return runs;
  const accounts = await readAccounts();
  const { withJournalRecords } = await import("@durable-payments/operations/decisions");
  return withJournalRecords(
    accounts.map(({ journal }) => journal),
    runs,
  );
};

/** The same of one run. */
export const withRecord = async <Run extends Parameters<typeof withRecords>[0][number]>(
  run: Run,
): Promise<Run> => {
  const [recorded = run] = await withRecords([run]);
  return recorded;
};

/**
 * Read what is assumed where the service's document is silent, as the worker does.
 *
 * @throws InvalidInput where the setting is wrong.
 */
export const readAssumptions = async (): Promise<Assumptions> => {
  const { readAssumptions } = await import("@durable-payments/operations/input");
  return readAssumptions(process.env["PAYMENTS_ASSUMPTIONS"]);
};
