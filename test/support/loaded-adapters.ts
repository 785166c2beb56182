import { podSelectors } from './kill.ts'
import type { Stack } from './stack.ts'

/** The adapters that the stack's engine reports as loaded. */
export async function listLoadedAdapters({ kubectl }: Stack): Promise<string[]> {
  const key = await kubectl('get', 'secret', 'trainyard-secrets', '-o', 'jsonpath={.data.engine-key}')
  const ip = await kubectl('get', 'pods', '-l', podSelectors.engine, '-o', 'jsonpath={.items[0].status.podIP}')
  const response = await fetch(`http://${ip}:8000/v1/models`, {
    headers: { authorization: `Bearer ${Buffer.from(key, 'base64').toString()}` },
  })
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
}
