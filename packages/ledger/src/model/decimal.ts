const partsOf = (text: string): { readonly units: bigint; readonly scale: number } => {
  const [whole = "0", fraction = ""] = text.split(".");
  return { units: BigInt(whole + fraction), scale: fraction.length };
};

/** Returns the exact sum of two decimal strings. */
export const addDecimals = (one: string, other: string): string => {
  const [a, b] = [partsOf(one), partsOf(other)];
  const scale = Math.max(a.scale, b.scale);
  const units = a.units * 10n ** BigInt(scale - a.scale) + b.units * 10n ** BigInt(scale - b.scale);
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  if (scale === 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
};

/** Compares two decimal strings exactly: below, at or above 0, as 249.99 and 250, 250 and 250.00, 1000 and 250 do. */
export const compareDecimals = (one: string, other: string): number => {
  const [a, b] = [partsOf(one), partsOf(other)];
  const scale = BigInt(Math.max(a.scale, b.scale));
  return Number(
    a.units * 10n ** (scale - BigInt(a.scale)) - b.units * 10n ** (scale - BigInt(b.scale)),
  );
};
