import { unprocessable, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { maxIssues } from '../../../lib/http/validation/compile.ts'

/** A method's settings, and the member of its job bodies that contains them. */
export interface Place {
  method: 'RL' | 'SFT'
  settings: readonly string[]
  member: string
}

/**
 * Rejects settings that would be ignored: those outside of the member that contains them, and those in `other`, a
 * member that the method does not have. Nulls count as absent.
 *
 * @throws {HttpError} 422 that names the right place
 */
export function rejectMisplacedSettings(body: object, place: Place, other?: string): void {
  const beside = listGiven(body).filter((name) => place.settings.includes(name))
  const elsewhere = other === undefined ? [] : listGiven((body as Record<string, object | null>)[other])
  const issues = [
    ...beside.map((name) => describeIssue(place, ['body', name])),
    ...elsewhere.map((name) => describeIssue(place, ['body', other!, name])),
  ]
  if (issues.length > 0) throw unprocessable(...issues.slice(0, maxIssues))
}

function listGiven(object: object | null | undefined): string[] {
  return Object.entries(object ?? {}).flatMap(([name, value]) => (value == null ? [] : [name]))
}

function describeIssue({ method, settings, member }: Place, loc: string[]): ValidationIssue {
  const name = loc.at(-1)!
  const what = settings.includes(name) ? name : 'its settings'
  return { loc, msg: `Extra inputs are not permitted; ${method} reads ${what} from ${member}`, type: 'extra_forbidden' }
}
