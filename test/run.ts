import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, totalmem } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { chooseByChange } from './support/changed.ts'
import { recordKubernetesCalls } from './support/kubernetes-calls.ts'
import { isNightly } from './support/random-cases.ts'
import type { Suite } from './support/suite.ts'
import { runSuites } from './support/suites.ts'
import { lanes, nightlySuites, roles } from './suites.ts'

// `npm test [-- SUITE...]` runs all suites that are not nightly, or those with these names. `--changed` leaves out what the commits
// since BASE and the work tree cannot have changed.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'boolean', default: false }, base: { type: 'string', default: 'main' } },
})

// An engine and a trainer take five, the trainer's own tests four, and each of three stacks with its tests two.
const minGibSideBySide = 16

/** The lanes that run side by side, and what runs after them. */
async function choose(): Promise<{ sideBySide: readonly Suite[][]; last: Suite[] }> {
  if (positionals.length > 0) return { sideBySide: [positionals.map(findSuite)], last: [] }
  if (values.changed) return { sideBySide: [await chooseByChange(lanes.flat(), values.base)], last: [] }
  const isRoomy = totalmem() >= minGibSideBySide * 2 ** 30
  return { sideBySide: isRoomy ? lanes : [lanes.flat()], last: [roles, ...(isNightly() ? nightlySuites : [])] }
}

function findSuite(name: string): Suite {
  const all = [...lanes.flat(), ...nightlySuites]
  const suite = all.find((each) => each.name === name)
  if (suite) return suite
  throw new Error(`there is no suite "${name}"; there are ${all.map((each) => each.name).join(', ')}`)
}

const auditLogs = await mkdtemp(path.join(tmpdir(), 'trainyard-calls-'))
await recordKubernetesCalls(auditLogs)
const { sideBySide, last } = await choose()
await runSuites(sideBySide, last)
await rm(auditLogs, { recursive: true })
