/** An error that the user can fix. The message says what is wrong and what to do. It is printed without a stack trace. */
export class UserError extends Error {
  override name = 'UserError'
}

/** The user asked to stop. */
export class Interrupted extends Error {
  override name = 'Interrupted'
}
