/** Whether a part works, in a sentence for people; some parts add what was read from them. */
export interface PartReport {
  ok: boolean
  detail: string
  /** Versions and causes. They describe the installation, so only admins see them. */
  forAdmins?: Record<string, unknown>
  [more: string]: unknown
}

/** Runs a check; what it throws, or taking too long, means that the part does not work. */
export async function checkPart(check: () => Promise<PartReport>, timeoutMs: number): Promise<PartReport> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<PartReport>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, detail: `no answer within ${timeoutMs / 1000} s` }), timeoutMs)
  })
  try {
    return await Promise.race([check(), late])
  } catch (error) {
    // The cause often names an address within the cluster.
    return { ok: false, detail: 'does not respond as expected', forAdmins: { cause: describeFailure(error) } }
  } finally {
    clearTimeout(timer)
  }
}

/** What went wrong at the root of an error, in one line. */
function describeFailure(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const message = at.message.split('\n')[0]!
    const { code } = at as { code?: string }
    if (at.cause === undefined) return message || (code ?? at.name)
  }
  return 'failed'
}
