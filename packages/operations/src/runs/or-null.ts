import { isNoAnswer } from "../connection/temporal-errors.ts";

/** A run that cannot be read hides none of the others. */
export const orNull = async <A>(read: Promise<A>): Promise<A | null> => {
  try {
    return await read;
  } catch (error) {
    if (isNoAnswer(error)) throw error;
    return null;
  }
};
