/** Whether a part works, with a sentence for people. Some parts add values that were read from them. */
export interface PartReport {
  ok: boolean
  detail: string
  /** Versions and causes. They describe the installation, so only admins see them. */
  forAdmins?: Record<string, unknown>
  [more: string]: unknown
}

/** Runs a check. If it throws or takes too long, the part does not work. */
export async function checkPart(check: () => Promise<PartReport>, timeoutMs: number): Promise<PartReport> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<PartReport>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, detail: `no answer within ${timeoutMs / 1000} s` }), timeoutMs)
  })
  try {
    return await Promise.race([check(), late])
  } catch (error) {
    // The cause often contains an address inside the cluster.
    return { ok: false, detail: 'does not respond as expected', forAdmins: { cause: describeFailure(error) } }
  } finally {
    clearTimeout(timer)
  }
}

/** The root cause of an error, in one line. */
function describeFailure(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const message = at.message.split('\n')[0]!
    const { code } = at as { code?: string }
    if (at.cause === undefined) return message || (code ?? at.name)
  }
  return 'failed'
}
