import {
  type NamespaceAttributes,
  type NeededAttribute,
  readNamespaceAttributes,
  registerNamespaceAttributes,
} from "@durable-payments/activities/namespace-attributes";
import { isNotFound, queryText } from "@durable-payments/protocol";
import { isGrpcServiceError } from "@temporalio/client";
import { NamespaceNotFoundError } from "@temporalio/common";
import { setTimeout as sleep } from "node:timers/promises";
import { changing } from "../connection/changing.ts";
import { detailsOf } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { refused } from "../errors.ts";

/** What of a namespace can be put right, and what cannot. */
export type NamespaceFix = NamespaceAttributes;

/**
 * Read what a fix of the namespace would register. A namespace that is missing, and a retention that is
 * short, are for a person to decide on; `diagnose` reports both.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns the search attributes that are missing, are there, or are there with another type.
 * @throws ConnectionFailed, by `withTemporal`, where there is no such namespace.
 */
export const planFix = async ({ connection, settings }: Temporal): Promise<NamespaceFix> => {
  try {
    return await readNamespaceAttributes(connection.operatorService, settings.namespace);
  } catch (error) {
    throw isNotFound(error) ? new NamespaceNotFoundError(settings.namespace) : error;
  }
};

/** How long the server may take until it uses what was registered: its nodes read it now and then. */
const USED_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 250;

/** Await that the server finds runs by these attributes; a worker may start then. */
const awaitUse = async (
  { client }: Temporal,
  attributes: ReadonlyArray<NeededAttribute>,
): Promise<void> => {
  const query = attributes.map(({ name }) => `${name} = ${queryText("-")}`).join(" AND ");
  const until = Date.now() + USED_WITHIN_MS;
  for (;;) {
    try {
      await client.workflow.count(query);
      return;
    } catch (error) {
      if (Date.now() >= until) throw error;
    }
    await sleep(ASK_EVERY_MS);
  }
};

/**
 * Register the search attributes that a namespace lacks, and await that the server uses them. What is
 * there stays; done twice it does nothing.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns what was registered, and what was there before.
 * @throws Refused where one is there with another type, or Temporal does not take them: then nothing was
 *   registered, or `planFix` returns what is missing still.
 * @example
 * const { missing } = await planFix(temporal);
 * if (missing.length > 0) await fixNamespace(temporal);
 */
export const fixNamespace = async (
  temporal: Temporal,
): Promise<Pick<NamespaceFix, "registered"> & { readonly before: NamespaceFix["registered"] }> => {
  const { missing, registered, wrong } = await planFix(temporal);
  const [first] = wrong;
  if (first !== undefined) {
    throw refused(
      `The search attribute ${first.name} is of type ${first.found}, not ${first.type}, and a type cannot be changed: use another namespace, or remove the attribute. Nothing was registered.`,
    );
  }
  if (missing.length > 0) {
    const { connection, settings } = temporal;
    const about = {
      mayBe: "The search attributes may have been registered",
      next: { operation: "doctor" },
    } as const;
    try {
      await changing(temporal, about, () =>
        registerNamespaceAttributes(connection.operatorService, settings.namespace, missing),
      );
    } catch (error) {
      if (!isGrpcServiceError(error)) throw error;
      throw refused(
        `Temporal did not register the search attributes: ${error.details || detailsOf(error)}. A namespace with an SQL store has room for 10 of type Keyword and 3 of type KeywordList; on Temporal Cloud they are registered by its own tools. docs/production.md lists them.`,
      );
    }
    await awaitUse(temporal, missing);
  }
  return { registered: missing, before: registered };
};
