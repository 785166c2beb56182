import { isReservedProject } from '../../../crds/names.ts'
import type { HttpContext } from '../../../lib/http/context.ts'
import { isName } from '../names.ts'

/** Reads headers of a request, and sets headers of its response. */
type Headers = Pick<HttpContext, 'get'> & { set: (name: string, value: string) => void }

// Our own header, then the one that the openai SDKs send for their `project` setting.
const headers = ['Vendor-Project', 'OpenAI-Project']

/**
 * The project that a chat's usage is charged to, from `Vendor-Project: ENTITY/PROJECT`; undefined without the header. A
 * value that is malformed or names another entity is ignored with a warning, because it does no harm.
 */
export function readProject(ctx: Headers, own: string): string | undefined {
  const header = headers.find((name) => ctx.get(name) !== '')
  if (header === undefined) return undefined
  const [entity = '', project = '', ...rest] = ctx.get(header).trim().split('/')
  const names = rest.length === 0 && isName(entity) && isName(project) && !isReservedProject(project)
  if (!names) return warn(ctx, header, 'does not have the form ENTITY/PROJECT')
  if (entity !== own) return warn(ctx, header, 'does not name the entity of this key')
  return project
}

function warn(ctx: Headers, header: string, issue: string): undefined {
  ctx.set('Trainyard-Warning', `${header} ${issue}. It was ignored.`)
}
