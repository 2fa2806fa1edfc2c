const DIGITS = 8;

/** An amount of money, exactly: its text times 10^8. */
export const money = (text: string): bigint => {
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,8}))?$/.exec(text) ?? [];
  if (whole === "") throw new Error(`"${text}" is no amount`);
  return BigInt(`${sign}${whole}${fraction.padEnd(DIGITS, "0")}`);
};

export const isSameMoney = (one: string, other: string): boolean => money(one) === money(other);

export const total = (amounts: Iterable<string>): bigint =>
  [...amounts].reduce((sum, amount) => sum + money(amount), 0n);

/** The amount as a person reads it, with two digits after the point or as many as it has. */
export const moneyText = (amount: bigint): string => {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(DIGITS + 1, "0");
  const fraction = digits.slice(-DIGITS).replace(/0+$/, "").padEnd(2, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -DIGITS)}.${fraction}`;
};
