/** Something that the user can put right: the message says what is wrong and what to do. Shown without a stack. */
export class Problem extends Error {
  override name = 'Problem'
}

/** The user asked to stop. */
export class Interrupted extends Error {
  override name = 'Interrupted'
}
