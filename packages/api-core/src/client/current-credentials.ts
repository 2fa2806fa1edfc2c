import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import { secondsUntilExpiry, type SecondsUntilExpiry } from "../credentials/expiry.ts";
import { checkHeaderText } from "./header-text.ts";
import { tlsFaults, type TlsOptions, type TlsSettings } from "./tls.ts";

/** An API key, or what returns it as it is now. */
export type ApiKeyOption = Redacted.Redacted | (() => Redacted.Redacted);

/** Certificates and keys, or what returns them as they are now. */
export type TlsOption = TlsOptions | (() => TlsOptions);

type Checked<A> = Result.Result<A, ReadonlyArray<string>>;

const redacted = (secret: Redacted.Redacted | string): Redacted.Redacted =>
  Redacted.isRedacted(secret) ? secret : Redacted.make(secret);

const checkKey = (given: Redacted.Redacted | string): Checked<Redacted.Redacted> => {
  const key = redacted(given);
  const faults = checkHeaderText("PAYMENTS_API_KEY (apiKey)", Redacted.value(key));
  return faults.length === 0 ? Result.succeed(key) : Result.fail(faults);
};

/** TLS of settings that are no function, checked; or what is wrong with it. */
export const checkTls = (given: TlsSettings, baseUrl: string): Checked<TlsOptions> => {
  const faults = tlsFaults(given, baseUrl);
  if (faults.length > 0) return Result.fail(faults);
  const { key, ...tls } = given;
  return Result.succeed({ ...tls, ...(key !== undefined && { key: redacted(key) }) });
};

/** A function that is asked each time: what it answers is checked when it is another, and what was used before goes on to be used where it is none. */
const checkedEachTime = <Given, A>(
  ask: () => Given,
  setting: string,
  {
    check,
    isSame,
  }: { check: (given: Given) => Checked<A>; isSame: (one: Given, other: Given) => boolean },
): Checked<() => A> => {
  const answered = (): Result.Result<Given, ReadonlyArray<string>> => {
    try {
      return Result.succeed(ask());
    } catch {
      // What it threw may hold the secret.
      return Result.fail([`${setting} is a function, which threw an error.`]);
    }
  };
  const first = answered();
  if (Result.isFailure(first)) return Result.fail(first.failure);
  return Result.map(check(first.success), (checked) => {
    let given = first.success;
    let used = checked;
    return () => {
      const answer = answered();
      if (Result.isFailure(answer) || isSame(answer.success, given)) return used;
      const next = check(answer.success);
      if (Result.isSuccess(next)) [given, used] = [answer.success, next.success];
      return used;
    };
  });
};

/** The API key of settings, checked; or what is wrong with it. */
export const checkedApiKey = (
  given: Redacted.Redacted | string | (() => Redacted.Redacted | string),
): Checked<ApiKeyOption> =>
  typeof given === "function"
    ? checkedEachTime(given, "PAYMENTS_API_KEY (apiKey)", {
        check: checkKey,
        isSame: (one, other) =>
          one === other || Redacted.value(redacted(one)) === Redacted.value(redacted(other)),
      })
    : checkKey(given);

/** The TLS of settings, checked; or what is wrong with it. */
export const checkedTls = (
  given: TlsSettings | (() => TlsSettings),
  baseUrl: string,
): Checked<TlsOption> =>
  typeof given === "function"
    ? checkedEachTime(given, "tls", {
        check: (tls) => checkTls(tls, baseUrl),
        isSame: Object.is,
      })
    : checkTls(given, baseUrl);

/**
 * Read the API key of a client as it is now: where it comes from a file, the one that the file holds.
 *
 * @param options of the client.
 * @returns the same value as long as the key is the same.
 */
export const currentApiKey = ({ apiKey }: { readonly apiKey: ApiKeyOption }): Redacted.Redacted =>
  typeof apiKey === "function" ? apiKey() : apiKey;

/**
 * Say how long the credentials of a client are still good, as they are now.
 *
 * @param options of the client.
 * @returns seconds by the name of the credential, below 0 since it has expired; without those that do not say when.
 * @example
 * const { cert } = await Effect.runPromise(
 *   PaymentsClient.useSync(({ options }) => clientSecondsUntilExpiry(options)).pipe(
 *     Effect.provide(PaymentsClient.layerFromEnvironment),
 *   ),
 * );
 */
export const clientSecondsUntilExpiry = (options: {
  readonly apiKey: ApiKeyOption;
  readonly tls?: TlsOption;
}): SecondsUntilExpiry => {
  const { ca, cert } = currentTls(options) ?? {};
  return secondsUntilExpiry({
    apiKey: Redacted.value(currentApiKey(options)),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
  });
};

/** The certificates and keys of a client as they are now; the same object as long as they are the same. */
export const currentTls = ({ tls }: { readonly tls?: TlsOption }): TlsOptions | undefined =>
  typeof tls === "function" ? tls() : tls;
