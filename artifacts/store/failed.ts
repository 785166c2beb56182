/** The store failed for a reason of its own: it is unavailable, full, or rejects the request. */
export class StoreFailed extends Error {
  override name = 'StoreFailed'
}
