import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { runCommand } from '../local/command.ts'
import { UserError } from '../local/user-error.ts'
import { bakeFile, listBases, readBake } from './support/images/bake.ts'
import { findDigest, isPinned, pinBases } from './support/images/pin.ts'

/** `npm run images:pin` writes the digests of the bases; `-- --check` only says whether all have one. */
await runCommand(async (signal) => {
  const { check } = parseArgs({ options: { check: { type: 'boolean' } } }).values
  const bake = readBake()
  if (!check) {
    const pinned = await pinBases(bake, (reference) => findDigest(reference, { signal }))
    await writeFile(bakeFile, `${JSON.stringify(pinned, undefined, 2)}\n`)
    for (const { name, reference } of listBases(pinned)) console.log(`${name} ${reference}`)
    return
  }
  const unpinned = listBases(bake).filter(({ reference }) => !isPinned(reference))
  if (unpinned.length === 0) return
  const names = unpinned.map(({ reference }) => reference).join(', ')
  throw new UserError(`${names}: no digest. Run npm run images:pin where the registry answers, and commit bake.json.`)
})
