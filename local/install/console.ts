import path from 'node:path'
import { withLock } from '../entry/lock.mjs'
import { UserError } from '../user-error.ts'
import type { InstallContext } from './context.ts'
import { runChild } from './run-child.ts'

// The check whether it has to be built takes less.
const quietMs = 1_500

/** Builds the console, unless it was built from the same content. Two commands do not build it at once. */
export async function installConsole({ config, board, signal }: InstallContext): Promise<void> {
  const script = path.join(config.repository, 'console', 'build.ts')
  const build = async () => {
    const { code, tail } = await runChild(process.execPath, [script], { cwd: config.repository, signal })
    if (code !== 0) throw new UserError(`The console cannot be built:\n${tail}`)
  }
  await board.run('building the console', () => withLock(`build ${script}`, build, { signal }), { quietMs })
}
