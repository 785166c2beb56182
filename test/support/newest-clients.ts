import { existsSync } from 'node:fs'
import path from 'node:path'

/** While `npm run test:newest-clients` runs, this variable names a folder with the newest releases of clients. */
export const newestClients = 'TRAINYARD_NEWEST_CLIENTS'

/** Whether the tests run with the newest releases, and not with the pinned ones. */
export const isNewest = () => process.env[newestClients] !== undefined

/** The interpreter for a folder of test/clients, if its newest releases are tried. */
export function findNewestPython(folder: string): string | undefined {
  return findNewest('python', folder, 'bin', 'python')
}

/** The newest Node, if newest releases are tried. */
export const findNewestNode = () => findNewest('node_modules', '.bin', 'node')

function findNewest(...parts: string[]): string | undefined {
  const root = process.env[newestClients]
  const file = root && path.join(root, ...parts)
  return file && existsSync(file) ? file : undefined
}
