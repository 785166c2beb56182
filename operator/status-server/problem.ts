/** An answer other than success, with the sentence that a pod's log will show. */
export class Problem extends Error {
  override name = 'Problem'
  readonly status: number

  constructor(status: 401 | 404 | 405 | 409 | 413 | 422 | 503, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}
