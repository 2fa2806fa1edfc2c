import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerTasks } from "../child.ts";
import { listAnswer, signInAnswer, smallAnswer } from "./answers.ts";

/** By the end of the path, for every contender: all get the very same bytes. */
const answerTo = (url: string): Buffer => {
  if (url.includes("/signin")) return bodies.signIn;
  return /payouts(\?|$)/.test(url) ? bodies.list : bodies.small;
};

const bodies = {
  signIn: Buffer.from(signInAnswer),
  list: Buffer.from(listAnswer),
  small: Buffer.from(smallAnswer),
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const body = answerTo(request.url ?? "");
  request.resume();
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
});

await answerTasks(async () => {
  const listening = Promise.withResolvers<undefined>();
  server.listen(0, "127.0.0.1", () => listening.resolve(undefined));
  await listening.promise;
  // A server that listens on a port has the address of one.
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}` };
});
