import { unprocessable, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { maxIssues } from '../../../lib/http/validation/compile.ts'
import { methods, type Method } from '../../../crds/methods.ts'
import { settingNames } from './generated.ts'

/**
 * Rejects settings that would be ignored: those outside of the member that contains them, and those in `other`, a
 * member that the method does not have. Nulls count as absent.
 *
 * @throws {HttpError} 422 that names the right path
 */
export function rejectMisplacedSettings(body: object, method: Method, other?: string): void {
  const beside = listGiven(body).filter((name) => settingNames[method].includes(name))
  const elsewhere = other === undefined ? [] : listGiven((body as Record<string, object | null>)[other])
  const issues = [
    ...beside.map((name) => describeIssue(method, ['body', name])),
    ...elsewhere.map((name) => describeIssue(method, ['body', other!, name])),
  ]
  if (issues.length > 0) throw unprocessable(...issues.slice(0, maxIssues))
}

function listGiven(object: object | null | undefined): string[] {
  return Object.entries(object ?? {}).flatMap(([name, value]) => (value == null ? [] : [name]))
}

function describeIssue(method: Method, loc: string[]): ValidationIssue {
  const name = loc.at(-1)!
  const what = settingNames[method].includes(name) ? name : 'its settings'
  const msg = `Extra inputs are not permitted; ${method} reads ${what} from ${methods[method].settingsIn}`
  return { loc, msg, type: 'extra_forbidden' }
}
