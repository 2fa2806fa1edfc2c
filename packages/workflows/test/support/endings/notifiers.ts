import { type NotifierState, testNotificationUpdate } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { notifier } from "../../../src/definitions/notifier.ts";
import type { Ending } from "./ending.ts";

const state: NotifierState = {
  endedFrom: 0,
  ended: [],
  asking: {},
  overdueTo: 0,
  queue: [],
  delivered: 1,
  givenUp: 0,
};

/** It lasts until it is let go. */
const untilLetGo = () => {
  const { promise, resolve } = Promise.withResolvers<NotifierState>();
  return { promise, letGo: () => resolve(state) };
};
const tested = untilLetGo();

/** The endings of `notifier`. */
export const notifierEndings: ReadonlyArray<Ending> = [
  {
    name: "notifier-continued-as-new",
    activities: { notify: async () => state },
    run: ({ start }) => start(notifier, undefined),
  },
  {
    name: "notifier-continued-as-new-after-a-test",
    activities: {
      notify: () => {
        const heart = setInterval(() => Context.current().heartbeat(), 500);
        return tested.promise.finally(() => clearInterval(heart));
      },
      sendTestNotification: async () => ({
        isDelivered: true,
        host: "alerts.example",
        status: 200,
        tookMs: 12,
      }),
    },
    run: async ({ start }) => {
      const handle = await start(notifier, state);
      await handle.executeUpdate(testNotificationUpdate);
      tested.letGo();
      return handle;
    },
  },
  {
    name: "notifier-cancelled",
    activities: {
      notify: () => {
        const { cancelled } = Context.current();
        const heart = setInterval(() => Context.current().heartbeat(), 500);
        return cancelled.finally(() => clearInterval(heart));
      },
    },
    run: async ({ start }) => {
      const handle = await start(notifier, state);
      await handle.cancel();
      return handle;
    },
  },
];
