/** Temporal's port, where an address names none. */
export const DEFAULT_PORT = 7233;

/** Read host and port of an address; an IPv6 address may stand in brackets. */
export const placeOf = (address: string): { readonly host: string; readonly port: number } => {
  const parts = /^\[?(.+?)\]?(?::(\d+))?$/.exec(address);
  return { host: parts?.[1] ?? address, port: Number(parts?.[2] ?? DEFAULT_PORT) };
};

/**
 * Check whether an address is one of this machine.
 *
 * @param endpoint its address.
 * @returns false for another machine's, and for a name that is not known to be this one's.
 */
export const isOnThisMachine = ({ address }: { readonly address: string }): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(placeOf(address).host);
