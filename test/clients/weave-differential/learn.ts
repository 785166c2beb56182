import { type CreateBody, learnObject } from './objects.ts'
import type { Answer, Request } from './request.ts'
import type { World } from './world.ts'

/** Records facts of an answer in the world: digests of created objects and rows. */
export function learn(world: World, { path, body: asked }: Request, { status, body }: Answer): void {
  if (status !== 200) return
  const answer = body as { digest: string; row_digests: string[] }
  if (path === '/obj/create') learnObject(world, asked as CreateBody, answer.digest)
  if (path === '/table/create') world.tables.push({ digest: answer.digest, rows: answer.row_digests })
  if (/^\/files?\/create$/.test(path)) world.files.push(answer.digest)
  if (path === '/table/create_from_digests') {
    world.tables.push({ digest: answer.digest, rows: (asked as { row_digests: string[] }).row_digests })
  }
}
