/** A value of an answer. An object's members are values, or fields that are computed when a request selects them. */
export type GraphqlValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | GraphqlObject
  | JsonScalar
  | readonly GraphqlValue[]

/** A JSON value that is selected as a whole, like a text. */
export class JsonScalar {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

/** An object of an answer. `__typename` decides which fragments apply to it. */
export interface GraphqlObject {
  readonly [field: string]: GraphqlValue | GraphqlField
}

/** A field with arguments, or one that costs something. */
export type GraphqlField = (args: Arguments) => GraphqlValue | Promise<GraphqlValue>

/** The arguments of a field, with variables and default values filled in. Nothing has checked their types. */
export type Arguments = Readonly<Record<string, unknown>>
