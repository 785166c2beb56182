/** An error from the API server: its HTTP status and, if it sent a Status object, its reason and message. */
export class KubeError extends Error {
  override name = 'KubeError'
  readonly status: number
  readonly reason: string | undefined
  /**
   * The name of the object that the error is about. A 404 without it is about the path, such as a CRD that is not
   * installed.
   */
  readonly objectName: string | undefined

  constructor(what: string, status: number, body: string) {
    const answer = parseStatus(body)
    super(`${what}: ${status} ${answer.message ?? body.slice(0, 300)}`)
    this.status = status
    this.reason = answer.reason
    this.objectName = answer.details?.name
  }
}

interface Status {
  reason?: string
  message?: string
  details?: { name?: string }
}

/** True if the object does not exist, false if its kind does not exist. */
export function isGone(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404 && error.objectName !== undefined
}

export function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.status === 409
}

/** Returns a catch handler: errors that one of the tests accepts become undefined. */
export function ignoreErrors(...tests: ((error: unknown) => boolean)[]): (error: unknown) => undefined {
  return (error) => {
    if (!tests.some((accepts) => accepts(error))) throw error
  }
}

function parseStatus(body: string): Status {
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null ? parsed : {}
  } catch {
    return {}
  }
}
