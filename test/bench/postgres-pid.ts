import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { layoutOf } from '../../local/stack/layout.ts'
import { dataFolder } from '../../local/stack/programs/postgres.ts'
import type { StackHandle } from '../support/global-setup.ts'

/** The process of a stack's Postgres below which are all its others. */
export async function readPostgresPid({ stateFolder }: StackHandle): Promise<number> {
  const file = path.join(dataFolder(layoutOf(stateFolder).postgres), 'postmaster.pid')
  return Number.parseInt(await readFile(file, 'utf8'), 10)
}
