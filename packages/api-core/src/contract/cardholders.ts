import * as Schema from "effect/Schema";
import { get, post } from "effect/http-api/HttpApiEndpoint";
import {
  answer,
  answeredId,
  answeredNumberOrText,
  answeredOrUnset,
  answeredTime,
  confirmed,
  enveloped,
  page,
} from "./answers.ts";
import { CalendarDate, optionalText, PageNumber, pageSize, PathSegment, text } from "./fields.ts";
import { endpointGroup, Idempotency, Paged, SignedIn } from "./operation-facts.ts";
import { type Named, named } from "./rules.ts";

/** State of the identity check as requests and filters write it. */
const CardholderStatusNumber = Schema.Literals([-1, 0, 1, 2]);

/** Fields of createCardholder. */
export interface CreateCardholderInput extends Named<typeof CreateCardholderInputSchema> {}
const CreateCardholderInputSchema = named<CreateCardholderInput>()({
  /** E-mail address. */
  email: text(),
  /** First name, 1 to 50 characters. */
  first_name: text(50),
  /** Last name, 1 to 50 characters. */
  last_name: text(50),
  /** Day of birth: a calendar date, `YYYY-MM-DD`. */
  date_birth: CalendarDate,
  /** Telephone number, 1 to 50 characters. */
  phone_number: text(50),
  /** Address at which the person lives. */
  residential_address: optionalText(),
  // The document does not show its name; see the assumption `deliveryAddressField`.
  /** Address to which cards are sent. */
  delivery_address: optionalText(),
  /** State of the identity check: -1 failed, 0 pending, 1 success, 2 incomplete. */
  card_holder_status: CardholderStatusNumber,
});

/** Answer of createCardholder. */
export interface CreatedCardholder extends Named<typeof CreatedCardholderSchema> {}
const CreatedCardholderSchema = named<CreatedCardholder>()({
  /** The service's id of the cardholder. */
  card_holder_id: answeredId,
});

const CARDHOLDERS_PAGE_SIZE = 50;

/** Page and filters of listCardholders. */
export interface ListCardholdersInput extends Named<typeof ListCardholdersInputSchema> {}
// On the wire some have other names, see the assumptions.
const ListCardholdersInputSchema = named<ListCardholdersInput>()({
  /** Which page: a whole number, 1 or more. */
  page_num: PageNumber,
  /** Cardholders on a page, 1 to 50. */
  page_size: pageSize(CARDHOLDERS_PAGE_SIZE),
  /** Cardholders of this direct account alone: its id. */
  direct_account_id: Schema.optionalKey(text()),
  /** Cardholders of this account of cards alone: its id. */
  card_account_id: Schema.optionalKey(text()),
  /** Cardholders of this state alone: -1 failed, 0 pending, 1 success, 2 incomplete. */
  card_holder_status: Schema.optionalKey(CardholderStatusNumber),
  /** Cardholders whose name is like this. */
  name: Schema.optionalKey(text()),
});

/** A person who may own cards. */
export interface Cardholder extends Named<typeof CardholderSchema> {}
const CardholderSchema = named<Cardholder>()({
  /** The service's id of the cardholder. */
  card_holder_id: answeredId,
  /** State of the identity check as the service writes it, such as `SUCCESS`. */
  card_holder_status: answeredOrUnset,
  /** How many cards, or which: the document says only that it is a number. */
  card_num: answeredNumberOrText,
  /** First name. */
  first_name: answeredOrUnset,
  /** Last name. */
  last_name: answeredOrUnset,
  /** Time of creation: ISO 8601 with offset. */
  create_time: answeredTime,
  /** Time of the last change: ISO 8601 with offset. */
  update_time: answeredTime,
});

/** Source: service interface, "Cardholders". */
export const cardholderOperations = {
  /**
   * Create a cardholder, a person who may own cards once the identity check has passed. Dates are `YYYY-MM-DD`.
   *
   * Idempotency class `none`: sending it twice may make two cardholders. After a lost answer (`OutcomeUnknown`)
   * look in listCardholders before it is sent again, as the workflow step createCardholder does.
   *
   * @example
   * const { card_holder_id } = await client.createCardholder({
   *   email: "ada@example.com",
   *   first_name: "Ada",
   *   last_name: "Lovelace",
   *   date_birth: "1990-12-10",
   *   phone_number: "+1 512 555 0100",
   *   card_holder_status: 0,
   * });
   */
  createCardholder: post("createCardholder", "/cardholders/create", {
    payload: CreateCardholderInputSchema,
    success: enveloped(answer(CreatedCardholderSchema)),
  }).annotate(Idempotency, "none"),
  /**
   * List cardholders, a page of at most 50 at a time; `client.streams.listCardholders` reads all pages. A new
   * cardholder may be missing for some minutes.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const { item_list } = await client.listCardholders({ page_num: 1, page_size: 50, name: "Ada" });
   */
  listCardholders: get("listCardholders", "/cardholders", {
    query: ListCardholdersInputSchema,
    success: page(answer(CardholderSchema)),
  })
    .annotate(Idempotency, "safe")
    .annotate(Paged, { maxPageSize: CARDHOLDERS_PAGE_SIZE, itemId: "card_holder_id" }),
  /**
   * Remove a cardholder.
   *
   * Idempotency class `idempotent`: sent twice it leaves the cardholder removed; it is sent again after a lost
   * answer.
   *
   * @example
   * await client.removeCardholder({ card_holder_id });
   */
  removeCardholder: post("removeCardholder", "/cardholders/:card_holder_id/remove", {
    params: {
      /** The cardholder: the id that createCardholder answered. */
      card_holder_id: PathSegment,
    },
    payload: Schema.Struct({}),
    success: confirmed,
  }).annotate(Idempotency, "idempotent"),
};

/** The cardholders of the service. */
export const cardholders = endpointGroup("cardholders", cardholderOperations).middleware(SignedIn);
