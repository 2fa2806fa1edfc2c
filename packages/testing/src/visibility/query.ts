/** What a visibility query compares: texts and numbers; times as the ISO texts that they are. */
export type Value = string | number;

/** The attributes of one run, by name; an attribute that the run does not have is undefined. */
export type Attributes = (name: string) => Value | ReadonlyArray<Value> | undefined;

/** Whether a run is found by a query. */
export type Condition = (attributes: Attributes) => boolean;

/** A query that this server for tests does not understand, although a real one may. */
class UnreadableQuery extends Error {
  override readonly name = "UnreadableQuery";

  constructor(query: string, why: string) {
    super(
      `The look-ups of the time-skipping server cannot read the query ${query}: ${why}. Use server: "dev" for it.`,
    );
  }
}

const TOKEN =
  /\s*(?:(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<number>-?\d+(?:\.\d+)?)|(?<word>`?[A-Za-z_][\w.]*`?)|(?<sign><=|>=|!=|=|<|>|\(|\)|,))/y;

type Kind = "text" | "number" | "word" | "sign";

interface Token {
  readonly kind: Kind;
  readonly text: string;
}

const KINDS: ReadonlyArray<Kind> = ["text", "number", "word", "sign"];

const tokensOf = (query: string): Array<Token> => {
  const tokens: Array<Token> = [];
  const pattern = new RegExp(TOKEN);
  const end = query.trimEnd().length;
  while (pattern.lastIndex < end) {
    const at = pattern.lastIndex;
    const groups = pattern.exec(query)?.groups;
    const kind = KINDS.find((one) => groups?.[one] !== undefined);
    if (kind === undefined)
      throw new UnreadableQuery(query, `nothing is known by ${query.slice(at)}`);
    tokens.push({ kind, text: groups?.[kind] ?? "" });
  }
  return tokens;
};

const unquoted = (text: string): string => text.slice(1, -1).replaceAll(/\\(.)/g, "$1");

const listOf = (value: ReturnType<Attributes>): ReadonlyArray<Value> => {
  if (value === undefined) return [];
  return typeof value === "object" ? value : [value];
};

/** Times as numbers, so that they compare however exactly they are written. */
const comparable = (value: Value): Value => {
  const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value);
  return isTime ? Date.parse(value) : value;
};

const COMPARISONS: Readonly<Record<string, (one: Value, other: Value) => boolean>> = {
  "=": (one, other) => one === other,
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
};

/** Reads a query from left to right; each method reads what it is named after. */
class Reader {
  readonly #query: string;
  readonly #tokens: Array<Token>;

  constructor(query: string) {
    this.#query = query;
    this.#tokens = tokensOf(query);
  }

  whole(): Condition {
    if (this.#tokens.length === 0) return () => true;
    const condition = this.#alternatives();
    const [left] = this.#tokens;
    if (left !== undefined) this.#fail(`${left.text} is too much`);
    return condition;
  }

  #alternatives(): Condition {
    const any = [this.#conjunction()];
    while (this.#takes("OR")) any.push(this.#conjunction());
    return (attributes) => any.some((holds) => holds(attributes));
  }

  #conjunction(): Condition {
    const all = [this.#negation()];
    while (this.#takes("AND")) all.push(this.#negation());
    return (attributes) => all.every((holds) => holds(attributes));
  }

  #negation(): Condition {
    if (!this.#takes("NOT")) return this.#primary();
    const denied = this.#negation();
    return (attributes) => !denied(attributes);
  }

  #primary(): Condition {
    if (this.#takes("(")) {
      const inner = this.#alternatives();
      this.#expect(")");
      return inner;
    }
    const { kind, text } = this.#next();
    if (kind !== "word") this.#fail(`${text} is no attribute`);
    return this.#comparison(text.replaceAll("`", ""));
  }

  #comparison(name: string): Condition {
    const valuesOf = (attributes: Attributes) => listOf(attributes(name)).map(comparable);
    if (this.#takes("IS")) {
      const isSet = this.#takes("NOT");
      this.#expect("NULL");
      return (attributes) => valuesOf(attributes).length > 0 === isSet;
    }
    const isNot = this.#takes("NOT");
    const holds = this.#operator(valuesOf);
    return isNot ? (attributes) => !holds(attributes) : holds;
  }

  #operator(valuesOf: (attributes: Attributes) => ReadonlyArray<Value>): Condition {
    if (this.#takes("IN")) {
      this.#expect("(");
      const wanted = [this.#value()];
      while (this.#takes(",")) wanted.push(this.#value());
      this.#expect(")");
      return (attributes) => valuesOf(attributes).some((value) => wanted.includes(value));
    }
    if (this.#takes("STARTS_WITH")) {
      const start = String(this.#value());
      return (attributes) => valuesOf(attributes).some((value) => String(value).startsWith(start));
    }
    if (this.#takes("BETWEEN")) {
      const from = this.#value();
      this.#expect("AND");
      const to = this.#value();
      return (attributes) => valuesOf(attributes).some((value) => value >= from && value <= to);
    }
    const { text } = this.#next();
    const wanted = this.#value();
    if (text === "!=") return (attributes) => !valuesOf(attributes).includes(wanted);
    const compare = COMPARISONS[text];
    if (compare === undefined) return this.#fail(`${text} is no comparison`);
    return (attributes) => valuesOf(attributes).some((value) => compare(value, wanted));
  }

  #value(): Value {
    const { kind, text } = this.#next();
    if (kind === "text") return comparable(unquoted(text));
    return kind === "number" ? Number(text) : this.#fail(`${text} is no value`);
  }

  #next(): Token {
    return this.#tokens.shift() ?? this.#fail("it ends too early");
  }

  #takes(word: string): boolean {
    const [token] = this.#tokens;
    const isIt = token !== undefined && token.kind !== "text" && token.text.toUpperCase() === word;
    if (isIt) this.#tokens.shift();
    return isIt;
  }

  #expect(word: string): void {
    if (!this.#takes(word)) this.#fail(`${word} is missing`);
  }

  #fail(why: string): never {
    throw new UnreadableQuery(this.#query, why);
  }
}

/**
 * Read a query of Temporal's visibility: comparisons, `IN`, `BETWEEN`, `STARTS_WITH`, `IS NULL`, joined by `AND`, `OR`,
 * `NOT` and parentheses.
 *
 * @throws UnreadableQuery for anything else.
 */
export const readQuery = (query: string): Condition => new Reader(query).whole();
