/** The store did not do what it was asked for, for a reason of its own: it is away, full, or refuses. */
export class StoreFailed extends Error {
  override name = 'StoreFailed'
}
