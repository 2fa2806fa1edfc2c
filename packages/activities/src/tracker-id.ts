/** An account with the service: its client id, and the address that tells test from production. */
export interface Account {
  readonly clientId: string;
  readonly baseUrl: string;
}

/** Workflow id of the tracker of an account: one for all of its workers. */
export const trackerId = ({ baseUrl, clientId }: Account): string => {
  const { host, pathname } = new URL(baseUrl);
  return `tracker/${clientId}/${host}${pathname.replace(/\/+$/, "")}`;
};
