import { isRecord } from "@durable-payments/api-core/values";

/** What one signs in to the service with. */
export interface Account {
  readonly clientId: string;
  readonly apiKey: string;
}

/** A row of a list, or a record, in the service's own fields. */
export type ServiceRecord = Readonly<Record<string, unknown>>;

/** The rows of a list. */
export interface ReadList {
  /** Each row that has an id, once. */
  readonly rows: readonly ServiceRecord[];
  /** How many rows have no id. */
  readonly unreadable: number;
}

/** The service did not answer, or not with what was asked for: it is read again later. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

const TIMEOUT_MS = 5_000;

const MOST_PAGES = 200;

/** Reads the service as a person does at its web site: through its own lists, in their own notation. */
export class ServiceReader {
  readonly #url: string;
  readonly #account: () => Account;
  #token: string | undefined;

  constructor(url: string, account: () => Account) {
    this.#url = url;
    this.#account = account;
  }

  /**
   * Read every page of a list, twice: a row that one reading misses may be in the other. A short page is
   * not the last one.
   *
   * @param idField the field with the id of a row.
   * @throws Unreadable also where the list shows fewer rows than it counts.
   */
  async list(path: string, idField: string, pageSize: number, filter = ""): Promise<ReadList> {
    const rows = new Map<string, ServiceRecord>();
    let unreadable = 0;
    let total = 0;
    for (let reading = 0; reading < 2; reading++) {
      let withoutId = 0;
      for (let page = 1; page <= MOST_PAGES; page++) {
        const data = await this.#get(`${path}?page_num=${page}&page_size=${pageSize}${filter}`);
        const items = isRecord(data) ? data["item_list"] : undefined;
        if (!isRecord(data) || !Array.isArray(items)) throw new Unreadable(`${path} has no rows`);
        total = Math.max(total, Number(data["total_item"]));
        if (items.length === 0) break;
        for (const item of items as readonly unknown[]) {
          const id = isRecord(item) ? item[idField] : undefined;
          if (isRecord(item) && typeof id === "string" && id !== "") rows.set(id, item);
          else withoutId += 1;
        }
      }
      unreadable = Math.max(unreadable, withoutId);
    }
    // Also where the count is none, which compares with nothing.
    if (!(rows.size + unreadable >= total)) throw new Unreadable(`${path} does not add up`);
    return { rows: [...rows.values()], unreadable };
  }

  /**
   * Read one payout, with all its fields.
   *
   * @throws Unreadable
   */
  async payout(id: string): Promise<ServiceRecord> {
    const data = await this.#get(`/api/v1/payouts/${encodeURIComponent(id)}/retrieve`);
    if (!isRecord(data)) throw new Unreadable(`payout ${id} cannot be read`);
    return data;
  }

  async #get(path: string): Promise<unknown> {
    const { apiKey, clientId } = this.#account();
    if (this.#token === undefined) {
      const signedIn = await this.#send("POST", "/api/v1/auth/signin", {
        "x-client-id": clientId,
        "x-api-key": apiKey,
      });
      const token = isRecord(signedIn) ? signedIn["auth_token"] : undefined;
      if (typeof token !== "string") throw new Unreadable("no token");
      this.#token = token;
    }
    return await this.#send("GET", path, {
      "x-client-id": clientId,
      "x-auth-token": `Bearer ${this.#token}`,
    });
  }

  async #send(method: string, path: string, headers: Record<string, string>): Promise<unknown> {
    try {
      const answer = await fetch(`${this.#url}${path}`, {
        method,
        headers,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const body: unknown = JSON.parse(await answer.text());
      if (answer.ok && isRecord(body) && body["code"] === 200) return body["data"];
    } catch {
      // Silent, cut off or no JSON.
    }
    // Whatever it was: the next reading signs in anew.
    this.#token = undefined;
    throw new Unreadable(`${method} ${path}`);
  }
}
