import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { canBuild } from './errors.mjs'
import { findExecutable, observeGo } from './programs.mjs'
import { digestModules, programs, releaseOrigins } from './requirements.mjs'

/** A download waits as long for a host. */
const timeoutMs = 5_000

/**
 * Finds the missing programs of the control plane, and the ways to get them. Hosts are called only if there is no Go to
 * build the programs.
 */
export async function observeControlPlane({ repository, cache, env }) {
  const missing = listMissing({ repository, cache, env })
  if (missing.length === 0) return { missing, go: undefined, unreachableOrigins: [] }
  const go = observeGo()
  return { missing, go, unreachableOrigins: go && canBuild(go) ? [] : await listUnreachableOrigins(missing, env) }
}

function listMissing({ repository, cache, env }) {
  const assets = env.KUBEBUILDER_ASSETS ? [env.KUBEBUILDER_ASSETS] : []
  const searchPath = (env.PATH ?? '').split(path.delimiter).filter(Boolean)
  const cached = findBinFolder(repository, cache)
  return programs.filter((program) => {
    if (cached && existsSync(path.join(cached, `${program}.complete`))) return false
    return !findExecutable(program, program === 'kubectl' ? [...assets, ...searchPath] : assets)
  })
}

/** The folder of programs that are built from this repository's modules. */
function findBinFolder(repository, cache) {
  const read = (name) => readFileSync(path.join(repository, 'local', 'go', name), 'utf8')
  const digest = digestModules(read('go.mod'), read('go.sum'))
  const folder = path.join(cache, 'bin')
  const name = existsSync(folder) && readdirSync(folder).find((each) => each.endsWith(`${digest}-${process.arch}`))
  return name ? path.join(folder, name) : undefined
}

async function listUnreachableOrigins(missing, env) {
  // The installer's Node uses a proxy then, and this Node may not support that.
  if (env.NODE_USE_ENV_PROXY) return []
  const needed = new Set(missing.map((program) => releaseOrigins[program] ?? releaseOrigins.kubernetes))
  const asked = await Promise.all([...needed].map(async (origin) => ({ origin, answers: await answers(origin) })))
  return asked.filter((each) => !each.answers).map(({ origin }) => origin)
}

function answers(origin) {
  return fetch(origin, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }).then(
    () => true,
    () => false,
  )
}
