import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { describeJournalPlace, JournalUnavailable, readJournalPlace } from "../src/index.ts";

afterEach(() => vi.unstubAllEnvs());

/** The message of a wrong setting. */
const refusalOf = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    if (error instanceof JournalUnavailable) return error.message;
    throw error;
  }
  throw new Error("It was accepted.");
};

describe("PAYMENTS_JOURNAL", () => {
  it.each(["", undefined, "  "])("is a file of the account's own where it is %j", (setting) => {
    vi.stubEnv("XDG_STATE_HOME", "/var/state");
    expect(readJournalPlace(setting, "4f2a")).toEqual({
      _tag: "File",
      file: "/var/state/durable-payments/4f2a.sqlite",
    });
  });

  it.each(["", "relative/folder"])("is in the home folder where XDG_STATE_HOME is %j", (state) => {
    vi.stubEnv("XDG_STATE_HOME", state);
    expect(readJournalPlace("", "4f2a")).toEqual({
      _tag: "File",
      file: join(homedir(), ".local/state/durable-payments/4f2a.sqlite"),
    });
  });

  it("names a file, a database, or none", () => {
    expect(readJournalPlace("sqlite:/var/j.sqlite", "a")).toEqual({
      _tag: "File",
      file: "/var/j.sqlite",
    });
    expect(readJournalPlace("none", "a")).toEqual({ _tag: "None" });
    for (const scheme of ["postgres", "postgresql"]) {
      const address = `${scheme}://host/database`;
      expect(readJournalPlace(address, "a")).toEqual({ _tag: "Postgres", address });
    }
  });

  it.each(["sqlite:", "/var/j.sqlite", "mysql://user:secret@host/d", "None", "secret"])(
    "is refused where it is %j, and not repeated",
    (setting) => {
      const refusal = refusalOf(() => readJournalPlace(setting, "a"));
      expect(refusal).toMatch(/^PAYMENTS_JOURNAL must be sqlite:FILE, postgres:/);
      expect(refusal).not.toContain("secret");
    },
  );
});

describe("the description of a journal", () => {
  it("says where it is and what that means", () => {
    expect(describeJournalPlace({ _tag: "File", file: "/j.sqlite" })).toBe(
      "the file /j.sqlite, which serves the workers of this host alone",
    );
    expect(describeJournalPlace({ _tag: "None" })).toMatch(/^none: what was sent is forgotten/);
  });

  it("of a database has neither user nor password", () => {
    const address = "postgres://user:secret@db.example:6543/payments?sslmode=require";
    expect(describeJournalPlace({ _tag: "Postgres", address })).toBe(
      "PostgreSQL at db.example:6543/payments",
    );
  });
});
